"""Row images into columns."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Column
from binspark.kernels.memory import get, load8, load16, load32, put, store8
from binspark.kernels.values import DONE, NULL, REFUSED, set_null, store_value

_ROW = 8 * int(Column.WIDTH)


@kernel
def value_length(source: int, length_bytes: int) -> int:
    """Read the length field before a value."""
    if length_bytes == 1:
        return load8(source)
    if length_bytes == 2:
        return load16(source)
    if length_bytes == 3:
        return load16(source) | load8(source + 2) << 16
    return load32(source)


@kernel
def count_present(present: int, count: int) -> int:
    """Return how many of the columns are in the images of an event."""
    total = 0
    for index in range(count):
        total += load8(present + (index >> 3)) >> (index & 7) & 1
    return total


@kernel
def decode_image(
    columns: int,
    first: int,
    plan: int,
    count: int,
    row: int,
    at: int,
    end: int,
    present: int,
    in_image: int,
    keep: bool,
) -> tuple[int, int]:
    """Decode one row image at address `at` into columns from `first` on; return where it ends, and an outcome.

    `plan` is the first column of the table, which knows how values are laid out. `present` is the address of the bitmap
    of columns that the image holds, `in_image` their number; a column that it does not hold becomes NULL. Without
    `keep` the values are stepped over.
    """
    nulls = at
    at += (in_image + 7) >> 3
    if at > end:
        return at, REFUSED
    position = 0
    for index in range(count):
        column = columns + _ROW * (first + index)
        wanted = keep and get(column, Column.OP) != 0
        if in_image != count and not load8(present + (index >> 3)) >> (index & 7) & 1:
            if wanted:
                set_null(column, row)
            continue
        is_null = load8(nulls + (position >> 3)) >> (position & 7) & 1
        position += 1
        if is_null:
            if wanted:
                set_null(column, row)
            continue
        length_bytes = get(columns + _ROW * (plan + index), Column.LENGTH_BYTES)
        if length_bytes:
            if length_bytes > end - at:
                return at, REFUSED
            length = value_length(at, length_bytes)
            at += length_bytes
        else:
            length = get(columns + _ROW * (plan + index), Column.FIXED_SIZE)
        if length > end - at:
            return at, REFUSED
        if wanted:
            outcome = store_value(column, row, at, length)
            if outcome != DONE:
                if outcome != NULL:
                    return at, outcome
                set_null(column, row)
        at += length
    return at, DONE


@kernel
def null_image(columns: int, first: int, count: int, row: int) -> None:
    """Write NULL into all columns of an image that an event does not have."""
    for index in range(count):
        column = columns + _ROW * (first + index)
        if get(column, Column.OP):
            set_null(column, row)


@kernel
def forget_row(columns: int, first: int, count: int, row: int) -> None:
    """Undo what was written of a row that did not fit."""
    for index in range(count):
        column = columns + _ROW * (first + index)
        if get(column, Column.OP) == 0:
            continue
        byte = get(column, Column.VALIDITY) + (row >> 3)
        bit = 1 << (row & 7)
        held = load8(byte)
        if not held & bit:
            store8(byte, held | bit)
            put(column, Column.NULLS, get(column, Column.NULLS) - 1)
        if get(column, Column.OFFSETS):
            rewind(column, row)


@kernel
def rewind(column: int, row: int) -> None:
    """Set a column of variable size back to where a row began."""
    before = load32(get(column, Column.OFFSETS) + 4 * row)
    if not get(column, Column.ITEM_CAPACITY):
        put(column, Column.DATA_USED, before)
        return
    put(column, Column.ITEMS, before)
    if get(column, Column.ITEM_OFFSETS):
        put(column, Column.DATA_USED, load32(get(column, Column.ITEM_OFFSETS) + 4 * before))
    else:
        put(column, Column.DATA_USED, 4 * before)
