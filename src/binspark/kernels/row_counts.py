"""How many rows a rows event has, and where: values are skipped, none is looked at."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load8, put
from binspark.kernels.rows import count_present, value_length

NO_PARTIAL_DOCUMENTS = -1
_SIZES_OF_COLUMN = 2


@kernel
def count_rows(sizes: int, count: int, first: int, second: int, at: int, end: int, documents: int) -> int:
    """Count the rows between two addresses; -1 if they do not end with a row.

    `sizes` is the address of two numbers for each of `count` columns: the bytes of its length field, and the size of a
    value that has none. `first` and `second` are the addresses of the bitmaps of columns in an image; only updates have
    two. `documents` is how many JSON columns a table has whose updates may be partial, or NO_PARTIAL_DOCUMENTS.
    """
    in_first = count_present(first, count)
    in_second = in_first if second == first else count_present(second, count)
    rows = 0
    while at < end:
        start = at
        at = skip_image(sizes, count, first, in_first, at, end)
        if at >= 0 and documents != NO_PARTIAL_DOCUMENTS:
            at = skip_options(at, end, documents)
        if at >= 0 and second != first:
            at = skip_image(sizes, count, second, in_second, at, end)
        if at < 0 or at == start:
            return -1
        rows += 1
    return rows


@kernel
def find_row_ends(sizes: int, count: int, first: int, second: int, at: int, end: int, ends: int) -> int:
    """Write where each of the rows that `count_rows` counts ends to an address, counted from the first one.

    Return how many there are, -1 if they do not end with a row.
    """
    in_first = count_present(first, count)
    in_second = in_first if second == first else count_present(second, count)
    start = at
    rows = 0
    while at < end:
        row = at
        at = skip_image(sizes, count, first, in_first, at, end)
        if at >= 0 and second != first:
            at = skip_image(sizes, count, second, in_second, at, end)
        if at < 0 or at == row:
            return -1
        put(ends, rows, at - start)
        rows += 1
    return rows


@kernel
def skip_options(at: int, end: int, documents: int) -> int:
    """Return the address after the value options of a partial update, -1 if they are invalid."""
    if at >= end or load8(at) > 1:
        return -1
    at += 1 + (((documents + 7) >> 3) if load8(at) else 0)
    return at if at <= end else -1


@kernel
def skip_image(sizes: int, count: int, present: int, in_image: int, at: int, end: int) -> int:
    """Return the address after a row image, -1 if it does not end before `end`."""
    nulls = at
    at += (in_image + 7) >> 3
    if at > end:
        return -1
    position = 0
    for index in range(count):
        if in_image != count and not load8(present + (index >> 3)) >> (index & 7) & 1:
            continue
        is_null = load8(nulls + (position >> 3)) >> (position & 7) & 1
        position += 1
        if is_null:
            continue
        length_bytes = get(sizes, _SIZES_OF_COLUMN * index)
        if length_bytes:
            if length_bytes > end - at:
                return -1
            length = value_length(at, length_bytes)
            at += length_bytes
        else:
            length = get(sizes, _SIZES_OF_COLUMN * index + 1)
        if length > end - at:
            return -1
        at += length
    return at
