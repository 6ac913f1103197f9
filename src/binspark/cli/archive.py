"""`binspark archive`: a live copy of a server's logs."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.connecting import connecting_options, heartbeat_option
from binspark.cli.output import json_line, tell

if TYPE_CHECKING:
    from binspark.archive.progress import Report
    from binspark.server.config import ConnectionConfig

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(_context: click.Context | None, _option: click.Parameter | None, text: str | None) -> int | None:
    """Return the number of bytes that 500000, 500K, 20M, 100G or 2T means."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)([KMGT]?)B?", text.upper())
    if match is None or int(match[1]) == 0:
        raise click.BadParameter(f"{text!r} is not a size such as 500M or 100G")
    return int(match[1]) * _UNITS[match[2]]


@click.command("archive")
@click.option(
    "-o", "--output", "target", required=True, metavar="DIR|URI", help="The folder to copy to; or s3://bucket/logs."
)
@connecting_options
@click.option(
    "--start",
    default="earliest",
    show_default=True,
    help="Where a new archive begins: earliest, latest, a file, timestamp:2026-11-15T09:30:00Z. Logs are copied whole.",
)
@click.option("--until-end", is_flag=True, help="Copy what is there now, then end.")
@click.option("--keep-days", type=click.FloatRange(min=0, min_open=True), help="Drop logs that ended longer ago.")
@click.option(
    "--keep-bytes", callback=bytes_of, metavar="SIZE", help="Drop the oldest logs while all are larger: 500M, 2T."
)
@click.option(
    "--sync-seconds",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="How long a transaction may be copied and not be on disk yet.",
)
@click.option(
    "--upload-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="How often the log that grows is uploaded, where the folder is in a store.",
)
@click.option("--spool", metavar="DIR", help="Where logs grow that go to a store. [default: a folder of the cache]")
@click.option("--server-id", type=click.IntRange(1, 0xFFFFFFFF), help="The server id of this reader. [default: random]")
@heartbeat_option
@click.option(
    "--progress-seconds",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="How often rate and lag are shown, on standard error; 0 for never.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="How: text for people, jsonl (one JSON object a line) for programs.",
)
def archive_command(
    connection: ConnectionConfig, target: str, spool: str | None, output_format: str, **options: Any
) -> int:
    """Copy the logs of a server as it writes them: byte for byte the same files, with an index that lists them.

    It may be interrupted at any moment, even killed: the next run goes on with the last event that is whole. Every
    checksum is verified on the way. Only one archiver writes to a folder.

    A store such as S3 gets each log when it is finished, and the one that grows every --upload-seconds. Its lock is a
    file that says who is at work: it keeps a second archiver away, but not one that begins in the same moment.
    """
    from binspark.archive.archiver import open_archiver

    show = _PRINTERS[output_format]
    settings = _settings(options)
    archiver = open_archiver(connection, target, settings, lambda report: show(report, False), spool=spool)
    with stopping(archiver.stop), warnings_told(_WARNERS[output_format]):
        summary = archiver.run()
    show(summary, True)
    return 0


def _settings(options: dict[str, Any]) -> Any:
    from binspark.archive.retention import Retention
    from binspark.archive.settings import ArchiveSettings
    from binspark.replication.settings import StreamSettings

    stream = {"heartbeat_seconds": options["heartbeat_seconds"]}
    if options["server_id"] is not None:
        stream["server_id"] = options["server_id"]
    return ArchiveSettings(
        start=options["start"],
        until_end=options["until_end"],
        stream=StreamSettings(**stream),
        keep=Retention(options["keep_days"], options["keep_bytes"]),
        sync_seconds=options["sync_seconds"],
        report_seconds=options["progress_seconds"],
        upload_seconds=options["upload_seconds"],
    )


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """Let an interrupt or the wish to terminate end the work in order; a second one ends it at once.

    Another thread says so: the one that is interrupted may hold what is needed for it.
    """

    def ask(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        threading.Thread(target=stop, name="binspark-stop").start()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def warnings_told(say: Callable[[str], None]) -> Iterator[None]:
    """Let a person know of lost connections and alike."""
    logger, teller = logging.getLogger("binspark"), _Teller(say)
    logger.addHandler(teller)
    try:
        yield
    finally:
        logger.removeHandler(teller)


class _Teller(logging.Handler):
    """Passes warnings on as text."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say(record.getMessage())


def _print_text(report: Report, is_last: bool) -> None:
    place = f"{report.file}:{report.offset}" if report.file else "nothing was there to copy"
    parts = [place, f"{_size(report.bytes)} copied", f"{_size(report.rate)}/s"]
    if not is_last:
        behind = "an unknown size" if report.lag_bytes is None else _size(report.lag_bytes)
        age = "" if report.lag_seconds is None else f", {report.lag_seconds:.0f} s"
        parts.append(f"behind by {behind}{age}")
    click.echo("  ".join(parts), err=True)


def _print_json(report: Report, is_last: bool) -> None:
    record = {
        "file": report.file,
        "offset": report.offset,
        "bytes": report.bytes,
        "bytes_per_second": round(report.rate),
        "lag_bytes": report.lag_bytes,
        "lag_seconds": None if report.lag_seconds is None else round(report.lag_seconds, 3),
        "ended": is_last,
    }
    click.echo(json_line(record), err=True)


_PRINTERS = {"text": _print_text, "jsonl": _print_json}
_WARNERS: dict[str, Callable[[str], None]] = {
    "text": tell,
    "jsonl": lambda message: click.echo(json_line({"warning": message}), err=True),
}


def _size(count: float) -> str:
    units = ["TB", "GB", "MB", "kB"]
    if count < 1000:
        return f"{count:.0f} B"
    while count >= 1000 and units:
        count, unit = count / 1000, units.pop()
    return f"{count:.1f} {unit}"
