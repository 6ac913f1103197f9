"""The rows of data files, in the columns that their table has now."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from binspark.documents.conversion import conversion
from binspark.errors import SchemaError
from binspark.mirror.files.access import file_errors, file_name, open_file
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves.key_order import first_not_less, sorted_order
from binspark.mirror.leaves.leaf_format import keys_of_footer
from binspark.mirror.records.keys import KEY_TYPE, row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable

_FIELD_ID = b"PARQUET:field_id"
_READERS = 16
_BATCH_BYTES = 32 << 20
_MAX_BATCH_ROWS = 1 << 17


class KeyedRows(NamedTuple):
    """Rows, and their key bytes."""

    keys: pa.Array
    rows: pa.RecordBatch

    @property
    def nbytes(self) -> int:
        """The size of the rows and their keys in memory."""
        return int(self.keys.nbytes + self.rows.nbytes)

    def slice(self, begin: int, end: int) -> KeyedRows:
        """Return the rows from one index up to another."""
        return KeyedRows(self.keys.slice(begin, end - begin), self.rows.slice(begin, end - begin))

    def within(self, low: bytes | None, high: bytes | None) -> KeyedRows:
        """Return the rows in a range of keys. They are in the order of their keys."""
        begin = 0 if low is None else first_not_less(self.keys, low)
        return self.slice(begin, first_not_less(self.keys, high))


class LeafReader:
    """Reads data files of a table. A leaf with older columns than the table has them converted."""

    def __init__(self, directory: TableDirectory, table: MirroredTable) -> None:
        self._directory = directory
        self._table = table

    def row_groups(self, file: DataFile, low: bytes | None, high: bytes | None) -> Iterator[KeyedRows]:
        """Yield the rows of a leaf that are in a range of keys, a row group at a time, in the order of keys."""
        ends = (*file.row_groups[1:], None)
        wanted = [
            number
            for number, (first, end) in enumerate(zip(file.row_groups, ends, strict=True))
            if (high is None or first < high) and (low is None or end is None or end >= low)
        ]
        for batch in self._batches(file, wanted):
            rows = KeyedRows(row_keys(self._table, batch), batch).within(low, high)
            if rows.rows.num_rows:
                yield rows

    def batches(self, file: DataFile) -> Iterator[KeyedRows]:
        """Yield all rows of a data file, in the order in which they are in it."""
        for batch in self._batches(file, None):
            yield KeyedRows(row_keys(self._table, batch), batch)

    def columns(self, file: DataFile, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns of all rows of a data file."""
        return self._batches(file, None, names)

    def within(self, file: DataFile, low: bytes | None, high: bytes | None) -> Iterator[KeyedRows]:
        """Yield the rows of a data file, in any order, that are in a range of keys."""
        if file.row_groups:
            yield from self.row_groups(file, low, high)
            return
        for rows in self.batches(file):
            found = _filtered(rows, low, high)
            if found.rows.num_rows:
                yield found

    def rows_with_keys(self, file: DataFile, keys: Sequence[bytes]) -> Iterator[KeyedRows]:
        """Yield the rows of a data file that have one of some keys, which are in order."""
        wanted = pa.array(keys, KEY_TYPE)
        for part in self._parts_with_keys(file, keys):
            is_wanted = pc.is_in(part.keys, wanted)
            if pc.any(is_wanted).as_py():
                yield KeyedRows(part.keys.filter(is_wanted), part.rows.filter(is_wanted))

    def _parts_with_keys(self, file: DataFile, keys: Sequence[bytes]) -> Iterator[KeyedRows]:
        if not file.row_groups:
            yield from self.batches(file)
            return
        numbers = {bisect_right(file.row_groups, key) - 1 for key in keys}
        for batch in self._batches(file, sorted(number for number in numbers if number >= 0)):
            yield KeyedRows(row_keys(self._table, batch), batch)

    def with_footer(self, file: DataFile) -> DataFile:
        """Return a data file that has not been committed yet, with all that is in its footer."""
        metadata, footer = self._footer(file), pa.BufferOutputStream()
        metadata.write_metadata_file(footer)
        return replace(self._with_keys(file, metadata), footer=footer.getvalue().to_pybytes())

    def with_bounds(self, file: DataFile) -> DataFile:
        """Return a data file with the keys of its first and last row: from its footer, or from all its keys."""
        return self._with_keys(file, self._footer(file))

    def _footer(self, file: DataFile) -> pq.FileMetaData:
        with open_file(self._directory, file.path) as source, file_errors(self._directory, file.path):
            return pq.read_metadata(source)

    def _with_keys(self, file: DataFile, metadata: pq.FileMetaData) -> DataFile:
        rows = metadata.num_rows
        keys = keys_of_footer(metadata.metadata, file_name(file.path), self._table, self._directory)
        if keys is not None and len(keys.row_groups) == metadata.num_row_groups:
            return replace(file, rows=rows, low=keys.low, high=keys.high, row_groups=keys.row_groups)
        low, high = self._found_bounds(file)
        return replace(file, rows=rows, low=low, high=high, row_groups=())

    def _found_bounds(self, file: DataFile) -> tuple[bytes | None, bytes | None]:
        low: bytes | None = None
        high: bytes | None = None
        for batch in self._batches(file, None, self._table.key or None):
            ends = pc.min_max(row_keys(self._table, batch))
            smallest, largest = ends["min"].as_py(), ends["max"].as_py()
            low = smallest if low is None else min(low, smallest)
            high = largest if high is None else max(high, largest)
        return low, high

    def _batches(
        self, file: DataFile, row_groups: Sequence[int] | None, names: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        wanted = self._table.schema if names is None else pa.schema([self._table.schema.field(name) for name in names])
        with open_file(self._directory, file.path) as source, file_errors(self._directory, file.path):
            parquet = pq.ParquetFile(source)
            columns = _Columns(parquet.schema_arrow, wanted, dict(self._directory.field_ids), file.path)
            numbers = range(parquet.num_row_groups) if row_groups is None else row_groups
            for number in numbers:
                group = parquet.metadata.row_group(number)
                count = _batch_rows(group.num_rows, group.total_byte_size)
                for batch in parquet.iter_batches(count, [number], columns.names, use_threads=False):
                    if batch.num_rows:
                        yield columns.convert(batch)


def _filtered(rows: KeyedRows, low: bytes | None, high: bytes | None) -> KeyedRows:
    """Return the rows of a range, which are in any order."""
    keys = np.array(rows.keys.to_pylist(), object)
    is_inside = np.ones(len(keys), bool)
    if low is not None:
        is_inside &= keys >= low
    if high is not None:
        is_inside &= keys < high
    if is_inside.all():
        return rows
    mask = pa.array(is_inside)
    return KeyedRows(rows.keys.filter(mask), rows.rows.filter(mask))


class _Columns:
    """How the columns of a file become those of the table: by their numbers if the file has them, else by name."""

    def __init__(self, have: pa.Schema, wanted: pa.Schema, numbers: dict[str, int], path: str) -> None:
        self._wanted = wanted
        self._path = path
        by_number = {_number(field): field.name for field in have}
        is_numbered = bool(numbers) and None not in by_number
        names = {field.name for field in have}
        self._sources = [
            by_number.get(numbers[field.name]) if is_numbered else (field.name if field.name in names else None)
            for field in wanted
        ]
        self.names = [name for name in self._sources if name is not None]

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch in the columns of the table. Columns that the file does not have are NULL."""
        if not self._wanted.names:
            return batch
        arrays = [
            pa.nulls(batch.num_rows, field.type) if source is None else self._converted(batch.column(source), field)
            for source, field in zip(self._sources, self._wanted, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._wanted)

    def _converted(self, array: pa.Array, field: pa.Field) -> pa.Array:
        if array.type == field.type:
            return array
        convert = conversion(array.type, field.type)
        try:
            return array.cast(field.type) if convert is None else convert(array)
        except pa.ArrowException as error:
            raise SchemaError(
                f"column {field.name} of the data file {self._path} is {array.type}, expected {field.type}: {error}"
            ) from None


def _number(field: pa.Field) -> int | None:
    number = (field.metadata or {}).get(_FIELD_ID)
    return None if number is None else int(number)


def _batch_rows(rows: int, size: int) -> int:
    """Return how many rows of a row group are read at a time: all, in those that leaves have."""
    return max(1, min(_MAX_BATCH_ROWS, rows * _BATCH_BYTES // max(1, size)))


def with_bounds(files: Sequence[DataFile], directory: TableDirectory, table: MirroredTable) -> list[DataFile]:
    """Return data files with the bounds of their keys, which are read where they are not known."""
    reader = LeafReader(directory, table)
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(lambda file: file if file.low is not None else reader.with_bounds(file), files))


def with_footers(files: Sequence[DataFile], directory: TableDirectory, table: MirroredTable) -> list[DataFile]:
    """Return data files that have not been committed yet, as they were when they were written."""
    reader = LeafReader(directory, table)
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(reader.with_footer, files))


def stored_rows(
    files: Sequence[DataFile], directory: TableDirectory, table: MirroredTable, keys: Sequence[bytes]
) -> KeyedRows:
    """Return the stored rows that have one of some keys, in the order of keys, as the keys are."""
    return joined_rows(read_stored_rows(files, directory, table, keys), table.schema)


def read_stored_rows(
    files: Sequence[DataFile], directory: TableDirectory, table: MirroredTable, keys: Sequence[bytes]
) -> Iterator[KeyedRows]:
    """Yield the stored rows that have one of some keys, which are in order. The bounds of the files are known."""
    reader = LeafReader(directory, table)
    for file in files:
        if file.low is not None and file.high is not None:
            inside = keys[bisect_left(keys, file.low) : bisect_right(keys, file.high)]
            yield from reader.rows_with_keys(file, inside) if inside else ()


def joined_rows(parts: Iterable[KeyedRows], schema: pa.Schema) -> KeyedRows:
    """Return rows in the order of keys."""
    found = [KeyedRows(pa.array([], KEY_TYPE), pa.RecordBatch.from_pylist([], schema)), *parts]
    keys = pa.concat_arrays([part.keys for part in found])
    rows = pa.concat_batches([part.rows for part in found])
    order = sorted_order(keys)
    return KeyedRows(keys, rows) if order is None else KeyedRows(keys.take(pa.array(order)), rows.take(pa.array(order)))
