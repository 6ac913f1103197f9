"""`binspark report`: what is in the logs, as one page with plots."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs
from binspark.cli.output import echo, json_line
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.errors import OptionError
from binspark.files.progress import begin_job
from binspark.private_files import open_output
from binspark.render.summary import SHOW_SECRETS


@click.command("report", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file for the page.")
@format_option("html", "json")
@row_options
@click_option(SHOW_SECRETS)
def report_command(
    files: tuple[str, ...],
    output: Path | None,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    show_secrets: bool,
    **options: Any,
) -> int:
    """Describe one or more logs on one page, with plots.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    The page has the activity over time by table and operation, sizes and durations of transactions, the largest and
    longest ones, the rows that change most often, how much a replica could apply in parallel, GTIDs that are missing,
    schema changes, the findings of `verify`, and hints of `doctor` that the logs show. It is one file of HTML without
    scripts, needs no network, and prints well. --format json prints the numbers instead.

    Options select which transactions, changes and rows are counted, as for `stat`; then durations are not measured. The
    logs are verified completely.

    Exit code 0: the logs are intact. 1: verify found errors, which the page shows.
    """
    from binspark.reports.collect import collect_report

    if output_format == "html" and output is None:
        raise OptionError("is missing: where is the page to be written?", option="--output")
    selection = selection_from(options, timezone)
    found = collect_report(Logs(files, None).sources(selection), selection, history_from(schema_file))
    begin_job("drawing")
    if output_format == "json":
        text = json_line(found.to_json(show_secrets=show_secrets))
    else:
        text = found.to_html(show_secrets=show_secrets)
    if output is None:
        echo(text)
    else:
        with open_output(output) as file:
            file.write(text.encode())
        echo(f"wrote {output} ({output.stat().st_size:,} bytes)", err=True)
    return 0 if found.ok else 1
