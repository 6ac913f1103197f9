"""`binspark rows`: one record for each changed row."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import click

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, log_options
from binspark.cli.output import Damage, line_style, print_texts
from binspark.cli.row_options import history_from, row_options, selection_from
from binspark.cli.server_rows import print_server_rows
from binspark.files.damage import SKIP_DAMAGED


@click.command("rows", cls=Command)
@log_options()
@format_option("text", "jsonl")
@row_options
@click_option(SKIP_DAMAGED)
def rows_command(
    logs: Logs,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    skip_damaged: bool,
    **options: Any,
) -> int:
    """Show the changed rows of one or more logs, or of a server (--host).

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    An insert has no `before`, a delete no `after`. `key` is the primary key: of the old row, or of the new row for an
    insert. Text has a heading before the rows of each transaction and statement: GTID, server, thread and, if the log
    has it, the statement (binlog_rows_query_log_events, MariaDB: binlog_annotate_row_events). On a terminal, long
    values are cut off and control characters are escaped. Where a log is damaged, the rows before the damage are shown
    and reading continues with the next file or, with --skip-damaged, with the next transaction. Exit code 1: a log is
    damaged.
    """
    from binspark.files.lines import LogPrinter
    from binspark.files.windows import pays_in_bulk

    selection, style = selection_from(options, timezone), line_style(output_format, timezone)
    if logs.server is not None:
        logs.check_server(selection, skip_damaged=skip_damaged)
        print_server_rows(logs.server, selection, style, schema_file)
        return 0
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    sources = logs.sources(selection)
    in_bulk = pays_in_bulk(sources, selection)
    history = history_from(schema_file, for_rows=True)
    printer = LogPrinter(selection, history, style, in_bulk=in_bulk, on_damage=damage.on_damage)
    for source in sources:
        with damage.ends_file():
            for texts in printer.lines(source):
                print_texts(texts)
    return damage.exit_code
