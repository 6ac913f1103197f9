"""`binspark export`: Parquet, one folder a table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from binspark.cli.output import format_option, json_line, logs_argument, tell
from binspark.cli.selecting import history_from, selecting_options, selection_from, tell_unmatched
from binspark.errors import SourceError
from binspark.files import LogSource, find_logs

if TYPE_CHECKING:
    from binspark.export import ExportOptions, TableSummary


_MEGABYTE = 1_000_000


def notice_of_compiling(console: Console) -> None:
    """Say that the first use takes longer, if this is the first use and a person looks."""
    from binspark.columns.reader import is_decoder_compiled

    if console.is_terminal and not is_decoder_compiled():
        console.print("Compiling the decoder; this happens once and takes half a minute…")


class Progress:
    """A bar on a terminal: how much of the logs is read, how fast, and how many rows came of it. Quiet elsewhere."""

    def __init__(self, console: Console, sources: Iterable[LogSource]) -> None:
        self._rows = 0
        self._start = monotonic()
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TextColumn("{task.fields[rows]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("reading", total=_total_size(sources), rows="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()

    def add_bytes(self, count: int) -> None:
        """Say that more was read."""
        self._bar.advance(self._task, count)

    def add_rows(self, count: int) -> None:
        """Say that more was written."""
        self._rows += count
        speed = self._rows / max(monotonic() - self._start, 0.001)
        self._bar.update(self._task, rows=f"{self._rows:,} rows, {speed:,.0f} rows/s")


def _total_size(sources: Iterable[LogSource]) -> int | None:
    """Return the size of all logs, None where one of them cannot tell."""
    try:
        return sum(source.size() for source in sources)
    except SourceError:
        return None


def summary_record(table: TableSummary) -> dict[str, Any]:
    """Return what was written of a table as the record that `--format jsonl` prints."""
    return {
        "schema": table.schema,
        "table": table.table,
        "rows": table.rows,
        "files": table.files,
        "bytes": table.bytes,
    }


def summary_page(tables: Iterable[TableSummary]) -> Table:
    """Return what was written as a table for a person."""
    page = Table("table", box=None, pad_edge=False)
    for heading in ("rows", "files", "MB"):
        page.add_column(heading, justify="right")
    total = [0, 0, 0]
    for table in tables:
        counts = (table.rows, table.files, table.bytes)
        total = [sum(pair) for pair in zip(total, counts, strict=True)]
        page.add_row(table.name, *_shown(*counts))
    page.add_row("in all", *_shown(*total), style="bold")
    return page


def _shown(rows: int, files: int, size: int) -> tuple[str, str, str]:
    return f"{rows:,}", f"{files:,}", f"{size / _MEGABYTE:,.3f}"


@click.command("export")
@logs_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where to write.")
@format_option
@selecting_options
@click.option("--columns", metavar="NAME,…", help="Only these columns, and where rows come from.")
@click.option("--before", is_flag=True, help="Keep the old rows of updates too, as a struct _before.")
@click.option(
    "--zero-dates",
    type=click.Choice(["null", "string", "error"]),
    default="null",
    show_default=True,
    help="Dates that no calendar has: NULL, all dates of the column as text, or refuse.",
)
@click.option("--rows-per-file", type=click.IntRange(min=1), help="Begin another file after so many rows.")
@click.option("--overwrite", is_flag=True, help="Replace the tables of an earlier export in DIR.")
@click.option("--salvage", is_flag=True, help="Keep what stands before damage, and go on with the next log.")
def export_command(
    files: tuple[str, ...],
    output: Path,
    output_format: str,
    schema_file: str | None,
    rows_per_file: int | None,
    overwrite: bool,
    salvage: bool,
    columns: str | None,
    **options: Any,
) -> int:
    """Write the changed rows of one or more logs as Parquet, one folder a table: DIR/shop.orders/part-00000.parquet.

    Files get their names when all of them are complete. If the export fails or is interrupted, none is left.
    """
    from binspark.export import ExportOptions

    options["columns"] = None if columns is None else [name.strip() for name in columns.split(",")]
    return _export(files, output, output_format, schema_file, options, ExportOptions(overwrite, salvage, rows_per_file))


def _export(
    files: tuple[str, ...],
    output: Path,
    output_format: str,
    schema_file: str | None,
    options: dict[str, Any],
    export_options: ExportOptions,
) -> int:
    from binspark.export import Export

    sources = find_logs(files)
    selection, history = selection_from(options), history_from(schema_file)
    messages = Console(stderr=True, highlight=False)
    notice_of_compiling(messages)
    with Progress(messages, sources) as progress:
        export = Export(selection, history, export_options, on_rows=progress.add_rows, on_bytes=progress.add_bytes)
        written = export.run(sources, output)
    for error in export.damage:
        tell(error)
    tell_unmatched(selection, [table.name for table in written])
    if output_format == "jsonl":
        for table in written:
            click.echo(json_line(summary_record(table)))
    else:
        Console(highlight=False).print(summary_page(written))
    return 1 if export.damage else 0
