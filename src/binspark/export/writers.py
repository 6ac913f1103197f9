"""The files that are open at a time: one a table at most, and few in all."""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from binspark.columns.reader import TableBatch
from binspark.export.folder import OutputFolder

_GROUP_ROWS = 1 << 16
_MOST_PIECES = 8


class PartWriter:
    """Collects batches until they make a row group worth writing."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.schema = schema
        self.rows = 0
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._file = path.open("wb")
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd")

    @property
    def pending_bytes(self) -> int:
        """How many bytes of batches wait."""
        return sum(batch.nbytes for batch in self._pending)

    def write(self, batch: pa.RecordBatch) -> None:
        """Take a batch. Many small ones are copied together, so that they do not hold the large blocks they lie in."""
        self.rows += batch.num_rows
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        if self._pending_rows >= _GROUP_ROWS:
            self.flush()
        elif len(self._pending) > _MOST_PIECES:
            self._pending = pa.Table.from_batches(self._pending).combine_chunks().to_batches()

    def flush(self) -> None:
        """Write what waits as a row group."""
        if not self._pending:
            return
        table = pa.Table.from_batches(self._pending)
        self._pending, self._pending_rows = [], 0
        self._writer.write_table(table, row_group_size=2 * _GROUP_ROWS)

    def close(self) -> None:
        """Complete the file, and see it safe on its disk."""
        try:
            self.flush()
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the file, complete or not; what may go wrong with that does not matter any more."""
        self._pending = []
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        with suppress(OSError):
            self._file.close()


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose dictionaries are plain values; Parquet makes better dictionaries of its own."""
    arrays = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


MOST_OPEN = 64
_MOST_PENDING = 128 << 20


class Writers:
    """Writes batches to the file of their table. A new shape, or enough rows, begin another file.

    Where too many tables are open, the one that was not written to for the longest is closed; its next rows begin
    another file. What waits for a row group is bounded over all files together.
    """

    def __init__(self, folder: OutputFolder, rows_per_file: int | None = None, most_open: int = MOST_OPEN) -> None:
        self._folder = folder
        self._rows_per_file = rows_per_file
        self._most_open = most_open
        self._open: OrderedDict[str, PartWriter] = OrderedDict()

    def write(self, item: TableBatch) -> None:
        """Write a batch, to as many files as its rows ask for."""
        batch = plain(item.batch)
        while batch.num_rows:
            part = self._part(item, batch.schema)
            room = batch.num_rows if self._rows_per_file is None else self._rows_per_file - part.rows
            part.write(batch.slice(0, room))
            batch = batch.slice(room)
            if part.rows == self._rows_per_file:
                self._close(item.table.name)
        self._bound_pending()

    def close(self) -> None:
        """Complete every file."""
        for name in list(self._open):
            self._close(name)

    def abandon(self) -> None:
        """Let go of every file that is open."""
        for part in self._open.values():
            part.abandon()
        self._open.clear()

    def _part(self, item: TableBatch, schema: pa.Schema) -> PartWriter:
        name = item.table.name
        part = self._open.get(name)
        if part is not None and part.schema != schema:
            self._close(name)
            part = None
        if part is None:
            if len(self._open) >= self._most_open:
                self._close(next(iter(self._open)))
            path = self._folder.new_part(item.table.schema, item.table.table)
            part = self._open[name] = PartWriter(path, schema)
        self._open.move_to_end(name)
        return part

    def _close(self, name: str) -> None:
        self._open.pop(name).close()

    def _bound_pending(self) -> None:
        waiting = {name: part.pending_bytes for name, part in self._open.items()}
        if sum(waiting.values()) > _MOST_PENDING:
            self._open[max(waiting, key=lambda name: waiting[name])].flush()
