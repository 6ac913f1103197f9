"""Names of tables as names of directories.

A name of MySQL may contain any character. Those that are not letters, digits or `_`, `$`, `-` are written as MySQL
writes them in names of files: `@` and four hexadecimal digits for each UTF-16 unit.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(r"[^A-Za-z0-9_$-]")
_ESCAPED = re.compile(r"(?:@[0-9a-f]{4})+")
_NO_NAME = "@"
"""The directory of an empty name, which only a server that lies has: without one, it would be that of all tables."""

_UNIT = 5  # characters of one escaped UTF-16 unit


def directory_name(name: str) -> str:
    """Return the name of the directory of a schema or a table."""
    return _UNSAFE.sub(lambda found: _escape(found[0]), name) or _NO_NAME


def name_of_directory(directory: str) -> str:
    """Return the name of the schema or table of a directory."""
    return "" if directory == _NO_NAME else _ESCAPED.sub(lambda found: _unescape(found[0]), directory)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be").hex()
    return "".join(f"@{units[start : start + 4]}" for start in range(0, len(units), 4))


def _unescape(text: str) -> str:
    units = "".join(text[start + 1 : start + _UNIT] for start in range(0, len(text), _UNIT))
    return bytes.fromhex(units).decode("utf-16-be", "surrogatepass")
