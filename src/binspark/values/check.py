"""Which columns there can be: a decoder relies on it, so a column that nobody could have made is refused first."""

from __future__ import annotations

from functools import lru_cache

from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import column_type_name
from binspark.values.column import Column
from binspark.wire.decimals import MAX_PRECISION, MAX_SCALE

_LENGTHS: dict[int, range | tuple[int, ...]] = {
    T.BIT: range(1, 65),
    T.ENUM: (1, 2),
    T.SET: (1, 2, 3, 4, 8),
    T.DECIMAL: range(256),
    T.STRING: range(1024),
    T.VARCHAR: range(1 << 16),
    T.VAR_STRING: range(1 << 16),
    T.VARCHAR_COMPRESSED: range(1 << 16),
    **dict.fromkeys(
        (T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.BLOB_COMPRESSED, T.JSON, T.GEOMETRY, T.VECTOR), range(1, 5)
    ),
}
_WITH_FRACTION = frozenset((T.TIME, T.DATETIME, T.TIMESTAMP, T.TIME2, T.DATETIME2, T.TIMESTAMP2))
_MAX_FRACTION = 6


@lru_cache(maxsize=4096)
def check_column(column: Column) -> None:
    """Refuse a column whose description fits no type of any server."""
    if column.type not in T._value2member_map_:
        raise SchemaError(f"{column_type_name(column.type)} is not a type of column")
    if column.type in _LENGTHS and column.length not in _LENGTHS[column.type]:
        raise SchemaError(f"a column of type {column_type_name(column.type)} with a length of {column.length}")
    if column.type in _WITH_FRACTION and not 0 <= column.scale <= _MAX_FRACTION:
        raise SchemaError(f"a time with {column.scale} digits of a fraction")
    if column.type == T.NEWDECIMAL and not _is_decimal(column.precision, column.scale):
        raise SchemaError(f"DECIMAL({column.precision},{column.scale})")


def _is_decimal(precision: int, scale: int) -> bool:
    return 1 <= precision <= MAX_PRECISION and 0 <= scale <= min(precision, MAX_SCALE)
