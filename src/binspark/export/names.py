"""Names of folders and files, made of names that servers allow and file systems may not."""

from __future__ import annotations

import hashlib
import re

_MOST_BYTES = 200
_KEPT_BESIDE_LETTERS = frozenset("_-$")
_HIDDEN = "_"
_PART = re.compile(r"part-\d{5,}\.parquet")
_PARTIAL = re.compile(r"\.part-\d{5,}\.parquet\.partial")


def folder_name(schema: str, table: str) -> str:
    """Return `schema.table` as the name of a folder. Two tables never share one."""
    name = f"{_safe(schema)}.{_safe(table)}"
    raw = name.encode()
    if len(raw) <= _MOST_BYTES:
        return name
    digest = hashlib.sha256(raw).hexdigest()[:16]
    return raw[: _MOST_BYTES - 17].decode(errors="ignore") + "~" + digest


def part_name(number: int) -> str:
    """Return the name of a table's file with this number."""
    return f"part-{number:05d}.parquet"


def partial_name(name: str) -> str:
    """Return what a file is called until it is complete. Readers of folders pass over names with a leading dot."""
    return f".{name}.partial"


def is_part(name: str) -> bool:
    """Tell whether a file is one that an export wrote."""
    return _PART.fullmatch(name) is not None


def is_partial(name: str) -> bool:
    """Tell whether a file is one that an export left unfinished."""
    return _PARTIAL.fullmatch(name) is not None


def _safe(name: str) -> str:
    """Write every character but letters, digits and a few signs as `%XX`; a leading `_` too, as it hides a folder."""
    encoded = "".join(
        letter if letter.isalnum() or letter in _KEPT_BESIDE_LETTERS else _escaped(letter) for letter in name
    )
    return _escaped(_HIDDEN) + encoded[1:] if encoded.startswith(_HIDDEN) else encoded


def _escaped(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode(errors="surrogateescape"))
