"""The open files of an export: at most one per table, and a limited number in total."""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from binspark.columns.reader import TableBatch
from binspark.export.folder import OutputFolder, rewritten_path
from binspark.export.united import FileSchema, UnitedSchema
from binspark.private_files import create_again
from binspark.schema.table import TableSchema

_ROW_GROUP_ROWS = 1 << 16
_MAX_PENDING_BATCHES = 8


class PartWriter:
    """Collects batches until there are enough rows for a row group."""

    def __init__(self, path: Path, schema: pa.Schema, table: TableSchema) -> None:
        self.schema = schema
        self.table = table
        self.rows = 0
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._file = create_again(path)
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd")

    @property
    def pending_bytes(self) -> int:
        """The size of the batches that are not written yet."""
        return sum(batch.nbytes for batch in self._pending)

    def write(self, batch: pa.RecordBatch) -> None:
        """Take a batch. Many small ones are copied into one, to free the large buffers that they are slices of."""
        self.rows += batch.num_rows
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        if self._pending_rows >= _ROW_GROUP_ROWS:
            self.flush()
        elif len(self._pending) > _MAX_PENDING_BATCHES:
            self._pending = pa.Table.from_batches(self._pending).combine_chunks().to_batches()

    def flush(self) -> None:
        """Write the pending batches as a row group."""
        if not self._pending:
            return
        table = pa.Table.from_batches(self._pending)
        self._pending, self._pending_rows = [], 0
        self._writer.write_table(table, row_group_size=2 * _ROW_GROUP_ROWS)

    def close(self) -> None:
        """Complete the file, and sync it to disk."""
        try:
            self.flush()
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the file, complete or not, and ignore errors."""
        self._pending = []
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        with suppress(OSError):
            self._file.close()


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without dictionary arrays; Parquet's own dictionaries are better."""
    arrays = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


MAX_OPEN_FILES = 64
_MAX_PENDING_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of a table, and its schema."""

    path: Path
    schema: FileSchema


class Writers:
    """Writes batches to the file of their table. A new schema, or enough rows, start another file.

    In the end, the files of a table whose schema has changed are written again with one that has all columns.

    When too many files are open, the least recently used is closed; the next rows of its table start another file. The
    size of pending batches is limited over all files together.
    """

    def __init__(
        self,
        folder: OutputFolder,
        rows_per_file: int | None = None,
        max_open_files: int = MAX_OPEN_FILES,
        string_columns: frozenset[str] = frozenset(),
    ) -> None:
        self._folder = folder
        self._string_columns = string_columns
        self._files: dict[str, list[WrittenFile]] = {}
        self._rows_per_file = rows_per_file
        self._max_open_files = max_open_files
        self._open: OrderedDict[str, PartWriter] = OrderedDict()

    def write(self, item: TableBatch) -> None:
        """Write a batch, to several files if it has too many rows for one."""
        batch = plain(item.batch)
        while batch.num_rows:
            part = self._part(item, batch.schema)
            count = batch.num_rows if self._rows_per_file is None else self._rows_per_file - part.rows
            part.write(batch.slice(0, count))
            batch = batch.slice(count)
            if part.rows == self._rows_per_file:
                self._close(item.table.name)
        self._limit_pending()

    def close(self) -> None:
        """Complete every file, and give those of a table one schema."""
        for name in list(self._open):
            self._close(name)
        for files in self._files.values():
            self._unite(files)

    def abandon(self) -> None:
        """Close all files, complete or not."""
        for part in self._open.values():
            part.abandon()
        self._open.clear()

    def _part(self, item: TableBatch, schema: pa.Schema) -> PartWriter:
        name = item.table.name
        part = self._open.get(name)
        if part is not None and (part.schema, part.table) != (schema, item.table):
            self._close(name)
            part = None
        if part is None:
            if len(self._open) >= self._max_open_files:
                self._close(next(iter(self._open)))
            path = self._folder.new_part(item.table.schema, item.table.table)
            part = self._open[name] = PartWriter(path, schema, item.table)
            self._files.setdefault(name, []).append(
                WrittenFile(path, FileSchema(item.table, schema, item.metadata, item.has_before))
            )
        self._open.move_to_end(name)
        return part

    def _unite(self, files: list[WrittenFile]) -> None:
        schemas = list(dict.fromkeys(file.schema for file in files))
        if len(schemas) == 1 and not self._string_columns:
            return
        united = UnitedSchema(schemas, self._string_columns)
        for file in files:
            if file.schema.schema != united.schema:
                _rewrite(file, united)

    def _close(self, name: str) -> None:
        self._open.pop(name).close()

    def _limit_pending(self) -> None:
        pending = {name: part.pending_bytes for name, part in self._open.items()}
        if sum(pending.values()) > _MAX_PENDING_BYTES:
            self._open[max(pending, key=lambda name: pending[name])].flush()


def _rewrite(file: WrittenFile, united: UnitedSchema) -> None:
    """Write a file again, with the columns of the united schema."""
    path = rewritten_path(file.path)
    writer = PartWriter(path, united.schema, file.schema.table)
    try:
        with pq.ParquetFile(file.path) as written:
            for batch in written.iter_batches(_ROW_GROUP_ROWS):
                writer.write(united.conform(file.schema, batch))
        writer.close()
        os.replace(path, file.path)
    finally:
        writer.abandon()
        path.unlink(missing_ok=True)
