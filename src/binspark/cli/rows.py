"""`binspark rows`: one record for each changed row."""

from __future__ import annotations

from typing import Any

import click

from binspark.cli.command import Command, format_option, logs_argument
from binspark.cli.output import Damage, line_style, print_texts
from binspark.cli.row_options import history_from, row_options, selection_from, warn_about_unmatched
from binspark.files import find_logs


@click.command("rows", cls=Command)
@logs_argument
@format_option("text", "jsonl")
@row_options
def rows_command(files: tuple[str, ...], output_format: str, schema_file: str | None, **options: Any) -> int:
    """Show the changed rows of one or more logs.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    An insert has no `before`, a delete no `after`. `key` is the primary key: of the old row, or of the new row for an
    insert. Text has a heading before the rows of each transaction and statement: GTID, server, thread and, if the log
    has it, the statement (binlog_rows_query_log_events, MariaDB: binlog_annotate_row_events). On a terminal, long
    values are cut off and control characters are escaped. Where a log is damaged, the rows before the damage are shown
    and reading continues with the next file. Exit code 1: a log is damaged.
    """
    from binspark.files.lines import LogPrinter
    from binspark.files.windows import pays_in_bulk

    selection, sources = selection_from(options), find_logs(files)
    style, in_bulk = line_style(output_format), pays_in_bulk(sources, selection)
    printer = LogPrinter(selection, history_from(schema_file), style, in_bulk=in_bulk)
    damage = Damage()
    for source in sources:
        with damage.ends_file():
            for texts in printer.lines(source):
                print_texts(texts)
    warn_about_unmatched(selection, printer.tables)
    return damage.exit_code
