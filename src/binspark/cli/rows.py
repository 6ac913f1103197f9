"""`binspark rows`: one record for each changed row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, log_options
from binspark.cli.output import Damage, print_lines, printable
from binspark.cli.row_options import (
    history_from,
    row_options,
    selection_from,
    warn_about_statements,
    warn_about_unmatched,
)
from binspark.cli.server_rows import print_server_rows
from binspark.files import LogSource
from binspark.files.damage import SKIP_DAMAGED
from binspark.position import log_name
from binspark.render.times import UTC_CLOCK, Clock

if TYPE_CHECKING:
    from binspark.changes import Change, ChangeReader
    from binspark.values import Value

_VALUE_WIDTH = 60


@click.command("rows", cls=Command)
@log_options()
@format_option("text", "jsonl")
@row_options
@click_option(SKIP_DAMAGED)
def rows_command(
    logs: Logs,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    skip_damaged: bool,
    **options: Any,
) -> int:
    """Show the changed rows of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    An insert has no `before`, a delete no `after`. `key` is the primary key: of the old row, or of the new row for an
    insert. Where a log is damaged, the rows before the damage are shown and reading continues with the next file or,
    with --skip-damaged, with the next transaction. Exit code 1: a log is damaged.
    """
    from binspark.changes import ChangeReader

    selection = selection_from(options, timezone)
    form = row_form(output_format, timezone)
    if logs.server is not None:
        logs.check_server(selection, skip_damaged=skip_damaged)
        print_server_rows(logs.server, selection, form, schema_file, zone=timezone, is_json=output_format == "jsonl")
        return 0
    reader = ChangeReader(selection, history_from(schema_file))
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    sources = logs.sources(selection)
    for source in sources:
        print_lines(form(change) for change in _changes(source, reader, damage))
    if reader.tables:
        warn_about_unmatched(reader.selection, reader.tables)
    else:
        warn_about_statements(sources)
    return damage.exit_code


def _changes(source: LogSource, reader: ChangeReader, damage: Damage) -> Iterator[Change]:
    from binspark.files.changes import source_changes

    with damage.ends_file():
        yield from source_changes(source, reader, damage.on_damage)


def row_form(output_format: str, zone: tzinfo) -> Callable[[Change], str]:
    """Return the function that writes a change as a line."""
    from binspark.changes import change_json

    clock = Clock(zone)
    return change_json if output_format == "jsonl" else (lambda change: change_line(change, clock))


def change_line(change: Change, clock: Clock = UTC_CLOCK) -> str:
    """Return a change as a line for people: position, time, operation, table and values."""
    position = f"{log_name(change.file)}:{change.pos}+{change.row}"
    operation = f"{change.op.value:<6}  {change.table_schema.name}"
    return f"{position:<24} {clock.text(change.timestamp)}  {operation}  {_values(change)}".rstrip()


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
