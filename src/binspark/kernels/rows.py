"""Rows events into columns: each row is one or two images, and each image the values of some columns."""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode
from binspark.kernels.compiler import kernel
from binspark.kernels.events import body_end, is_selected, offset_of
from binspark.kernels.layout import BY_PYTHON, Column, Header, Operation, State, Stop, Table, TableIds
from binspark.kernels.memory import get, load8, load16, load32, put, store8, store32, store64
from binspark.kernels.rows_head import packed_count
from binspark.kernels.table_maps import find_table_id, table_id_at
from binspark.kernels.values import DONE, FULL, NULL, REFUSED, set_null, store_value

_UPDATE = int(Operation.UPDATE)
_ROWS_V1, _ROWS_V2 = int(EventCode.WRITE_ROWS_V1), int(EventCode.WRITE_ROWS)
_ROW = 8 * int(Column.WIDTH)


@kernel
def decode_rows_event(
    state: np.ndarray, tables: np.ndarray, columns: int, table_ids: np.ndarray, kind: int, at: int, size: int
) -> int:
    """Decode the rows of an event, or skip them. Inside a payload all rows are counted, selected or not."""
    body = at + Header.LENGTH
    end = body_end(state, at, size)
    is_version_2 = kind >= _ROWS_V2
    operation = kind - _ROWS_V2 if is_version_2 else kind - _ROWS_V1
    start = body + (10 if is_version_2 else 8)
    if start > end:
        return Stop.REFUSED
    entry = find_table_id(table_ids, table_id_at(body))
    if table_ids[entry, TableIds.ID] == -1:
        return Stop.PYTHON
    slot = table_ids[entry, TableIds.TABLE]
    selected = is_selected(state, at)
    counted = state[State.COUNT_ALL] != 0 or state[State.INNER] == 1
    if slot == BY_PYTHON:
        return Stop.PYTHON if selected or counted else 0
    if slot < 0:
        return Stop.PYTHON if counted else 0
    if not counted and not (selected and tables[slot, Table.WANTED]):
        return 0
    if is_version_2:
        extra = load16(body + 8)
        start += extra - 2
        if extra < 2 or start > end:
            return Stop.REFUSED
    count, start = packed_count(start, end)
    table = tables[slot]
    if count != table[Table.COLUMN_COUNT]:
        return Stop.REFUSED
    bitmap = (count + 7) >> 3
    first_image, second_image = start, start
    start += bitmap
    if operation == _UPDATE:
        second_image = start
        start += bitmap
    if start > end:
        return Stop.REFUSED
    if state[State.ROW_AT] == 0:
        keeps_image = state[State.KEEP_IMAGES] and table[Table.WANTED]
        if keeps_image and not is_known_image(table, operation, first_image, start):
            return Stop.IMAGE
        state[State.ROW_AT] = start
        state[State.ROW_NUMBER] = 0
        state[State.DECODED] += size
        table[Table.BYTES + operation] += size
    return decode_rows(state, table, slot, columns, operation, at, end, first_image, second_image, selected)


@kernel
def is_known_image(table: np.ndarray, operation: int, bitmaps: int, end: int) -> bool:
    """Return whether an event's row images have the same columns as those of the last event of the operation."""
    known = table[Table.IMAGE_BITS + operation]
    if known == 0:
        return False
    offset = 0
    while bitmaps + offset < end and load8(known + offset) == load8(bitmaps + offset):
        offset += 1
    return bitmaps + offset == end


@kernel
def decode_rows(
    state: np.ndarray,
    table: np.ndarray,
    slot: int,
    columns: int,
    operation: int,
    at: int,
    end: int,
    first_image: int,
    second_image: int,
    selected: bool,
) -> int:
    """Decode the rows of an event from the next one on, whose address is in the state.

    `first_image` and `second_image` are the addresses of the bitmaps of columns in an image; only updates have two.
    """
    wanted = selected and table[Table.WANTED] != 0 and (table[Table.OPS] >> operation & 1) != 0
    count = table[Table.COLUMN_COUNT]
    first = table[Table.FIRST_COLUMN]
    old_first = first + count + table[Table.OLD_FIRST]
    old_count = table[Table.OLD_END] - table[Table.OLD_FIRST]
    before = wanted and old_count > 0
    in_first = count_present(first_image, count)
    in_second = in_first if second_image == first_image else count_present(second_image, count)
    if wanted and in_second != count:
        table[Table.PARTIAL] = 1
    row_at = state[State.ROW_AT]
    while row_at < end:
        row = table[Table.ROWS]
        if wanted and row >= table[Table.ROW_CAPACITY]:
            return full(state, slot, row_at)
        row_start = row_at
        outcome = DONE
        if operation == _UPDATE:
            row_at, outcome = decode_image(
                columns, first + count, first, count, row, row_at, end, first_image, in_first, before
            )
        elif before:
            null_image(columns, old_first, old_count, row, table[Table.BEFORE] != 0)
        if outcome == DONE:
            row_at, outcome = decode_image(
                columns, first, first, count, row, row_at, end, second_image, in_second, wanted
            )
        if outcome != DONE or row_at == row_start:
            if wanted:
                forget_row(columns, first, count, row)
            if before:
                forget_row(columns, old_first, old_count, row)
            return full(state, slot, row_start) if outcome == FULL else Stop.REFUSED
        if wanted:
            keep_metadata(state, table, row, operation, at)
            if state[State.KEEP_IMAGES]:
                store32(table[Table.META_IMAGE] + 4 * row, table[Table.IMAGE + operation])
            table[Table.ROWS] = row + 1
            state[State.ROWS] += 1
        state[State.ROW_NUMBER] += 1
        state[State.TX_ROW] += 1
        state[State.PAYLOAD_ROW] += 1
    if wanted and table[Table.CHECK]:
        state[State.TABLE] = slot
        state[State.ROW_AT] = end
        return Stop.CHECK
    state[State.ROW_AT] = 0
    return 0


@kernel
def full(state: np.ndarray, slot: int, row_at: int) -> int:
    """Note which table has no room, and for which row."""
    state[State.TABLE] = slot
    state[State.ROW_AT] = row_at
    return Stop.FULL


@kernel
def keep_metadata(state: np.ndarray, table: np.ndarray, row: int, operation: int, at: int) -> None:
    """Keep where a row comes from. Rows inside a payload are numbered throughout the payload."""
    number = state[State.PAYLOAD_ROW] if state[State.INNER] == 1 else state[State.ROW_NUMBER]
    store64(table[Table.META_EVENT] + 8 * row, offset_of(state, at))
    store32(table[Table.META_ROW] + 4 * row, number)
    store32(table[Table.META_TRANSACTION] + 4 * row, state[State.TRANSACTION])
    store8(table[Table.META_OP] + row, operation)
    store64(table[Table.META_SERVER] + 8 * row, load32(at + Header.SERVER_ID))
    store64(table[Table.META_TX_ROW] + 8 * row, state[State.TX_ROW])
    if state[State.KEEP_ORIGINS]:
        store32(table[Table.META_TIME] + 4 * row, load32(at + Header.TIMESTAMP))
        store32(table[Table.META_THREAD] + 4 * row, state[State.THREAD])
        store32(table[Table.META_STATEMENT] + 4 * row, state[State.ROWS_QUERY])


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
    """Count the columns that are in the images of an event."""
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
    """Decode the row image at address `at` into columns from `first` on; return the address after it, and an outcome.

    `plan` is the first column of the table, which says how values are laid out. `present` is the address of the bitmap
    of columns that are in the image, `in_image` their count; a column that is not in it becomes NULL. Without `keep`
    the values are skipped.
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
def null_image(columns: int, first: int, count: int, row: int, complete: bool) -> None:
    """Write NULL into columns of an image that an event does not have. If only the key is kept, nobody reads it."""
    for index in range(count):
        column = columns + _ROW * (first + index)
        if get(column, Column.OP) and (complete or get(column, Column.OFFSETS)):
            set_null(column, row)


@kernel
def forget_row(columns: int, first: int, count: int, row: int) -> None:
    """Undo what was written of a row for which there was no room."""
    for index in range(count):
        column = columns + _ROW * (first + index)
        if get(column, Column.OP) == 0:
            continue
        byte = get(column, Column.VALIDITY) + (row >> 3)
        bit = 1 << (row & 7)
        validity = load8(byte)
        if not validity & bit:
            store8(byte, validity | bit)
            put(column, Column.NULLS, get(column, Column.NULLS) - 1)
        if get(column, Column.OFFSETS):
            rewind(column, row)


@kernel
def rewind(column: int, row: int) -> None:
    """Set a column of variable size back to the start of a row."""
    before = load32(get(column, Column.OFFSETS) + 4 * row)
    if not get(column, Column.ITEM_CAPACITY):
        put(column, Column.DATA_USED, before)
        return
    put(column, Column.ITEMS, before)
    if get(column, Column.ITEM_OFFSETS):
        put(column, Column.DATA_USED, load32(get(column, Column.ITEM_OFFSETS) + 4 * before))
    else:
        put(column, Column.DATA_USED, 4 * before)
