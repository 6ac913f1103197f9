"""`binspark export`: Parquet files, one directory per table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from binspark.cli.command import Command, click_option, format_option
from binspark.cli.inputs import Logs, log_options, server_history
from binspark.cli.output import Damage, echo, is_terminal, json_line, print_page
from binspark.cli.progress import note_progress
from binspark.cli.row_options import batch_options, history_from, row_options, selection_from
from binspark.files.damage import SKIP_DAMAGED

if TYPE_CHECKING:
    from binspark.export import TableSummary


_MEGABYTE = 1_000_000


def _announce_compiling() -> None:
    """On a terminal, explain why the first use takes longer."""
    from binspark.columns.reader import is_decoder_compiled

    if is_terminal(err=True) and not is_decoder_compiled():
        echo("Compiling the decoder; this happens once and takes half a minute…", err=True)


class _RowCounter:
    """Shows after the progress bar how many rows were written, and how fast."""

    def __init__(self) -> None:
        self._rows = 0
        self._start = monotonic()

    def add(self, count: int) -> None:
        """Count rows that were written."""
        self._rows += count
        speed = self._rows / max(monotonic() - self._start, 0.001)
        note_progress(f"{self._rows:,} rows, {speed:,.0f} rows/s")


def summary_record(table: TableSummary) -> dict[str, Any]:
    """Return the summary of a table as the record that `--format jsonl` prints."""
    return {
        "schema": table.schema,
        "table": table.table,
        "rows": table.rows,
        "files": table.files,
        "bytes": table.bytes,
    }


def summary_page(tables: Iterable[TableSummary]) -> Table:
    """Return the summaries as a table for people."""
    page = Table("table", box=None, pad_edge=False)
    for heading in ("rows", "files", "MB"):
        page.add_column(heading, justify="right")
    total = [0, 0, 0]
    for table in tables:
        counts = (table.rows, table.files, table.bytes)
        total = [sum(pair) for pair in zip(total, counts, strict=True)]
        page.add_row(table.name, *_shown(*counts))
    page.add_row("total", *_shown(*total), style="bold")
    return page


def _shown(rows: int, files: int, size: int) -> tuple[str, str, str]:
    return f"{rows:,}", f"{files:,}", f"{size / _MEGABYTE:,.3f}"


@click.command("export", cls=Command)
@log_options()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="The directory to write to."
)
@format_option("text", "jsonl")
@row_options
@batch_options
@click.option(
    "--rows-per-file", metavar="NUMBER", type=click.IntRange(min=1), help="The maximum number of rows in a file."
)
@click.option("--overwrite", is_flag=True, help="Replace the tables of an earlier export in DIR.")
@click_option(SKIP_DAMAGED)
def export_command(
    logs: Logs,
    output: Path,
    output_format: str,
    timezone: tzinfo,
    schema_file: str | None,
    rows_per_file: int | None,
    overwrite: bool,
    skip_damaged: bool,
    **options: Any,
) -> int:
    """Write the changed rows of logs, or of a server (--host), as Parquet files.

    FILE is a file, a glob, a directory, an index file, a URI, or - for standard input.

    Each table has a directory: DIR/shop.orders/part-00000.parquet. Files get their final names when all of them are
    complete. If the export fails or is interrupted, no file is left. A damaged log fails the export, unless
    --skip-damaged is given. Exit code 1: a log is damaged.
    """
    from binspark.export import Export, ExportOptions
    from binspark.export.columns import with_columns_followed

    selection = selection_from(options, timezone)
    damage = Damage(skip_damaged=skip_damaged, output_format=output_format)
    inputs = logs.inputs(selection, timezone, on_damage=damage.on_damage)
    history = history_from(schema_file, for_rows=True)
    if logs.server is not None and schema_file is None:
        history = server_history(inputs[0], history)
    selection = with_columns_followed(selection, inputs, history)
    export_options = ExportOptions(overwrite, rows_per_file)
    _announce_compiling()
    with damage.ends_command():
        export = Export(selection, history, export_options, on_rows=_RowCounter().add)
        written = export.run(inputs, output)
    if output_format == "jsonl":
        for table in written:
            echo(json_line(summary_record(table)))
    else:
        print_page(summary_page(written))
    return damage.exit_code
