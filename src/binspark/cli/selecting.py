"""The options of every command that reads rows, and what they mean: one frozen selection."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

import click

from binspark.cli.output import tell

if TYPE_CHECKING:
    from binspark.columns.selection import Selection
    from binspark.schema.history import SchemaHistory, UnreadableDdl

_Command = TypeVar("_Command", bound=Callable[..., Any])
_STATEMENT_WIDTH = 60
_TIME = "'YYYY-MM-DD HH:MM:SS'"

_OPTIONS = (
    click.option(
        "--table",
        "tables",
        multiple=True,
        metavar="SCHEMA.TABLE",
        help="Only this table, or a pattern such as 'shop.*'. May be repeated.",
    ),
    click.option(
        "--exclude-table",
        "exclude_tables",
        multiple=True,
        metavar="SCHEMA.TABLE",
        help="Not this table or pattern. May be repeated.",
    ),
    click.option(
        "--operation",
        "operations",
        multiple=True,
        type=click.Choice(["insert", "update", "delete"]),
        help="Only these changes. May be repeated.",
    ),
    click.option("--start-position", type=click.IntRange(min=0), help="Skip rows of events before this, in each file."),
    click.option("--stop-position", type=click.IntRange(min=1), help="Stop at this offset, in each file."),
    click.option("--start-datetime", "start_time", metavar=_TIME, help="Skip rows of events before this time (UTC)."),
    click.option("--stop-datetime", "stop_time", metavar=_TIME, help="Skip rows of events from this time on (UTC)."),
    click.option("--include-gtids", metavar="SET", help="Only transactions in this GTID set (MySQL)."),
    click.option("--exclude-gtids", metavar="SET", help="No transactions in this GTID set (MySQL)."),
    click.option("--server-id", type=click.IntRange(0, 0xFFFFFFFF), help="Only rows that this server wrote first."),
    click.option(
        "--undecodable",
        type=click.Choice(["error", "replace", "binary"]),
        default="error",
        show_default=True,
        help="Text whose bytes are none in its character set: refuse, replace with U+FFFD, or keep the bytes.",
    ),
    click.option(
        "--schema",
        "schema_file",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE.sql",
        help="A dump of the tables (mysqldump --no-data): names, signs and keys that the log does not tell.",
    ),
)


def selecting_options(command: _Command) -> _Command:
    """Give a command the options that choose rows. What they say comes as keyword arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def selection_from(options: dict[str, Any]) -> Selection:
    """Return the selection that the options of a command mean. Not given is None, or empty where it may be repeated."""
    from binspark.changes.choice import BulkChoice, selection_of

    given: dict[str, Any] = {name: None if value == () else value for name, value in options.items()}
    return selection_of(BulkChoice(**given))  # type: ignore[typeddict-item]


def history_from(schema_file: str | None) -> SchemaHistory:
    """Return the history that reading begins with; statements that it does not understand are told."""
    from binspark.files.schema_file import history_of

    return history_of(schema_file, _tell_unreadable)


def tell_unmatched(selection: Selection, seen: Iterable[str]) -> None:
    """Say which of the tables that were asked for are not in the logs."""
    for message in unmatched(selection.tables or (), sorted(seen)):
        tell(message)


def unmatched(asked_for: Iterable[str], seen: list[str]) -> Iterator[str]:
    """Yield a message for each name or pattern that no table matches, with the nearest table that is there."""
    for name in sorted(asked_for):
        if name not in seen and not any(fnmatchcase(table, name) for table in seen):
            near = difflib.get_close_matches(name, seen, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"no rows of a table {name} were found{hint}"


def _tell_unreadable(ddl: UnreadableDdl) -> None:
    statement = " ".join(ddl.statement.split())
    shown = statement if len(statement) <= _STATEMENT_WIDTH else statement[: _STATEMENT_WIDTH - 1] + "…"
    printable = "".join(letter if letter.isprintable() else " " for letter in shown)
    tell(f"{ddl.position}: a statement about tables is not understood ({ddl.reason}): {printable}")
