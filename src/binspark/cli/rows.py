"""`binspark rows`: one record for each changed row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option, format_option, logs_argument
from binspark.cli.output import Damage, print_lines, printable, time_text
from binspark.cli.row_options import history_from, row_options, selection_from, warn_about_unmatched
from binspark.files import LogSource, find_logs
from binspark.files.damage import SKIP_DAMAGED

if TYPE_CHECKING:
    from binspark.changes import Change, ChangeReader
    from binspark.values import Value

_VALUE_WIDTH = 60


@click.command("rows", cls=Command)
@logs_argument
@format_option("text", "jsonl")
@row_options
@click_option(SKIP_DAMAGED)
def rows_command(
    files: tuple[str, ...], output_format: str, schema_file: str | None, skip_damaged: bool, **options: Any
) -> int:
    """Show the changed rows of one or more logs.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    An insert has no `before`, a delete no `after`. `key` is the primary key: of the old row, or of the new row for an
    insert. Where a log is damaged, the rows before the damage are shown and reading continues with the next file or,
    with --skip-damaged, with the next transaction. Exit code 1: a log is damaged.
    """
    from binspark.changes import ChangeReader, change_json

    form: Callable[[Change], str] = change_line if output_format == "text" else change_json
    reader = ChangeReader(selection_from(options), history_from(schema_file))
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    for source in find_logs(files):
        print_lines(form(change) for change in _changes(source, reader, damage))
    warn_about_unmatched(reader.selection, reader.tables)
    return damage.exit_code


def _changes(source: LogSource, reader: ChangeReader, damage: Damage) -> Iterator[Change]:
    from binspark.files.changes import source_changes

    with damage.ends_file():
        yield from source_changes(source, reader, damage.on_damage)


def change_line(change: Change) -> str:
    """Return a change as a line for people: position, time, operation, table and values."""
    position = f"{PurePath(change.file).name}:{change.pos}+{change.row}"
    operation = f"{change.op.value:<6}  {change.table_schema.name}"
    return f"{position:<24} {time_text(change.timestamp)}  {operation}  {_values(change)}".rstrip()


def _values(change: Change) -> str:
    """Return the values of the row; for an update the key, and the old and new values that differ."""
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
    from binspark.values import value_json

    table = change.table_schema
    return printable(value_json(value, table.columns[table.column_names.index(name)]), _VALUE_WIDTH)
