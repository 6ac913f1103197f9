"""An export: reads logs, writes Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from binspark.changes.selection_options import METADATA_PREFIX
from binspark.columns.metadata import refuse_collisions
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Selection
from binspark.errors import BinlogError
from binspark.export.folder import OutputFolder, folder_name
from binspark.export.writers import MAX_OPEN_FILES, Writers
from binspark.files.inputs import LogInput
from binspark.options.option import Surface
from binspark.os_errors import describe_os_error
from binspark.schema.history import SchemaHistory

_PREFIX_OPTION = METADATA_PREFIX.name_on(Surface.COMMAND_LINE)


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How an export is written.

    overwrite       whether the tables of an earlier export in the directory are replaced
    rows_per_file   the maximum number of rows in a file, None for no limit
    max_open_files  the maximum number of files that are open at a time
    """

    overwrite: bool = False
    rows_per_file: int | None = None
    max_open_files: int = MAX_OPEN_FILES


@dataclass(frozen=True, slots=True)
class TableSummary:
    """The number of rows, files and bytes that were written for a table."""

    schema: str
    table: str
    rows: int
    files: int
    bytes: int

    @property
    def name(self) -> str:
        """The table with its database."""
        return f"{self.schema}.{self.table}"


class Export:
    """Writes the rows of logs to Parquet files, one directory per table.

    on_rows   is called with the number of rows that were written
    """

    def __init__(
        self,
        selection: Selection,
        history: SchemaHistory,
        options: ExportOptions,
        *,
        on_rows: Callable[[int], None] | None = None,
    ) -> None:
        self._options = options
        self._on_rows = on_rows
        self._reader = BatchReader(selection, history)
        self._rows: dict[tuple[str, str], int] = {}

    def run(self, inputs: Iterable[LogInput], target: Path) -> tuple[TableSummary, ...]:
        """Export logs; return the summaries of the tables. Whatever fails, no incomplete file is left."""
        try:
            with OutputFolder(target, overwrite=self._options.overwrite) as folder:
                options, strings = self._options, self._reader.selection.string_columns
                writers = Writers(folder, options.rows_per_file, options.max_open_files, strings)
                try:
                    for log in inputs:
                        self._export(log, writers)
                    writers.close()
                finally:
                    writers.abandon()
                return self._summaries(target, folder.publish())
        except OSError as error:
            raise BinlogError(f"{error.filename or target}: {describe_os_error(error)}") from None

    def _export(self, log: LogInput, writers: Writers) -> None:
        for item in log.batches(self._reader):
            refuse_collisions(item.batch.schema.names, item.table.name, _PREFIX_OPTION)
            writers.write(item)
            self._count(item)

    def _count(self, item: TableBatch) -> None:
        table, rows = (item.table.schema, item.table.table), item.batch.num_rows
        self._rows[table] = self._rows.get(table, 0) + rows
        if self._on_rows is not None:
            self._on_rows(rows)

    def _summaries(self, target: Path, files: tuple[Path, ...]) -> tuple[TableSummary, ...]:
        sizes_in: dict[Path, list[int]] = {}
        for file in files:
            sizes_in.setdefault(file.parent, []).append(file.stat().st_size)
        summaries: list[TableSummary] = []
        for (schema, table), rows in sorted(self._rows.items()):
            sizes = sizes_in.get(target / folder_name(schema, table), [])
            summaries.append(TableSummary(schema, table, rows, len(sizes), sum(sizes)))
        return tuple(summaries)
