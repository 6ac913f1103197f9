"""`binspark events`: one record for each event."""

from __future__ import annotations

from collections.abc import Iterator

import click

from binspark.cli.output import echo_lines, format_option, json_line, logs_argument, tell, wanted_types
from binspark.errors import DecodeError
from binspark.event import Event
from binspark.files import LogSource, ReadOptions, find_logs
from binspark.files.read import source_events
from binspark.frames.checksum import ChecksumState
from binspark.render.records import event_line, event_record


@click.command("events")
@logs_argument
@format_option
@click.option("--type", "types", multiple=True, metavar="NAME", help="Only events of this type. May be repeated.")
@click.option(
    "--start-position", type=click.IntRange(min=0), default=0, help="Skip events of a file before this offset."
)
@click.option("--stop-position", type=click.IntRange(min=0), help="Stop in each file at this offset.")
@click.option("--no-inner", is_flag=True, help="Do not show the events inside a transaction payload.")
def events_command(
    files: tuple[str, ...],
    output_format: str,
    types: tuple[str, ...],
    start_position: int,
    stop_position: int | None,
    no_inner: bool,
) -> int:
    """Show every event of one or more logs: files, globs, directories, index files, or - for standard input.

    An event whose checksum does not hold is shown and marked; reading goes on as long as the log can be followed.
    """
    codes = wanted_types(types)
    render = event_line if output_format == "text" else (lambda event: json_line(event_record(event)))
    listing = _Listing(ReadOptions(expand_payloads=not no_inner, report_checksums=True))
    for source in find_logs(files):
        chosen = (
            render(event)
            for event in listing.events(source, stop_position)
            if event.offset >= start_position and (not codes or event.type_code in codes)
        )
        echo_lines(chosen)
    return 1 if listing.damaged else 0


class _Listing:
    """Reads logs one after the other and tells of damage without giving up on the others."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self.damaged = False

    def events(self, source: LogSource, stop_position: int | None) -> Iterator[Event]:
        try:
            for event in source_events(source, self._options):
                if stop_position is not None and event.offset >= stop_position:
                    return
                if event.checksum is ChecksumState.BAD:
                    self._tell(f"{event.position}: the checksum does not hold")
                yield event
        except DecodeError as error:
            self._tell(str(error))

    def _tell(self, message: str) -> None:
        self.damaged = True
        tell(message)
