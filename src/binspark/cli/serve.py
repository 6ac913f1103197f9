"""`binspark serve`: an archive as a replication source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.live import messages_to, stop_on_signal
from binspark.cli.output import echo, json_line
from binspark.cli.server_options import live_option
from binspark.cli.status_lines import StatusLines, metrics_options
from binspark.live import open_server
from binspark.options.serve import SERVE_OPTIONS

if TYPE_CHECKING:
    from binspark.serve.server import ArchiveServer


def _serve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(SERVE_OPTIONS):
        command = click_option(option)(command)
    return command


@click.command("serve", cls=Command)
@click.argument("archive", metavar="ARCHIVE")
@_serve_options
@live_option("progress_seconds", default="0", help="How often what was sent is reported; 0 for never.  [default: 0]")
@metrics_options
@format_option("text", "jsonl")
def serve_command(archive: str, output_format: str, **options: Any) -> int:
    """Serve the logs of an archive as a replication source.

    Replicas of MySQL and MariaDB connect to it as to the server that wrote the logs, by GTIDs or by file and position,
    and so does everything else that reads a replication stream. ARCHIVE is a directory of logs of one server, such as
    `binspark archive` writes; logs that come while it is served are sent as they come.

    Nothing can be changed over these connections: statements that replicas do not need are refused. It runs until it is
    interrupted (SIGINT or SIGTERM).
    """
    lines = StatusLines(output_format)
    server = open_server(archive, on_progress=lines.show, **options)
    _SHOW[output_format](server)
    with stop_on_signal(server.stop), messages_to("binspark.serve", lines.say), lines.metrics_announced():
        server.run()
    if options["progress_seconds"]:
        lines.show(replace(server.status(), ended=True))
    return 0


def _show_text(server: ArchiveServer) -> None:
    identity = server.identity
    echo(
        f"listening on {server.address}: logs of {identity.version}, "
        f"server id {server.server_id}, UUID {identity.uuid}",
        err=True,
    )


def _show_json(server: ArchiveServer) -> None:
    identity = server.identity
    record = {
        "address": server.address,
        "port": server.port,
        "version": identity.version,
        "server_id": server.server_id,
        "server_uuid": identity.uuid,
    }
    echo(json_line(record), err=True)


_SHOW = {"text": _show_text, "jsonl": _show_json}
