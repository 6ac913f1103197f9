"""`binspark events`: one record for each event."""

from __future__ import annotations

from collections.abc import Iterator

import click

from binspark.cli.command import (
    Command,
    RenamedOption,
    click_option,
    format_option,
    logs_argument,
    type_codes,
    types_option,
)
from binspark.cli.output import Damage, json_line, print_lines
from binspark.event import Event
from binspark.files import LogSource, ReadOptions, find_logs
from binspark.files.damage import SKIP_DAMAGED
from binspark.files.read import bad_checksum, source_events
from binspark.frames import ChecksumState
from binspark.render.records import event_line, event_record


@click.command("events", cls=Command)
@logs_argument
@format_option("text", "jsonl")
@types_option
@click.option(
    "--start-position",
    metavar="NUMBER",
    type=click.IntRange(min=0),
    default=0,
    help="Skip events before this position, in each file.",
)
@click.option(
    "--stop-position",
    metavar="NUMBER",
    type=click.IntRange(min=0),
    help="Stop at the first event at or after this position, in each file.",
)
@click.option(
    "--expand-payloads/--no-expand-payloads",
    cls=RenamedOption,
    old_names={"--no-inner": "--no-expand-payloads"},
    default=True,
    help="Show the events inside compressed transactions too.  [default: expand-payloads]",
)
@click_option(SKIP_DAMAGED)
def events_command(
    files: tuple[str, ...],
    output_format: str,
    types: tuple[str, ...],
    start_position: int,
    stop_position: int | None,
    expand_payloads: bool,
    skip_damaged: bool,
) -> int:
    """Show the events of one or more logs.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    An event whose checksum does not match is shown and marked. Where bytes are not an event, reading continues with the
    next file or, with --skip-damaged, with the next event that can be found. Exit code 1: a log is damaged.
    """
    codes = type_codes(types)
    render = event_line if output_format == "text" else (lambda event: json_line(event_record(event)))
    options = ReadOptions(expand_payloads=expand_payloads, report_checksums=True)
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    for source in find_logs(files):
        print_lines(
            render(event)
            for event in _events(source, options, stop_position, damage)
            if event.offset >= start_position and (not codes or event.type_code in codes)
        )
    return damage.exit_code


def _events(source: LogSource, options: ReadOptions, stop_position: int | None, damage: Damage) -> Iterator[Event]:
    with damage.ends_file():
        for event in source_events(source, options, damage.on_damage):
            if stop_position is not None and event.offset >= stop_position:
                return
            if event.checksum is ChecksumState.BAD and event.inner is None:
                damage.report(bad_checksum(event.frame, event.file))
            yield event
