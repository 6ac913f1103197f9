"""Rows events of transactions that are cut, of which a condition selects rows."""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.cut.layout import Cut
from binspark.kernels.known_maps import KnownMap
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import copy_bytes, get, load16, put, store32
from binspark.kernels.row_counts import skip_image
from binspark.kernels.rows import count_present
from binspark.kernels.rows_head import packed_count

_ROWS_V2, _UPDATES = int(E.WRITE_ROWS), (int(E.UPDATE_ROWS_V1), int(E.UPDATE_ROWS))
_POST_HEADER = 8


@kernel
def copy_rows(state: int, entry: int, kind: int, at: int, end: int, out: int) -> int:
    """Copy a rows event with the rows that are selected, with room for its checksum; return its size.

    0 if none is selected, -1 if it is for Python. `entry` has the TABLE_MAP of its table; what comes before its rows is
    as usual.
    """
    offset = at + get(state, Cut.ORIGIN)
    if offset >= get(state, Cut.SELECTED_LIMIT):
        return -1
    positions, numbers, count = (
        get(state, Cut.SELECTED),
        get(state, Cut.SELECTED_NUMBERS),
        get(state, Cut.SELECTED_COUNT),
    )
    selected = get(state, Cut.SELECTED_NEXT)
    while selected < count and get(positions, selected) < offset:
        selected += 1
    put(state, Cut.SELECTED_NEXT, selected)
    if selected == count or get(positions, selected) != offset:
        return 0
    sizes = get(entry, KnownMap.SIZES)
    start = at + Header.LENGTH + _POST_HEADER
    if kind >= _ROWS_V2:
        start += load16(start)
    columns, first = packed_count(start, end)
    if sizes == 0 or columns != get(entry, KnownMap.COLUMNS):
        return -1
    second = first + (((columns + 7) >> 3) if kind in _UPDATES else 0)
    row = second + ((columns + 7) >> 3)
    in_first, in_second = count_present(first, columns), count_present(second, columns)
    copy_bytes(out, at, row - at)
    copied = row - at
    head = copied
    number = 0
    while row < end:
        after = skip_image(sizes, columns, first, in_first, row, end)
        if after >= 0 and second != first:
            after = skip_image(sizes, columns, second, in_second, after, end)
        if after < 0 or after == row:
            return -1
        if selected < count and get(positions, selected) == offset and get(numbers, selected) == number:
            copy_bytes(out + copied, row, after - row)
            copied += after - row
            selected += 1
        row = after
        number += 1
    if selected < count and get(positions, selected) == offset:
        return -1
    put(state, Cut.SELECTED_NEXT, selected)
    if copied == head:
        return 0
    copied += CHECKSUM_LENGTH * get(state, Cut.CHECKSUM)
    store32(out + Header.EVENT_SIZE, copied)
    return copied
