"""Columns whose values are decoded without any loss, so that they can be written into a server again.

Text is the bytes of the log, in the character set of its column; an ENUM or SET is its number; a VECTOR and a GEOMETRY
are the bytes that the server stores. JSON documents are bytes if `ValueOptions.raw_documents` is set.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from binspark.event.column_types import ColumnType as T
from binspark.values.column import BINARY_COLLATION, Column

_MEMBERS = (T.ENUM, T.SET)
_STORED = (T.VECTOR, T.GEOMETRY)


@lru_cache(maxsize=256)
def exact_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return columns of the same layout whose values are exact."""
    return tuple(map(_exact, columns))


def _exact(column: Column) -> Column:
    if column.type in _MEMBERS:
        return replace(column, members=None)
    if column.type in _STORED:
        return replace(column, type=T.BLOB, collation=BINARY_COLLATION)
    if column.type is T.STRING and column.collation != BINARY_COLLATION:
        return replace(column, type=T.VARCHAR, collation=BINARY_COLLATION)  # a BINARY would be padded
    return replace(column, collation=BINARY_COLLATION, notation=None)
