"""`binspark stat`: what is in the logs."""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, condition_of, events_of, log_options
from binspark.cli.output import Damage, echo, json_line, print_page
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.columns.selection import Selection
from binspark.files.inputs import FileInput, LogInput
from binspark.files.positions import NOWHERE
from binspark.files.sources import expect_logs
from binspark.options.times import Clock
from binspark.render.contents import contents_page, contents_record, periods_by
from binspark.render.summary import SHOW_SECRETS
from binspark.transactions.contents import Contents

if TYPE_CHECKING:
    from binspark.files.condition_counts import ConditionCounts


@click.command("stat", cls=Command)
@log_options()
@format_option("text", "jsonl")
@row_options
@click.option(
    "--per",
    type=click.Choice(["minute", "hour", "day"]),
    help="Show also how much was written in each minute, hour or day.",
)
@click_option(SHOW_SECRETS)
def stat_command(
    logs: Logs,
    output_format: str,
    timezone: tzinfo,
    per: str | None,
    schema_file: str | None,
    show_secrets: bool,
    **options: Any,
) -> int:
    """Summarize the contents of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Shown are event types, tables and operations, the largest transactions, and how much of the work a replica could
    apply in parallel. The bytes of a table are those of its rows events, and of the table maps and statements before
    them. Options select which events and transactions are counted, as for `events` and `transactions`, and with --where
    which rows. Where a log is damaged, what comes before the damage is counted. Exit code 1: a log is damaged.
    """
    selection = selection_from(options, timezone)
    inputs, damage, clock = logs.inputs(selection, timezone), Damage(), Clock(timezone)
    contents = _in_bulk(inputs, selection, schema_file, damage)
    if contents is None:
        contents = _by_event(inputs, selection, condition_of(logs, inputs, selection, schema_file), damage)
    contents = contents if show_secrets else contents.without_secrets()
    periods = None if per is None else periods_by(per, contents.periods, clock)
    if output_format == "jsonl":
        echo(json_line(contents_record(contents, periods)))
    else:
        print_page(contents_page(contents, clock, periods))
    return damage.exit_code


def _in_bulk(inputs: list[LogInput], selection: Selection, schema_file: str | None, damage: Damage) -> Contents | None:
    """Count files in bulk; None if one of the inputs has to be read event by event."""
    from binspark.files.contents import BulkCounter, can_count_in_bulk

    sources = [log.source for log in inputs if isinstance(log, FileInput)]
    if len(sources) < len(inputs) or not all(map(can_count_in_bulk, sources)):
        return None
    counter = BulkCounter(selection, None if selection.where is None else history_from(schema_file))
    expect_logs(sources, passes=2)
    for source in sources:
        with damage.ends_file():
            counter.count(source)
    return counter.finish()


def _by_event(inputs: list[LogInput], selection: Selection, counts: ConditionCounts | None, damage: Damage) -> Contents:
    from binspark.files.contents import SelectedContents

    counter = SelectedContents(selection, counts)
    for log in inputs:
        if log.start == NOWHERE:
            continue
        with damage.ends_file():
            counter.read(events_of(log, counts), log.start)
    return counter.finish()
