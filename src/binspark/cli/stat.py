"""`binspark stat`: what is in the logs."""

from __future__ import annotations

import click
from rich.console import Console

from binspark.cli.output import format_option, json_line, logs_argument, tell
from binspark.errors import DecodeError
from binspark.files import find_logs
from binspark.files.read import source_events
from binspark.render.contents import contents_page, contents_record
from binspark.transactions.contents import ContentsReader


@click.command("stat")
@logs_argument
@format_option
def stat_command(files: tuple[str, ...], output_format: str) -> int:
    """Tell what is in one or more logs: types of events, tables and operations, the largest transactions, and how much
    of it a replica could apply in parallel.

    What stands before damage counts; the exit code is 1 then.
    """
    reader, damaged = ContentsReader(), False
    for source in find_logs(files):
        try:
            for event in source_events(source):
                reader.feed(event)
        except DecodeError as error:
            damaged = True
            tell(error)
        reader.end_file()
    contents = reader.finish()
    if output_format == "jsonl":
        click.echo(json_line(contents_record(contents)))
    else:
        Console(highlight=False).print(contents_page(contents))
    return 1 if damaged else 0
