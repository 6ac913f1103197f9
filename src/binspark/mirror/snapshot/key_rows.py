"""Keys in the types of the target, as SQL literals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from binspark.event.column_types import ColumnType as T
from binspark.mirror.snapshot.select import Literals
from binspark.values.charsets import charset_of, encode_text
from binspark.values.column import BINARY_COLLATION, Column

_ZERO = {T.DATE: "'0000-00-00'", T.NEWDATE: "'0000-00-00'"}
_ZERO_MOMENT = "'0000-00-00 00:00:00'"
_MOMENTS = (T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2)
_TEXTS = (T.STRING, T.VARCHAR, T.VAR_STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB)


def key_literals(columns: Sequence[Column], keys: pa.Table | pa.RecordBatch) -> list[Literals]:
    """Return keys as SQL literals; they have the columns of the key, by their names."""
    parts = [_literals_of(column, keys.column(column.name).to_pylist()) for column in columns]
    return list(zip(*parts, strict=True))


def _literals_of(column: Column, values: list[Any]) -> list[str]:
    writer = _writer(column)
    return [_zero(column) if value is None else writer(value) for value in values]


def _zero(column: Column) -> str:
    """Return the value of a key's column that is NULL in the target: a date that is not in the calendar."""
    return _ZERO_MOMENT if column.type in _MOMENTS else _ZERO.get(column.type, "NULL")


def _writer(column: Column) -> Callable[[Any], str]:
    if column.type in _TEXTS and column.notation is None:
        return lambda value: _text(column, value)
    if column.type == T.ENUM and column.members is not None:
        numbers = {member: str(number) for number, member in reversed(list(enumerate(column.members, 1)))}
        return lambda value: numbers.get(value, "0")
    if column.type == T.SET and column.members is not None:
        bits = {member: 1 << number for number, member in enumerate(column.members)}
        return lambda value: str(sum(bits[member] for member in value))
    return _WRITERS.get(column.type, _quoted)


def _text(column: Column, value: str | bytes) -> str:
    if column.collation is None or column.collation == BINARY_COLLATION:
        raw = value.encode() if isinstance(value, str) else value
        return f"X'{raw.hex()}'"
    raw = encode_text(value, column.collation) if isinstance(value, str) else value
    return f"_{charset_of(column.collation)} X'{raw.hex()}'"


def _quoted(value: Any) -> str:
    return "'" + str(value).replace("\\", "\\\\").replace("'", "''") + "'"


def _moment(value: datetime | str) -> str:
    return f"'{value}'" if isinstance(value, str) else f"'{value.replace(tzinfo=None).isoformat(' ')}'"


def _year(value: int) -> str:
    return f"'{value:04d}'"


_WRITERS: dict[int, Callable[[Any], str]] = {
    **dict.fromkeys((T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.BIT), str),
    **dict.fromkeys((T.FLOAT, T.DOUBLE), lambda value: f"{value!r}e0" if "e" not in repr(value) else repr(value)),
    **dict.fromkeys(_MOMENTS, _moment),
    T.NEWDECIMAL: lambda value: str(value) if isinstance(value, str) else f"{value:f}",
    T.YEAR: _year,
}
