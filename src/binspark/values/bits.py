"""BIT."""

from __future__ import annotations

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.wire import Cursor
from binspark.wire.bitmap import bitmap_length


def decode_bit(cursor: Cursor, column: Column, _options: ValueOptions) -> int:
    """Decode BIT(n): n bits as a big-endian number in as many bytes as they need."""
    start = cursor.offset
    value = cursor.uint_be("value", bitmap_length(column.length))
    if value >> column.length:
        raise Malformed(f"0x{value:x} has more than {column.length} bits", Position(offset=start))
    return value
