r"""MySQL's option files, read as MySQL reads them.

    [group]              what follows belongs to this group
    name                 an option without a value
    name = value         spaces around both do not count; - and _ in a name are the same
    name = "value"       quotes around a value are removed
    # … or ; …           a comment line; a # outside quotes also ends a line
    !include file        the content of another file
    !includedir folder   the content of every *.cnf in it

In values \b \t \n \r \s \\ \" \' are escapes of one character; any other backslash stays. If an option is
given twice, the last one counts. Errors name file and line, never the content of the line: it may be a password.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from binspark.errors import OptionError
from binspark.options.option import suggestion
from binspark.os_errors import source_errors
from binspark.position import Position

GROUPS = ("client", "client-server", "client-mariadb", "binspark")
"""The groups of an option file that are read; the later one wins. MariaDB's clients read the second and third, too."""

_DEFAULT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf", "$MYSQL_HOME/my.cnf", "~/.my.cnf")
"""The option files that MySQL's clients read, in their order; the later one wins."""

KNOWN_OPTIONS = frozenset(
    {"host", "port", "user", "password", "socket", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "connect-timeout"}
    | {"ssl-verify-server-cert", "get-server-public-key", "server-public-key-path", "enable-cleartext-plugin"}
)

Options = dict[str, str | None]
"""Values by name, names with dashes; None for an option without a value."""

_MAX_DEPTH = 10
_SWITCH_VALUES = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


def default_option_files(warn: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the option files that MySQL's clients read and that can be read here.

    One that every user of the machine can write to is skipped with a warning, as MySQL's clients do.
    """
    found = []
    for pattern in _DEFAULT_FILES:
        home = environ.get("MYSQL_HOME", "")
        if pattern.startswith("$") and not home:
            continue
        path = os.path.expanduser(pattern.replace("$MYSQL_HOME", home))
        if not os.access(path, os.R_OK) or not os.path.isfile(path):
            continue
        if os.stat(path).st_mode & stat.S_IWOTH:
            warn(f"{path} is ignored: it is world-writable; run chmod o-w on it")
        else:
            found.append(path)
    return found


def file_options(path: str | os.PathLike[str]) -> Options:
    """Return the options of the groups that binspark reads."""
    groups = read_option_file(path, GROUPS)
    for name in groups["binspark"]:
        if name not in KNOWN_OPTIONS:
            message = f"[binspark] has no option {name}{suggestion(name, KNOWN_OPTIONS)}"
            raise OptionError(message, Position(file=str(path)))
    options: Options = {}
    for group in GROUPS:
        options |= groups[group]
    return options


def is_on(file: Options, name: str) -> bool:
    """Return whether an option file switches something on: by the name alone, or by a value."""
    if name not in file:
        return False
    value = _SWITCH_VALUES.get((file[name] or "on").lower())
    if value is None:
        raise OptionError(f"must be one of {', '.join(_SWITCH_VALUES)}, got {file[name]!r}", option=name)
    return value


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
    with source_errors(path):
        if path.stat().st_mode & stat.S_IWOTH:
            raise OptionError("the option file is world-writable: run chmod o-w on it first", Position(file=str(path)))
        content = path.read_bytes()
    try:
        return content.decode("utf-8").splitlines()
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
    if len(value) > 1 and value[0] in "'\"" and value[0] == value[-1]:
        value = value[1:-1]
    read: list[str] = []
    characters = iter(value)
    for character in characters:
        following = next(characters, None) if character == "\\" else None
        read.append(character if following is None else _ESCAPES.get(following, "\\" + following))
    return "".join(read)


def _wrong(what: str, path: Path, number: int) -> OptionError:
    return OptionError(f"line {number}: {what}", Position(file=str(path)))
