"""DECIMAL: the packed form, and the text of tables made before 5.0.3."""

from __future__ import annotations

import re
from decimal import Decimal

from binspark.errors import Malformed, Unsupported
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.wire import Cursor
from binspark.wire.decimals import decode_packed_decimal, packed_decimal_length

_OLD_DECIMAL = re.compile(rb" *([+-]?[0-9]+(?:\.[0-9]+)?|[+-]?\.[0-9]+) *")


def decode_decimal(cursor: Cursor, column: Column, _options: ValueOptions) -> Decimal:
    """Decode DECIMAL(precision, scale) in its packed form (see `binspark.wire.decimals`). The scale is kept.

    A negative zero, which only very old servers may have stored, equals zero and becomes zero.
    """
    start = cursor.offset
    packed = cursor.raw("value", packed_decimal_length(column.precision, column.scale))
    try:
        value = decode_packed_decimal(packed, column.precision, column.scale)
    except Malformed as error:
        raise error.at(Position(offset=start)) from None
    return value or value.copy_abs()


def decode_old_decimal(cursor: Cursor, column: Column, _options: ValueOptions) -> Decimal:
    """Decode the DECIMAL of tables made before 5.0.3: ASCII digits, padded with spaces to the column's width.

    The log does not carry the width, only a schema does: as `Column.length`.
    """
    if not column.length:
        raise Unsupported(
            "the log does not tell the width of a DECIMAL column of a table made before 5.0.3",
            Position(offset=cursor.offset),
        )
    start = cursor.offset
    raw = cursor.raw("value", column.length)
    match = _OLD_DECIMAL.fullmatch(raw)
    if match is None:
        raise Malformed(f"0x{raw.hex()} is not a decimal number in ASCII", Position(offset=start))
    value = Decimal(match[1].decode())
    return value or value.copy_abs()
