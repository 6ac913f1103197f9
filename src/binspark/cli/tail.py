"""`binspark tail`: the changes of a server as they happen."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, log_options
from binspark.cli.output import line_style
from binspark.cli.row_options import row_options, selection_from
from binspark.cli.server_options import live_option
from binspark.cli.server_rows import Monitoring, print_server_rows
from binspark.cli.status_lines import StatusLines, metrics_options, take_metrics
from binspark.options.keyring import MAX_PAYLOAD_BYTES


@click.command("tail", cls=Command)
@log_options(default_start="latest", default_until="never", with_files=False)
@format_option("text", "jsonl")
@live_option(
    "progress_seconds",
    default="0",
    help="How often position, rate and lag are reported, on standard error; 0 for never.  [default: 0]",
)
@metrics_options
@click_option(MAX_PAYLOAD_BYTES)
@row_options
def tail_command(logs: Logs, output_format: str, timezone: tzinfo, schema_file: str | None, **options: Any) -> int:
    """Show the changed rows of a server as they happen.

    The format is that of `binspark rows`. Complete transactions are shown, each once, also over lost connections. Names
    and types of columns that the log lacks are read from the server, or from --schema-file.
    """
    assert logs.server is not None
    monitoring = Monitoring(StatusLines(output_format), options.pop("progress_seconds"), take_metrics(options))
    selection = selection_from(options, timezone)
    logs.check_server(selection)
    print_server_rows(logs.server, selection, line_style(output_format, timezone), schema_file, monitoring)
    return 0
