"""Integers of all widths, and YEAR."""

from __future__ import annotations

from binspark.event.column_types import ColumnType as T
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.wire import Cursor

WIDTHS: dict[int, int] = {T.TINY: 1, T.SHORT: 2, T.INT24: 3, T.LONG: 4, T.LONGLONG: 8}
_FIRST_YEAR = 1900


def decode_integer(cursor: Cursor, column: Column, _options: ValueOptions) -> int:
    """Decode an integer: 1, 2, 3, 4 or 8 bytes, little-endian; signed unless the column is known to be unsigned."""
    width = WIDTHS[column.type]
    if column.unsigned:
        return cursor.uint("value", width)
    return to_signed(cursor.uint("value", width, lambda raw: str(to_signed(raw, width))), width)


def decode_year(cursor: Cursor, _column: Column, _options: ValueOptions) -> int:
    """Decode YEAR: one byte, 0 for the year 0000, else the years since 1900."""
    years = cursor.u8("value")
    return years + _FIRST_YEAR if years else 0


def to_signed(raw: int, width: int) -> int:
    """Return what an unsigned integer of `width` bytes is in two's complement."""
    return raw - (1 << 8 * width) if raw >> (8 * width - 1) else raw
