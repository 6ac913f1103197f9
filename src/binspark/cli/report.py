"""`binspark report`: what is in the logs, as one page with plots."""

from __future__ import annotations

from pathlib import Path

import click

from binspark.cli.command import Command, format_option
from binspark.cli.output import echo, json_line
from binspark.errors import OptionError
from binspark.files.sources import find_logs
from binspark.files.watch import begin_job


@click.command("report", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file for the page.")
@format_option("html", "json")
def report_command(files: tuple[str, ...], output: Path | None, output_format: str) -> int:
    """Describe one or more logs on one page, with plots.

    FILE is a file, a glob, a directory, an index file or a URI.

    The page has the activity over time by table and operation, sizes and durations of transactions, the largest and
    longest ones, the rows that change most often, how much a replica could apply in parallel, GTIDs that are missing,
    schema changes, the findings of `verify`, and hints of `doctor` that the logs show. It is one file of HTML without
    scripts, needs no network, and prints well. --format json prints the numbers instead.

    Exit code 0: the logs are intact. 1: verify found errors, which the page shows.
    """
    from binspark.reports.collect import collect_report

    if output_format == "html" and output is None:
        raise OptionError("is missing: where is the page to be written?", option="--output")
    found = collect_report(find_logs(files))
    begin_job("drawing")
    text = json_line(found.to_json()) if output_format == "json" else found.to_html()
    if output is None:
        echo(text)
    else:
        output.write_text(text, encoding="utf-8")
        echo(f"wrote {output} ({output.stat().st_size:,} bytes)", err=True)
    return 0 if found.ok else 1
