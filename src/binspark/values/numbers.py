"""Numbers: integers, YEAR, FLOAT, DOUBLE, BIT and DECIMAL."""

from __future__ import annotations

import re
from decimal import Decimal

from binspark.errors import Malformed, Unsupported
from binspark.event.column_types import ColumnType as T
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.wire import Cursor, Layout
from binspark.wire.bitmap import bitmap_length
from binspark.wire.decimals import decode_packed_decimal, packed_decimal_length

WIDTHS: dict[int, int] = {T.TINY: 1, T.SHORT: 2, T.INT24: 3, T.LONG: 4, T.LONGLONG: 8}
_FIRST_YEAR = 1900


def decode_integer(cursor: Cursor, column: Column, _options: ValueOptions) -> int:
    """Decode an integer: 1, 2, 3, 4 or 8 bytes, little-endian; signed unless the column is known to be unsigned."""
    width = WIDTHS[column.type]
    if column.unsigned:
        return cursor.uint("value", width)
    return to_signed(cursor.uint("value", width, lambda raw: str(to_signed(raw, width))), width)


def decode_year(cursor: Cursor, _column: Column, _options: ValueOptions) -> int:
    """Decode YEAR: one byte, 0 for the year 0000, else years since 1900."""
    years = cursor.u8("value")
    return years + _FIRST_YEAR if years else 0


def to_signed(raw: int, width: int) -> int:
    """Return the two's complement value of an unsigned integer of `width` bytes."""
    return raw - (1 << 8 * width) if raw >> (8 * width - 1) else raw


_FLOAT = Layout(("value", "f"))
_DOUBLE = Layout(("value", "d"))


def decode_float(cursor: Cursor, _column: Column, _options: ValueOptions) -> float:
    """Decode FLOAT: four bytes, IEEE 754, little-endian. The value is exact; `shortest_float` rounds it."""
    value: float = cursor.fields(_FLOAT)[0]
    return value


def decode_double(cursor: Cursor, _column: Column, _options: ValueOptions) -> float:
    """Decode DOUBLE: eight bytes, IEEE 754, little-endian."""
    value: float = cursor.fields(_DOUBLE)[0]
    return value


def decode_bit(cursor: Cursor, column: Column, _options: ValueOptions) -> int:
    """Decode BIT(n): a big-endian number in (n+7)/8 bytes."""
    start = cursor.offset
    value = cursor.uint_be("value", bitmap_length(column.length))
    if value >> column.length:
        raise Malformed(f"BIT value 0x{value:x} has more than {column.length} bits", Position(offset=start))
    return value


_OLD_DECIMAL = re.compile(rb" *([+-]?[0-9]+(?:\.[0-9]+)?|[+-]?\.[0-9]+) *")


def decode_decimal(cursor: Cursor, column: Column, _options: ValueOptions) -> Decimal:
    """Decode DECIMAL(precision, scale) in its packed format (see `binspark.wire.decimals`). The scale is kept.

    A negative zero, which only very old servers may have stored, becomes zero.
    """
    start = cursor.offset
    packed = cursor.raw("value", packed_decimal_length(column.precision, column.scale))
    try:
        value = decode_packed_decimal(packed, column.precision, column.scale)
    except Malformed as error:
        raise error.at(Position(offset=start)) from None
    return value or value.copy_abs()


def decode_old_decimal(cursor: Cursor, column: Column, _options: ValueOptions) -> Decimal:
    """Decode the DECIMAL of tables created before 5.0.3: ASCII digits, padded with spaces to the width of the column.

    The log does not contain the width. A schema does: it is `Column.length`.
    """
    if not column.length:
        raise Unsupported(
            "the width of a DECIMAL column of a table created before 5.0.3 is not in the log; a table schema is needed",
            Position(offset=cursor.offset),
        )
    start = cursor.offset
    raw = cursor.raw("value", column.length)
    match = _OLD_DECIMAL.fullmatch(raw)
    if match is None:
        raise Malformed(f"value 0x{raw.hex()} is not a decimal number in ASCII", Position(offset=start))
    value = Decimal(match[1].decode())
    return value or value.copy_abs()
