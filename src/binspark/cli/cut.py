"""`binspark cut`: a new log with some transactions, tables or rows of others."""

from __future__ import annotations

from dataclasses import asdict
from datetime import tzinfo
from typing import Any

import click

from binspark.cli.command import Command, click_option, format_option, logs_argument
from binspark.cli.inputs import Logs
from binspark.cli.output import echo, json_line, print_message
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.errors import DecodeError
from binspark.options.cut import DROP_EMPTY


@click.command("cut", cls=Command)
@logs_argument
@click.option(
    "-o", "--output", "output", metavar="NEWLOG", required=True, help="The log that is written; it must not exist."
)
@format_option("text", "json")
@click_option(DROP_EMPTY)
@row_options
def cut_command(
    files: tuple[str, ...],
    output: str,
    output_format: str,
    drop_empty: bool,
    timezone: tzinfo,
    schema_file: str | None,
    **options: Any,
) -> int:
    """Write a new log with only some transactions, tables or rows of one or more logs.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Options about transactions (GTIDs, positions, times, servers, threads) keep or remove them completely. --tables,
    --exclude-tables, --operations and --where also remove events and rows from the transactions that are kept, and
    statements about other tables. Positions, checksums, lengths, GTIDs before the log and the order of parallel
    replicas are those of the new log, which servers and their tools read as any other. What is removed from compressed
    transactions leaves the rest of them uncompressed.
    """
    from binspark.cut import CutOptions, cut_logs

    selection = selection_from(options, timezone)
    sources = Logs(files, None).sources(selection)
    try:
        summary = cut_logs(sources, output, CutOptions(selection, drop_empty, history_from(schema_file)))
    except DecodeError as error:
        if error.position.event is None:  # it is not a log, or its key is missing
            raise
        message = f"{error.message}; `binspark verify` shows how far the log is complete: --stop-position ends there"
        raise type(error)(message, error.position) from None
    if output_format == "json":
        echo(json_line({"file": output, **asdict(summary)}))
        return 0
    emptied = f" ({summary.emptied:,} of them empty)" if summary.emptied else ""
    written = f"{summary.transactions:,} transactions{emptied}, {summary.bytes:,} bytes"
    echo(f"{output}: {written}; {summary.removed:,} removed")
    if summary.incomplete:
        print_message(f"{summary.incomplete} transactions do not end in the logs, and are not in {output}")
    return 0
