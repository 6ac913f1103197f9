"""MySQL's option files, read as MySQL reads them.

    [group]              what follows belongs to this group
    name                 an option without a value
    name = value         spaces around both do not count; - and _ in a name are the same
    name = "value"       quotes around a value are taken off
    # … or ; …           a comment line; a # outside quotes also ends a line
    !include file        another file, in place
    !includedir folder   every *.cnf in it, in place

In values \\b \\t \\n \\r \\s \\\\ \\" \\' stand for one character; any other backslash stays. Of an option that
comes twice the last one counts. Errors name file and line, never what stands there: it may be a password.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from binspark.errors import OptionError, SourceError
from binspark.os_errors import describe_os_error
from binspark.position import Position

Options = dict[str, str | None]
"""Values by name, names with dashes; None for an option without a value."""

_MAX_DEPTH = 10
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


def read_option_file(path: str | os.PathLike[str], groups: Sequence[str]) -> dict[str, Options]:
    """Return the options of each of these groups; a group that the file does not have is empty."""
    found: dict[str, Options] = {group: {} for group in groups}
    for group, name, value in _options(Path(path).expanduser(), 0):
        if group in found:
            found[group][name] = value
    return found


def _options(path: Path, depth: int) -> Iterator[tuple[str, str, str | None]]:
    if depth > _MAX_DEPTH:
        raise OptionError("option files include each other without end", Position(file=str(path)))
    group = ""
    for number, line in enumerate(_lines(path), 1):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if text[0] == "!":
            yield from _included(text, path, number, depth)
        elif text[0] == "[":
            group = _group(text, path, number)
        elif not group:
            raise _wrong("an option before the first [group]", path, number)
        else:
            yield group, *_option(text)


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_mode & stat.S_IWOTH:
            raise OptionError("everybody may write this option file: chmod o-w it first", Position(file=str(path)))
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(file=str(path))) from None
    except UnicodeDecodeError:
        raise OptionError("the option file is not UTF-8 text", Position(file=str(path))) from None


def _included(text: str, path: Path, number: int, depth: int) -> Iterator[tuple[str, str, str | None]]:
    directive, _, argument = text[1:].strip().partition(" ")
    target = path.parent / Path(argument.strip()).expanduser()
    if directive == "include" and argument:
        yield from _options(target, depth + 1)
    elif directive == "includedir" and argument:
        for file in sorted(target.glob("*.cnf")):
            yield from _options(file, depth + 1)
    else:
        raise _wrong("after ! comes include or includedir, and a path", path, number)


def _group(text: str, path: Path, number: int) -> str:
    name, bracket, _ = text[1:].partition("]")
    if not bracket:
        raise _wrong("a [group] without its ]", path, number)
    return name.strip()


def _option(text: str) -> tuple[str, str | None]:
    name, equals, value = _without_comment(text).partition("=")
    name = name.strip().lower().replace("_", "-").removeprefix("loose-")
    return name, _unquoted(value.strip()) if equals else None


def _without_comment(text: str) -> str:
    quote, escaped = "", False
    for index, character in enumerate(text):
        if character in "'\"" and not escaped and quote in ("", character):
            quote = "" if quote else character
        if character == "#" and not quote:
            return text[:index]
        escaped = bool(quote) and character == "\\" and not escaped
    return text


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] in "'\"" and value[0] == value[-1]:
        value = value[1:-1]
    read: list[str] = []
    characters = iter(value)
    for character in characters:
        following = next(characters, None) if character == "\\" else None
        read.append(character if following is None else _ESCAPES.get(following, "\\" + following))
    return "".join(read)


def _wrong(what: str, path: Path, number: int) -> OptionError:
    return OptionError(f"line {number}: {what}", Position(file=str(path)))
