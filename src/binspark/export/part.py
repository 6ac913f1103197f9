"""One Parquet file while it is written."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

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
