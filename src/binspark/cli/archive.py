"""`binspark archive`: a live copy of a server's logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, RenamedOption, format_option
from binspark.cli.live import stop_on_signal
from binspark.cli.server_options import live_option, server_options
from binspark.cli.status_lines import StatusLines, metrics_options
from binspark.live import open_archiver

if TYPE_CHECKING:
    from binspark.server.config import ConnectionConfig


@click.command("archive", cls=Command)
@click.option(
    "-o", "--output", "target", required=True, metavar="DIR|URI", help="The target: a directory, or s3://bucket/logs."
)
@server_options
@live_option(
    "start",
    default="earliest",
    show_default=True,
    help="Where a new archive starts: earliest, latest, a file, or timestamp:2026-11-15T09:30:00Z. "
    "The archive has complete files.",
)
@live_option(
    "until",
    type=click.Choice(["end"]),
    metavar="end",
    cls=RenamedOption,
    old_names={"--until-end": "--until=end"},
    help="Stop when everything is copied that the server has written now.  [default: never]",
)
@live_option("keep_days")
@live_option("keep_bytes")
@live_option("sync_seconds")
@live_option("upload_seconds")
@live_option("spool")
@live_option("connection_server_id")
@live_option("heartbeat_seconds")
@live_option("progress_seconds")
@metrics_options
@format_option("text", "jsonl")
def archive_command(connection: ConnectionConfig, target: str, output_format: str, **options: Any) -> int:
    """Copy the logs of a server as it writes them.

    The archive has the same files, byte for byte, and an index file. Copying may be interrupted or killed at any time:
    the next start continues after the last complete event. Every checksum is verified. Only one archiver can write to a
    directory.

    A remote target such as S3 receives each file when it is complete, and the active log every --upload-seconds. A
    lock file there keeps out a second archiver, unless both start at the same moment.
    """
    lines = StatusLines(output_format)
    archive = open_archiver(target, connection, on_progress=lines.show, **options)
    with stop_on_signal(archive.stop), lines.logged():
        summary = archive.run()
    lines.show(summary)
    return 0
