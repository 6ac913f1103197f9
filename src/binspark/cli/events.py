"""`binspark events`: one record for each event."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.changes.event_filter import EventFilter
from binspark.cli.command import Command, RenamedOption, click_option, format_option, type_codes, types_option
from binspark.cli.inputs import Logs, condition_of, events_of, log_options
from binspark.cli.output import Damage, json_line, print_lines
from binspark.cli.row_options import row_options, selection_from
from binspark.event import Event
from binspark.files import ReadOptions
from binspark.files.damage import SKIP_DAMAGED
from binspark.files.inputs import LogInput
from binspark.files.read import bad_checksum
from binspark.frames import ChecksumState
from binspark.options.times import Clock
from binspark.render.records import EventLines, event_record

if TYPE_CHECKING:
    from binspark.files.condition_counts import ConditionCounts


@click.command("events", cls=Command)
@log_options()
@format_option("text", "jsonl")
@types_option
@row_options
@click.option(
    "--expand-payloads/--no-expand-payloads",
    cls=RenamedOption,
    old_names={"--no-inner": "--no-expand-payloads"},
    default=True,
    help="Show the events inside compressed transactions too.  [default: expand-payloads]",
)
@click_option(SKIP_DAMAGED)
def events_command(
    logs: Logs,
    output_format: str,
    types: tuple[str, ...],
    timezone: tzinfo,
    schema_file: str | None,
    expand_payloads: bool,
    skip_damaged: bool,
    **options: Any,
) -> int:
    """Show the events of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    With --tables, table maps, rows events and statements of these tables are shown, with --operations and --where rows
    events that have such rows. GTIDs, commit times and threads select all events of a transaction, the other options
    single events.

    An event whose checksum does not match is shown and marked. Where bytes are not an event, reading continues with the
    next file or, with --skip-damaged, with the next event that can be found. Exit code 1: a log is damaged.
    """
    codes = type_codes(types)
    selection = selection_from(options, timezone)
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    inputs = logs.inputs(selection, timezone, with_earlier=False, on_damage=damage.on_damage)
    with_file = len(inputs) > 1 or logs.server is not None
    heading, render = _form(output_format, Clock(timezone), with_file=with_file)
    read_options = ReadOptions(expand_payloads=expand_payloads, report_checksums=True)
    counts = condition_of(logs, inputs, selection, schema_file)
    wanted = EventFilter(selection, None if counts is None else counts.is_selected)
    for number, log in enumerate(inputs):
        wanted.start = log.start
        lines = (
            render(event)
            for event in wanted.select(_events(log, read_options, counts, damage))
            if not codes or event.type_code in codes
        )
        print_lines(_under(heading if number == 0 else None, lines), at_once=logs.server is not None)
    return damage.exit_code


def _form(output_format: str, clock: Clock, *, with_file: bool) -> tuple[str | None, Callable[[Event], str]]:
    """Return the heading, and the function that writes an event."""
    if output_format != "text":
        return None, lambda event: json_line(event_record(event))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = EventLines(clock, with_file, width)
    return lines.heading(), lines.line


def _under(heading: str | None, lines: Iterator[str]) -> Iterator[str]:
    if heading is not None:
        yield heading
    yield from lines


def _events(log: LogInput, options: ReadOptions, counts: ConditionCounts | None, damage: Damage) -> Iterator[Event]:
    with damage.ends_file():
        for event in events_of(log, counts, options):
            if event.checksum is ChecksumState.BAD and event.inner is None:
                damage.report(bad_checksum(event.frame, event.file))
            yield event
