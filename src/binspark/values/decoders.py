"""The decoder of each column type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from binspark.errors import Unsupported
from binspark.event.column_types import ColumnType as T
from binspark.position import Position
from binspark.values.column import Column, check_column
from binspark.values.compressed import decode_compressed_blob, decode_compressed_varchar
from binspark.values.enum_set import decode_enum, decode_set
from binspark.values.geometry import decode_geometry, decode_vector
from binspark.values.json.column import decode_json
from binspark.values.numbers import (
    decode_bit,
    decode_decimal,
    decode_double,
    decode_float,
    decode_integer,
    decode_old_decimal,
    decode_year,
)
from binspark.values.options import DEFAULT_OPTIONS, ValueOptions
from binspark.values.strings import decode_blob, decode_string, decode_varchar
from binspark.values.temporal.old import decode_old_datetime, decode_old_time, decode_old_timestamp
from binspark.values.temporal.packed import decode_date, decode_datetime2, decode_time2, decode_timestamp2
from binspark.values.value import Value
from binspark.wire import Cursor

Decoder: TypeAlias = Callable[[Cursor, Column, ValueOptions], Value]
"""Reads one value that is not NULL. It reads all bytes before it checks any, so that too few are always `Truncated`."""


def decode_value(cursor: Cursor, column: Column, options: ValueOptions = DEFAULT_OPTIONS) -> Value:
    """Decode one value of a column that is not NULL."""
    check_column(column)
    return DECODERS[column.type](cursor, column, options)


def _decode_null(cursor: Cursor, column: Column, options: ValueOptions) -> None:
    """Decode a column of type NULL, which has no bytes."""


def _refuse(cursor: Cursor, column: Column, _options: ValueOptions) -> None:
    """Raise `Unsupported` for types that servers do not store in rows."""
    raise Unsupported(f"unsupported value of type {column.type.name}", Position(offset=cursor.offset))


DECODERS: dict[T, Decoder] = {
    T.DECIMAL: decode_old_decimal,
    T.TINY: decode_integer,
    T.SHORT: decode_integer,
    T.LONG: decode_integer,
    T.FLOAT: decode_float,
    T.DOUBLE: decode_double,
    T.NULL: _decode_null,
    T.TIMESTAMP: decode_old_timestamp,
    T.LONGLONG: decode_integer,
    T.INT24: decode_integer,
    T.DATE: decode_date,
    T.TIME: decode_old_time,
    T.DATETIME: decode_old_datetime,
    T.YEAR: decode_year,
    T.NEWDATE: decode_date,
    T.VARCHAR: decode_varchar,
    T.BIT: decode_bit,
    T.TIMESTAMP2: decode_timestamp2,
    T.DATETIME2: decode_datetime2,
    T.TIME2: decode_time2,
    T.TYPED_ARRAY: decode_json,
    T.BLOB_COMPRESSED: decode_compressed_blob,
    T.VARCHAR_COMPRESSED: decode_compressed_varchar,
    T.VECTOR: decode_vector,
    T.INVALID: _refuse,
    T.BOOL: _refuse,
    T.JSON: decode_json,
    T.NEWDECIMAL: decode_decimal,
    T.ENUM: decode_enum,
    T.SET: decode_set,
    T.TINY_BLOB: decode_blob,
    T.MEDIUM_BLOB: decode_blob,
    T.LONG_BLOB: decode_blob,
    T.BLOB: decode_blob,
    T.VAR_STRING: decode_varchar,
    T.STRING: decode_string,
    T.GEOMETRY: decode_geometry,
}
