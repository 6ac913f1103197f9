"""An export: logs in, Parquet out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Selection
from binspark.errors import BinlogError, DecodeError, SchemaError
from binspark.export.folder import OutputFolder, folder_name
from binspark.export.writers import MOST_OPEN, Writers
from binspark.files.batches import source_batches
from binspark.files.sources import LogSource
from binspark.os_errors import describe_os_error
from binspark.schema.history import SchemaHistory


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """How an export is written.

    overwrite      whether the tables of an earlier export in the folder are replaced
    salvage        whether what stands before damage is kept; if not, damage ends the export and nothing is kept
    rows_per_file  after so many rows another file begins, None for no limit
    most_open      how many files are open at a time
    """

    overwrite: bool = False
    salvage: bool = False
    rows_per_file: int | None = None
    most_open: int = MOST_OPEN


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What was written of one table."""

    schema: str
    table: str
    rows: int
    files: int
    bytes: int

    @property
    def name(self) -> str:
        return f"{self.schema}.{self.table}"


class Export:
    """Writes the rows of logs to a folder of Parquet files, one folder a table.

    on_rows, on_bytes   are told of progress: rows written, bytes read
    damage              what was found wrong, where it does not end the export
    """

    def __init__(
        self,
        selection: Selection,
        history: SchemaHistory,
        options: ExportOptions,
        *,
        on_rows: Callable[[int], None] | None = None,
        on_bytes: Callable[[int], None] | None = None,
    ) -> None:
        self.damage: list[BinlogError] = []
        self._selection = selection
        self._history = history
        self._options = options
        self._on_rows = on_rows
        self._on_bytes = on_bytes
        self._reader = BatchReader(selection, history)
        self._rows: dict[tuple[str, str], int] = {}

    def run(self, sources: Iterable[LogSource], target: Path) -> tuple[TableSummary, ...]:
        """Export logs; return what was written, by table. Whatever goes wrong, no file is left that is not whole."""
        try:
            with OutputFolder(target, overwrite=self._options.overwrite) as folder:
                writers = Writers(folder, self._options.rows_per_file, self._options.most_open)
                try:
                    for source in sources:
                        self._export(source, writers)
                    writers.close()
                finally:
                    writers.abandon()
                return self._summaries(target, folder.publish())
        except OSError as error:
            raise BinlogError(f"{error.filename or target}: {describe_os_error(error)}") from None

    def _export(self, source: LogSource, writers: Writers) -> None:
        try:
            for item in source_batches(source, self._reader, self._on_bytes):
                writers.write(item)
                self._count(item)
        except (DecodeError, SchemaError) as error:
            if not self._options.salvage:
                raise
            self.damage.append(error)
            self._reader = BatchReader(self._selection, self._history)

    def _count(self, item: TableBatch) -> None:
        table, rows = (item.table.schema, item.table.table), item.batch.num_rows
        self._rows[table] = self._rows.get(table, 0) + rows
        if self._on_rows is not None:
            self._on_rows(rows)

    def _summaries(self, target: Path, files: tuple[Path, ...]) -> tuple[TableSummary, ...]:
        summaries: list[TableSummary] = []
        for (schema, table), rows in sorted(self._rows.items()):
            folder = target / folder_name(schema, table)
            sizes = [file.stat().st_size for file in files if file.parent == folder]
            summaries.append(TableSummary(schema, table, rows, len(sizes), sum(sizes)))
        return tuple(summaries)
