"""`binspark rows`: one record for each changed row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.output import echo_lines, format_option, logs_argument, tell
from binspark.cli.selecting import history_from, selecting_options, selection_from, tell_unmatched
from binspark.errors import DecodeError, SchemaError
from binspark.files import LogSource, find_logs

if TYPE_CHECKING:
    from binspark.changes import Change, ChangeReader
    from binspark.values import Value

_VALUE_WIDTH = 60


@click.command("rows")
@logs_argument
@format_option
@selecting_options
def rows_command(files: tuple[str, ...], output_format: str, schema_file: str | None, **options: Any) -> int:
    """Show every changed row of one or more logs: files, globs, directories, index files, or - for standard input.

    An insert has no `before`, a delete no `after`. `key` holds the primary key, from before the change where there was
    a row. Rows before damage are shown; then the next file is read, and the exit code is 1.
    """
    from binspark.changes import ChangeReader, change_json

    form: Callable[[Change], str] = change_line if output_format == "text" else change_json
    reader = ChangeReader(selection_from(options), history_from(schema_file))
    listing = _Listing(reader)
    for source in find_logs(files):
        echo_lines(form(change) for change in listing.changes(source))
    tell_unmatched(reader.selection, reader.tables)
    return 1 if listing.damaged else 0


class _Listing:
    """Reads logs one after the other and tells of damage without giving up on the others."""

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader
        self.damaged = False

    def changes(self, source: LogSource) -> Iterator[Change]:
        from binspark.files.changes import source_changes

        try:
            yield from source_changes(source, self._reader)
        except (DecodeError, SchemaError) as error:
            self.damaged = True
            tell(error)


def change_line(change: Change) -> str:
    """Return a change as a line for a person: where, when, what, which row, and its values."""
    place = f"{PurePath(change.file).name}:{change.pos}+{change.row}"
    moment = f"{datetime.fromtimestamp(change.timestamp, UTC):%Y-%m-%d %H:%M:%S}"
    return f"{place:<24} {moment}  {change.op.value:<6}  {change.table_schema.name}  {_values(change)}".rstrip()


def _values(change: Change) -> str:
    """Return the values of the row; of an update, the key and what became of the values that changed."""
    before, after = change.before, change.after
    if before is None or after is None:
        return " ".join(f"{name}={_text(change, name, value)}" for name, value in (after or before or {}).items())
    key = [f"{name}={_text(change, name, value)}" for name, value in (change.key or {}).items()]
    changed = [
        f"{name}: {_text(change, name, before[name]) if name in before else '?'} → {_text(change, name, value)}"
        for name, value in after.items()
        if name not in before or value != before[name]
    ]
    return " ".join([*key, ", ".join(changed) or "(no value changed)"])


def _text(change: Change, name: str, value: Value) -> str:
    """Return a value that fits a line of a terminal and cannot command it."""
    from binspark.values import value_json

    table = change.table_schema
    text = value_json(value, table.columns[table.column_names.index(name)])
    printable = "".join(letter if letter.isprintable() else " " for letter in text[: _VALUE_WIDTH + 1])
    return printable if len(printable) <= _VALUE_WIDTH else printable[: _VALUE_WIDTH - 1] + "…"
