"""`binspark export`: Parquet, one folder a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from binspark.cli.export_view import Progress, notice_of_compiling, summary_page, summary_record
from binspark.cli.output import format_option, json_line, logs_argument, tell
from binspark.cli.selecting import history_from, selecting_options, selection_from, tell_unmatched
from binspark.files import find_logs

if TYPE_CHECKING:
    from binspark.export import ExportOptions


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
