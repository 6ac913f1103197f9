"""Logs read in bulk, for comparison: batches taken apart into rows, and checked on the way."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from binspark.columns.arena import ReadInto
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Selection
from binspark.errors import BinlogError
from binspark.schema.history import SchemaHistory
from tests.support.columns.outcome import FoundRow, Outcome, float_bits, refusal_of

_METADATA = ("_op", "_gtid", "_commit_time", "_log_file", "_log_pos", "_log_row", "_tx_row", "_server_id")


def bulk_outcome(
    log: bytes,
    selection: Selection,
    history: SchemaHistory | None = None,
    file: str = "",
    *,
    start: int = 0,
    stop: int | None = None,
) -> Outcome:
    """Read a log in bulk. Kernels may refuse only what the reference refuses."""
    reader = BatchReader(selection, history)
    outcome = read_outcome(reader, io.BytesIO(log).readinto, file, start=start, stop=stop)
    assert reader.disagreements == 0
    return outcome


def read_outcome(
    reader: BatchReader, read_into: ReadInto, file: str = "", *, start: int = 0, stop: int | None = None
) -> Outcome:
    """Let a reader read a log; return its rows, and its error if it ends with one."""
    found: dict[str, list[FoundRow]] = {}
    try:
        for table_batch in reader.read(read_into, file, start=start, stop=stop):
            found.setdefault(table_batch.table.name, []).extend(rows_in_batch(table_batch))
    except BinlogError as error:
        return Outcome(found, refusal_of(error))
    return Outcome(found, None)


def in_chunks(log: bytes, size: int) -> ReadInto:
    """Return a source that never gives more than `size` bytes at once."""
    stream = io.BytesIO(log)
    return lambda buffer: stream.readinto(buffer[:size])


def rows_in_batch(table_batch: TableBatch) -> Iterable[FoundRow]:
    """Take a batch apart into rows."""
    batch = table_batch.batch
    batch.validate(full=True)
    _check_null_counts(batch.columns)
    columns = dict(zip(batch.schema.names, map(plain_list, batch.columns), strict=True))
    names = [name for name in columns if name not in (*_METADATA, "_seq", "_key", "_before")]
    nothing = [None] * batch.num_rows
    befores, keys = columns.get("_before", nothing), columns.get("_key", nothing)
    for index in range(batch.num_rows):
        metadata = [columns[name][index] for name in _METADATA]
        values = {name: columns[name][index] for name in names}
        yield FoundRow._make([*metadata, values, befores[index], keys[index]])


def _check_null_counts(arrays: Iterable[pa.Array]) -> None:
    """See that an array has as many NULLs as it says. Those of a dictionary may be in its words."""
    for array in (array for array in arrays if not pa.types.is_dictionary(array.type)):
        assert array.null_count == array.is_null().to_numpy(zero_copy_only=False).sum(), array.type
        if pa.types.is_struct(array.type):
            _check_null_counts([array.field(index) for index in range(array.type.num_fields)])


def plain_list(array: pa.Array) -> list[Any]:
    """Return the values of a column; dates and times as numbers, floats as their bytes."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return plain_list(array.cast(kind.value_type))
    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        children = [plain_list(array.field(index)) for index in range(kind.num_fields)]
        rows = [dict(zip(names, values, strict=True)) for values in zip(*children, strict=True)]
        rows = rows if children else [{}] * len(array)
        return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]
    if pa.types.is_list(kind) and pa.types.is_floating(kind.value_type):
        return [None if row is None else _bits(pa.array(row, pa.float32())) for row in array.to_pylist()]
    converter = _PLAIN.get(kind.id)
    values: list[Any] = array.to_pylist() if converter is None else converter(array)
    return values


def _bits(array: pa.Array) -> list[bytes | None]:
    form = "<f" if pa.types.is_float32(array.type) else "<d"
    return [None if value is None else float_bits(value, form) for value in array.to_pylist()]


def _numbers(kind: pa.DataType) -> Callable[[pa.Array], list[int | None]]:
    return lambda array: array.view(kind).to_pylist()


_PLAIN: dict[int, Callable[[pa.Array], list[Any]]] = {
    pa.float32().id: _bits,
    pa.float64().id: _bits,
    pa.date32().id: _numbers(pa.int32()),
    pa.timestamp("us").id: _numbers(pa.int64()),
    pa.duration("us").id: _numbers(pa.int64()),
}
