"""`binspark stat`: what is in the logs."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import click
from rich.console import Console

from binspark.changes.event_filter import EventFilter, wants_changes, wants_transaction
from binspark.cli.command import Command, format_option
from binspark.cli.inputs import Logs, log_options
from binspark.cli.output import Damage, json_line
from binspark.cli.row_options import filter_options, selection_from
from binspark.render.contents import contents_page, contents_record
from binspark.render.times import Clock
from binspark.transactions.contents import ContentsReader


@click.command("stat", cls=Command)
@log_options()
@format_option("text", "jsonl")
@filter_options
def stat_command(logs: Logs, output_format: str, timezone: tzinfo, **options: Any) -> int:
    """Summarize the contents of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Shown are event types, tables and operations, the largest transactions, and how much of the work a replica could
    apply in parallel. Options select which events and transactions are counted, as for `events` and `transactions`.
    Where a log is damaged, what comes before the damage is counted. Exit code 1: a log is damaged.
    """
    selection = selection_from(options, timezone)
    wanted, damage = EventFilter(selection), Damage()
    reader = ContentsReader(
        lambda transaction: wants_transaction(selection, transaction, wanted.start),
        lambda changes: wants_changes(selection, changes),
    )
    for log in logs.inputs(selection, timezone, with_earlier=False):
        wanted.start = log.start
        with damage.ends_file():
            for event in log.events():
                for selected in wanted.feed(event):
                    reader.count(selected)
                reader.follow(event)
        reader.end_file()
    contents = reader.finish()
    if output_format == "jsonl":
        click.echo(json_line(contents_record(contents)))
    else:
        Console(highlight=False).print(contents_page(contents, Clock(timezone)))
    return damage.exit_code
