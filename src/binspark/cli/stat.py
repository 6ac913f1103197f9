"""`binspark stat`: what is in the logs."""

from __future__ import annotations

import click
from rich.console import Console

from binspark.cli.command import Command, format_option, logs_argument
from binspark.cli.output import Damage, echo, json_line, safe_page
from binspark.files import find_logs
from binspark.files.read import source_events
from binspark.render.contents import contents_page, contents_record
from binspark.transactions.contents import ContentsReader


@click.command("stat", cls=Command)
@logs_argument
@format_option("text", "jsonl")
def stat_command(files: tuple[str, ...], output_format: str) -> int:
    """Summarize the contents of one or more logs.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Shown are event types, tables and operations, the largest transactions, and how much of the work a replica could
    apply in parallel. Where a log is damaged, what comes before the damage is counted. Exit code 1: a log is damaged.
    """
    reader, damage = ContentsReader(), Damage()
    for source in find_logs(files):
        with damage.ends_file():
            for event in source_events(source):
                reader.feed(event)
        reader.end_file()
    contents = reader.finish()
    if output_format == "jsonl":
        echo(json_line(contents_record(contents)))
    else:
        Console(highlight=False).print(safe_page(contents_page(contents)))
    return damage.exit_code
