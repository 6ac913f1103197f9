"""Changes out of batches: the same values as those of `changes.reader`, made column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache, partial
from heapq import merge
from itertools import chain, pairwise, repeat
from typing import Any

import pyarrow as pa

from binspark.changes.change import Change
from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.columns.statement_table import RowOrigins
from binspark.event.column_types import ColumnType as T
from binspark.event.rows import RowOperation
from binspark.event.rows_query import shown_statement
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import ABSENT, Geometry, Row

_ROWS_AT_A_TIME = 4096
_OPERATIONS = (RowOperation.INSERT, RowOperation.UPDATE, RowOperation.DELETE, RowOperation.TRUNCATE)
_NO_THREAD = 0xFFFFFFFF
_make_change = partial(tuple.__new__, Change)


def changes_of(batches: Sequence[TableBatch], file: str) -> Iterator[Change]:
    """Yield the changes of the batches of a window, in the order of the log."""
    found = [item for item in batches if item.batch.num_rows]
    parts = [_changes(item, file) for item in found]
    if all(_position(item, -1) < _position(after, 0) for item, after in pairwise(found)):
        return chain.from_iterable(parts)
    return merge(*parts, key=lambda change: (change.pos, change.row))


def _position(item: TableBatch, row: int) -> tuple[int, int]:
    positions, rows = item.origin(Metadata.LOG_POS), item.origin(Metadata.LOG_ROW)
    return positions[row].as_py(), rows[row].as_py()


def _changes(item: TableBatch, file: str) -> Iterator[Change]:
    """Yield the changes of a batch. Values are converted when they are needed, some rows at a time."""
    statements = None if item.origins is None else [*map(shown_statement, item.origins.texts), None]
    for start in range(0, item.batch.num_rows, _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        part = replace(item, batch=item.batch.slice(start, _ROWS_AT_A_TIME))
        operations = part.origin(Metadata.OP).indices.to_pylist()
        before, after = _images(part, start, operations)
        yield from map(
            _make_change,
            zip(
                repeat(file),
                part.origin(Metadata.LOG_POS).to_numpy().tolist(),
                part.origin(Metadata.LOG_ROW).to_numpy().tolist(),
                part.origin(Metadata.GTID).to_pylist(),
                *_origins(item.origins, statements, rows, part),
                map(_OPERATIONS.__getitem__, operations),
                repeat(item.table),
                before,
                after,
            ),
        )


def _origins(
    origins: RowOrigins | None, statements: Sequence[str | None] | None, rows: slice, part: TableBatch
) -> tuple[Iterable[Any], ...]:
    assert origins is not None
    assert statements is not None
    return (
        origins.times[rows].tolist(),
        part.origin(Metadata.SERVER_ID).to_numpy().tolist(),
        [None if thread == _NO_THREAD else thread for thread in origins.threads[rows].tolist()],
        map(statements.__getitem__, origins.statements[rows].tolist()),
    )


def _images(
    item: TableBatch, start: int, operations: Sequence[int]
) -> tuple[Iterable[Row | None], Iterable[Row | None]]:
    """Return the old and the new rows of consecutive changes, which a part of a batch has from `start` on."""
    kinds = set(operations)
    if kinds == {_TRUNCATE}:
        return repeat(None), repeat(None)
    columns = item.table.columns
    new_columns = [values_of(array, column) for array, column in zip(item.values, columns, strict=True)]
    for (row, index), diffs in item.diffs.items():
        if start <= row < start + len(operations):
            new_columns[index][row - start] = diffs
    new: list[Row | None] = list(zip(*new_columns, strict=True))
    old = new
    if _UPDATE in kinds:
        before = item.before.flatten()
        old = list(zip(*(values_of(array, column) for array, column in zip(before, columns, strict=True)), strict=True))
    if item.images is not None and not item.images.complete:
        numbers = item.images.numbers[start : start + len(operations)].tolist()
        # What a delete has is its old row, though it is in the columns of new ones.
        new = [_present(row, item.images.after[number]) for row, number in zip(new, numbers, strict=True)]
        old = [_present(row, item.images.before[number]) for row, number in zip(old, numbers, strict=True)]
    if kinds == {_INSERT}:
        return repeat(None), new
    if kinds == {_DELETE}:
        return new, repeat(None)
    return (
        [
            None if kind == _INSERT else was if kind == _UPDATE else now
            for kind, was, now in zip(operations, old, new, strict=True)
        ],
        [None if kind == _DELETE else now for kind, now in zip(operations, new, strict=True)],
    )


_INSERT, _UPDATE, _DELETE, _TRUNCATE = range(4)


def _present(row: Row | None, present: Any) -> Row:
    return tuple(value if is_present else ABSENT for value, is_present in zip(row or (), present, strict=True))


def values_of(array: pa.Array, column: Column) -> list[Any]:
    """Return the values of a column as the reference decodes them."""
    convert = _CONVERTERS.get(array.type.id)
    if convert is not None:
        return convert(array, column)
    if column.type in _FROM_TEXT:
        return _each(array.to_pylist(), partial(_FROM_TEXT[column.type], digits=column.scale))
    return _plain(array, column)


def _plain(array: pa.Array, _column: Column) -> list[Any]:
    if array.null_count or not pa.types.is_primitive(array.type):
        found: list[Any] = array.to_pylist()
        return found
    return list(array.to_numpy().tolist())


def _each(values: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _decimals(array: pa.Array, column: Column) -> list[Any]:
    return _each(array.cast(pa.string()).to_pylist(), Decimal if column.type == T.NEWDECIMAL else int)


def _durations(array: pa.Array, column: Column) -> list[Any]:
    return _each(_plain(array.cast(pa.int64()), column), partial(_time, digits=column.scale))


def _time(microseconds: int, digits: int) -> Time:
    return Time(microseconds, digits)


def _binaries(array: pa.Array, column: Column) -> list[Any]:
    values = array.to_pylist()
    return values if column.collation == BINARY_COLLATION else _each(values, _text_or_bytes)


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _lists(array: pa.Array, _column: Column) -> list[Any]:
    return _each(array.to_pylist(), tuple)


def _geometries(array: pa.Array, _column: Column) -> list[Any]:
    return _each(array.to_pylist(), lambda value: Geometry(value["srid"] & 0xFFFFFFFF, value["wkb"]))


_CONVERTERS: dict[int, Callable[[pa.Array, Column], list[Any]]] = {
    pa.decimal128(1).id: _decimals,
    pa.duration("us").id: _durations,
    pa.binary().id: _binaries,
    pa.list_(pa.string()).id: _lists,
    pa.struct([]).id: _geometries,
}


@lru_cache(maxsize=1 << 14)
def _date(text: str, digits: int = 0) -> Date:
    del digits
    return Date(int(text[:4]), int(text[5:7]), int(text[8:10]))


def _datetime(text: str, digits: int) -> DateTime:
    microsecond = int(text[20:].ljust(6, "0")) if digits else 0
    return DateTime(_date(text[:10]), int(text[11:13]), int(text[14:16]), int(text[17:19]), microsecond, digits)


def _timestamp(text: str, digits: int) -> Timestamp:
    if text.startswith("0000"):
        return Timestamp(0, 0, digits)
    moment = datetime.fromisoformat(text)
    seconds = (moment.toordinal() - _EPOCH_ORDINAL) * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second
    return Timestamp(seconds, moment.microsecond, digits)


_EPOCH_ORDINAL = datetime(1970, 1, 1).toordinal()

_FROM_TEXT: dict[int, Callable[..., Any]] = {
    T.NEWDECIMAL: lambda text, digits: Decimal(text),  # noqa: ARG005 (more digits than Arrow has)
    T.DECIMAL: lambda text, digits: Decimal(text),  # noqa: ARG005
    T.DATE: _date,
    T.NEWDATE: _date,
    T.DATETIME: _datetime,
    T.DATETIME2: _datetime,
    T.TIMESTAMP: _timestamp,
    T.TIMESTAMP2: _timestamp,
}
