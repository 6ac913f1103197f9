"""Rows in the order of their keys, written as leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from binspark.mirror.files.access import create_file, file_errors, file_name, new_path, remove
from binspark.mirror.files.data_file import DataFile, TableDirectory, with_field_ids
from binspark.mirror.leaves.leaf_format import WRITER_OPTIONS, LeafKeys, dictionary_columns, key_metadata
from binspark.mirror.leaves.leaf_reader import KeyedRows
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.schema.mirrored_table import MirroredTable


class LeafWriter:
    """Writes rows, which come in the order of their keys, to leaves. If the block fails, none of them is left.

    goal_bytes   the size at which a leaf is complete; None for that of the limits
    """

    def __init__(
        self, directory: TableDirectory, table: MirroredTable, limits: LeafLimits, goal_bytes: int | None = None
    ) -> None:
        self._directory = directory
        self._table = table
        self._limits = limits
        self._goal_bytes = goal_bytes or limits.leaf_bytes
        self._buffered: list[KeyedRows] = []
        self._buffered_rows = 0
        self._buffered_bytes = 0
        self._open: _OpenLeaf | None = None
        self._done: list[DataFile] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            return
        if self._open is not None:
            self._open.abandon()
        for file in self._done:
            remove(self._directory, file.path)

    def write(self, rows: KeyedRows) -> None:
        """Write rows. Their keys are not less than those of all rows before them."""
        for part in self._parts(rows):
            self._buffered.append(part)
            self._buffered_rows += part.rows.num_rows
            self._buffered_bytes += part.rows.nbytes
            if (
                self._buffered_rows >= self._limits.row_group_rows
                or self._buffered_bytes >= self._limits.row_group_bytes
            ):
                self._write_row_group()

    def finish(self) -> tuple[DataFile, ...]:
        """Complete the last leaf, and return all of them."""
        if self._buffered:
            self._write_row_group()
        self._complete()
        return tuple(self._done)

    def _parts(self, rows: KeyedRows) -> Iterator[KeyedRows]:
        """Yield rows in parts that are not more than a row group, with what is buffered."""
        begin, count = 0, rows.rows.num_rows
        row_bytes = max(1, rows.rows.nbytes // max(1, count))
        while begin < count:
            room = self._limits.row_group_rows - self._buffered_rows
            room = min(room, (self._limits.row_group_bytes - self._buffered_bytes) // row_bytes + 1)
            end = min(count, begin + max(1, room))
            yield rows.slice(begin, end)
            begin = end

    def _write_row_group(self) -> None:
        rows = pa.Table.from_batches([part.rows for part in self._buffered], self._table.schema)
        first, last = self._buffered[0].keys[0].as_py(), self._buffered[-1].keys[-1].as_py()
        self._buffered, self._buffered_rows, self._buffered_bytes = [], 0, 0
        if self._open is None:
            self._open = _OpenLeaf(self._directory, self._table, rows)
        self._open.write(rows, first, last)
        if self._open.size >= self._goal_bytes:
            self._complete()

    def _complete(self) -> None:
        if self._open is not None:
            self._done.append(self._open.complete())
            self._open = None


class _OpenLeaf:
    """A leaf that is being written."""

    def __init__(self, directory: TableDirectory, table: MirroredTable, first_rows: pa.Table) -> None:
        self._directory = directory
        self._table = table
        self._path = new_path(directory)
        self._schema = with_field_ids(table.schema, directory.field_ids)
        self._rows = 0
        self._high = b""
        self._row_groups: list[bytes] = []
        self._footers: list[pq.FileMetaData] = []
        self._file = create_file(directory, self._path)
        with file_errors(directory, self._path):
            self._writer = pq.ParquetWriter(
                self._file,
                self._schema,
                use_dictionary=dictionary_columns(first_rows) or False,
                metadata_collector=self._footers,
                **WRITER_OPTIONS,
            )

    @property
    def size(self) -> int:
        """The bytes that are written."""
        return int(self._file.tell())

    def write(self, rows: pa.Table, first: bytes, last: bytes) -> None:
        """Write a row group."""
        with file_errors(self._directory, self._path):
            self._writer.write_table(rows.cast(self._schema), rows.num_rows)
        self._row_groups.append(first)
        self._high = last
        self._rows += rows.num_rows

    def complete(self) -> DataFile:
        """Write the footer, and return the file."""
        keys = LeafKeys(self._row_groups[0], self._high, tuple(self._row_groups))
        metadata = key_metadata(file_name(self._path), keys, self._table, self._directory)
        with file_errors(self._directory, self._path):
            self._writer.add_key_value_metadata(metadata)
            self._writer.close()
            size = self.size
            self._file.close()
        footer = pa.BufferOutputStream()
        self._footers[0].write_metadata_file(footer)
        return DataFile(
            self._path, size, self._rows, keys.low, keys.high, keys.row_groups, footer.getvalue().to_pybytes()
        )

    def abandon(self) -> None:
        """Remove what is written of it."""
        for close in (self._writer.close, self._file.close):
            with suppress(OSError, pa.ArrowException, ValueError):
                close()
        remove(self._directory, self._path)
