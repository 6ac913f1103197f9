"""ENUM and SET: numbers of the members of the column."""

from __future__ import annotations

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.wire import Cursor


def decode_enum(cursor: Cursor, column: Column, _options: ValueOptions) -> str | int:
    """Decode ENUM: the number of the member, from 1, in 1 or 2 bytes; 0 is the empty text that replaces invalid values.

    If the members are not known, the number is returned.
    """
    start = cursor.offset
    number = cursor.uint("value", column.length)
    if column.members is None:
        return number
    if number > len(column.members):
        raise Malformed(
            f"ENUM value is {number}, but the column has {len(column.members)} members", Position(offset=start)
        )
    return column.members[number - 1] if number else ""


def decode_set(cursor: Cursor, column: Column, _options: ValueOptions) -> tuple[str, ...] | int:
    """Decode SET: a bit for each member, the lowest for the first, in 1, 2, 3, 4 or 8 bytes.

    If the members are not known, the number is returned.
    """
    start = cursor.offset
    bits = cursor.uint("value", column.length)
    if column.members is None:
        return bits
    if bits >> len(column.members):
        raise Malformed(
            f"SET value is 0x{bits:x}, but the column has {len(column.members)} members", Position(offset=start)
        )
    return tuple(member for index, member in enumerate(column.members) if bits >> index & 1)
