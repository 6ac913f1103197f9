"""One row image: the values of one row before or after a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from binspark.values.column import Column
from binspark.values.decoders import decode_value
from binspark.values.options import DEFAULT_OPTIONS, ValueOptions
from binspark.values.value import ABSENT, Absent, Row, Value
from binspark.wire import Cursor
from binspark.wire.bitmap import bitmap_length, low_bits_first


def decode_row(
    cursor: Cursor, columns: Sequence[Column], present: bytes, options: ValueOptions = DEFAULT_OPTIONS
) -> Row:
    """Decode one row image; a column that it leaves out is ABSENT.

    `present` has a bit for each column of the table, the lowest of each byte first.
    """
    return read_image(cursor, columns, present, lambda _, column: decode_value(cursor, column, options))


def read_image(
    cursor: Cursor, columns: Sequence[Column], present: bytes, read_value: Callable[[int, Column], Value]
) -> Row:
    """Read a row image whose values `read_value` reads, given the index of a column and the column.

    bytes    field
    (p+7)/8  which of the p columns that are present are NULL, the lowest bit of each byte first
    ...      values of the columns that are present and not NULL
    """
    included = [index for index, bit in enumerate(low_bits_first(present, len(columns))) if bit]
    nulls = low_bits_first(cursor.raw("null_bits", bitmap_length(len(included))), len(included))
    row: list[Value | Absent] = [ABSENT] * len(columns)
    for index, is_null in zip(included, nulls, strict=True):
        cursor.enter(columns[index].name or f"@{index + 1}")
        row[index] = None if is_null else read_value(index, columns[index])
        cursor.leave()
    return tuple(row)
