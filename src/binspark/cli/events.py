"""`binspark events`: one record for each event."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.changes.event_filter import EventFilter
from binspark.cli.command import Command, RenamedOption, click_option, format_option, type_codes, types_option
from binspark.cli.inputs import Logs, condition_of, events_of, log_options, sources_in_bulk
from binspark.cli.output import Damage, json_line, print_lines
from binspark.cli.row_options import row_options, selection_from
from binspark.columns.selection import Selection
from binspark.event import Event
from binspark.files import ReadOptions
from binspark.files.damage import SKIP_DAMAGED
from binspark.files.inputs import LogInput
from binspark.files.read import bad_checksum
from binspark.frames import ChecksumState
from binspark.options.times import Clock
from binspark.render.records import EventLines, event_record
from binspark.render.summary import SHOW_SECRETS

if TYPE_CHECKING:
    from binspark.files.condition_counts import ConditionCounts
    from binspark.files.sources import LogSource


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
@click_option(SHOW_SECRETS)
def events_command(
    logs: Logs,
    output_format: str,
    types: tuple[str, ...],
    timezone: tzinfo,
    schema_file: str | None,
    expand_payloads: bool,
    skip_damaged: bool,
    show_secrets: bool,
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
    heading, render = _form(output_format, Clock(timezone), with_file=with_file, show_secrets=show_secrets)
    read_options = ReadOptions(expand_payloads=expand_payloads, report_checksums=True)
    counts = condition_of(logs, inputs, selection, schema_file)
    wanted = _Wanted(selection, codes, read_options, counts, damage)
    for number, found in enumerate(wanted.events(inputs)):
        lines = map(render, found)
        print_lines(_under(heading if number == 0 else None, lines), at_once=logs.server is not None)
    return damage.exit_code


@dataclass(frozen=True)
class _Wanted:
    """Which events are shown, and how they are read."""

    selection: Selection
    codes: Collection[int]
    options: ReadOptions
    counts: ConditionCounts | None
    damage: Damage

    def events(self, inputs: Sequence[LogInput]) -> Iterator[Iterator[Event]]:
        """Yield the selected events of one input after the other."""
        sources = sources_in_bulk(inputs, selects=bool(self.codes) or self.selection != Selection())
        return self._by_event(inputs) if sources is None else self._in_bulk(sources)

    def _in_bulk(self, sources: Sequence[LogSource]) -> Iterator[Iterator[Event]]:
        from binspark.files.selected_events import SelectedEvents

        reader = SelectedEvents(self.selection, self.counts, self.codes, self.options, self.damage.report)
        for source in sources:
            yield self._before_damage(reader.read(source))

    def _by_event(self, inputs: Sequence[LogInput]) -> Iterator[Iterator[Event]]:
        wanted = EventFilter(self.selection, None if self.counts is None else self.counts.is_selected)
        for log in inputs:
            wanted.start = log.start
            found = wanted.select(self._with_checksums(events_of(log, self.counts, self.options)))
            yield self._before_damage(event for event in found if not self.codes or event.type_code in self.codes)

    def _with_checksums(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event.checksum is ChecksumState.BAD and event.inner is None:
                self.damage.report(bad_checksum(event.frame, event.file))
            yield event

    def _before_damage(self, events: Iterator[Event]) -> Iterator[Event]:
        with self.damage.ends_file():
            yield from events


def _form(
    output_format: str, clock: Clock, *, with_file: bool, show_secrets: bool
) -> tuple[str | None, Callable[[Event], str]]:
    """Return the heading, and the function that writes an event."""
    if output_format != "text":
        return None, lambda event: json_line(event_record(event))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = EventLines(clock, with_file, width, show_secrets)
    return lines.heading(), lines.line


def _under(heading: str | None, lines: Iterator[str]) -> Iterator[str]:
    if heading is not None:
        yield heading
    yield from lines
