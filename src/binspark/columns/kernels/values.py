"""One value into its column. The bytes of the value were found and checked by the caller."""

from __future__ import annotations

import numpy as np
from numba import njit

from binspark.columns.kernels.decimals import store_decimal
from binspark.columns.kernels.json_strings import NO_ROOM
from binspark.columns.kernels.memory import (
    call_writer,
    load8,
    load8s,
    load16,
    load32,
    load64,
    load_big_endian,
    store8,
    store16,
    store32,
    store64,
)
from binspark.columns.kernels.temporal import (
    ODD,
    WRONG,
    date_days,
    datetime_microseconds,
    old_datetime_microseconds,
    old_time_microseconds,
    old_timestamp_microseconds,
    time_microseconds,
    timestamp_microseconds,
)
from binspark.columns.kernels.text import copy_short, copy_through_table, copy_utf8
from binspark.columns.layout import Column, Op

DONE, REFUSED, FULL, NULL = 0, 1, 2, 3
_SLACK = 16
_SRID_BYTES = 4
_MAX_OFFSET = 0x7FFFFFFF


@njit(cache=True, nogil=True)
def set_null(column: np.ndarray, row: int) -> None:
    """Mark the value of a row as NULL."""
    byte = column[Column.VALIDITY] + (row >> 3)
    store8(byte, load8(byte) & ~(1 << (row & 7)))
    column[Column.NULLS] += 1
    if column[Column.OFFSETS]:
        used = column[Column.ITEMS] if column[Column.ITEM_CAPACITY] else column[Column.DATA_USED]
        store32(column[Column.OFFSETS] + 4 * (row + 1), used)


@njit(cache=True, nogil=True)
def store_value(column: np.ndarray, row: int, source: int, length: int) -> int:
    """Decode the bytes of one value into its column."""
    op = column[Column.OP]
    values = column[Column.VALUES]
    if op == Op.SKIP:
        return DONE
    if op >= Op.BINARY:
        return store_variable(column, op, row, source, length)
    if op == Op.INT32:
        store32(values + 4 * row, load32(source))
    elif op == Op.INT64:
        store64(values + 8 * row, load64(source))
    elif op == Op.INT8:
        store8(values + row, load8(source))
    elif op == Op.UINT8:
        store16(values + 2 * row, load8(source))
    elif op == Op.INT16:
        store16(values + 2 * row, load16(source))
    elif op == Op.UINT16:
        store32(values + 4 * row, load16(source))
    elif op == Op.INT24:
        store32(values + 4 * row, load16(source) | load8s(source + 2) << 16)
    elif op == Op.UINT24:
        store32(values + 4 * row, load16(source) | load8(source + 2) << 16)
    elif op == Op.UINT32:
        store64(values + 8 * row, load32(source))
    elif op == Op.UINT64:
        store64(values + 16 * row, load64(source))
        store64(values + 16 * row + 8, 0)
    elif op == Op.DECIMAL:
        if not store_decimal(values + 16 * row, source, column[Column.P1], column[Column.P2]):
            return REFUSED
    elif op == Op.YEAR:
        year = load8(source)
        store16(values + 2 * row, year + 1900 if year else 0)
    elif op == Op.BIT:
        number = bits(source, length)
        if number >> column[Column.P1]:
            return REFUSED
        store64(values + 8 * row, number)
    elif op == Op.BIT64:
        store64(values + 16 * row, bits(source, length))
        store64(values + 16 * row + 8, 0)
    else:
        return store_temporal(column, op, row, source)
    return DONE


@njit(cache=True, nogil=True)
def bits(source: int, length: int) -> int:
    """Read BIT: big-endian, up to eight bytes."""
    return load_big_endian(source, length)


@njit(cache=True, nogil=True)
def store_temporal(column: np.ndarray, op: int, row: int, source: int) -> int:
    digits = column[Column.P1]
    old = column[Column.P2]
    if op == Op.TIME:
        moment = old_time_microseconds(source) if old else time_microseconds(source, digits)
    elif op == Op.DATE:
        moment = date_days(source)
    elif op == Op.DATETIME:
        moment = old_datetime_microseconds(source) if old else datetime_microseconds(source, digits)
    else:
        moment = old_timestamp_microseconds(source) if old else timestamp_microseconds(source, digits)
    if moment == WRONG:
        return REFUSED
    if moment == ODD:
        return REFUSED if column[Column.ON_ODD_DATE] else NULL
    if op == Op.DATE:
        store32(column[Column.VALUES] + 4 * row, moment)
    else:
        store64(column[Column.VALUES] + 8 * row, moment)
    return DONE


@njit(cache=True, nogil=True)
def store_variable(column: np.ndarray, op: int, row: int, source: int, length: int) -> int:
    if length > column[Column.MAX_LENGTH]:
        return REFUSED
    used = column[Column.DATA_USED]
    room = column[Column.DATA_CAPACITY] - used - _SLACK
    target = column[Column.DATA] + used
    if op == Op.TEXT_UTF8:
        if length > room:
            return FULL
        if not copy_utf8(target, source, length, column[Column.P2]):
            return REFUSED
        used += length
    elif op == Op.JSON:
        written = call_writer(column[Column.AUX], target, room, source, length)
        if written < 0:
            return FULL if written == NO_ROOM else REFUSED
        used += written
    elif op == Op.BINARY:
        if length > room:
            return FULL
        copy_short(target, source, length)
        used += length
    elif op == Op.TEXT_TABLE:
        if 3 * length > room:
            return FULL
        written = copy_through_table(target, source, length, column[Column.AUX])
        if written < 0:
            return REFUSED
        used += written
    elif op == Op.FIXED_BINARY:
        size = column[Column.P1]
        if max(length, size) > room:
            return FULL
        copy_short(target, source, length)
        for at in range(length, size):
            store8(target + at, 0)
        used += max(length, size)
    elif op == Op.ENUM:
        return store_enum(column, row, source, length)
    elif op == Op.GEOMETRY:
        if 0 < length < _SRID_BYTES:
            return REFUSED
        if length > room:
            return FULL
        store32(column[Column.VALUES] + 4 * row, load32(source) if length else 0)
        if length:
            copy_short(target, source + _SRID_BYTES, length - _SRID_BYTES)
            used += length - _SRID_BYTES
    elif op == Op.VECTOR:
        if length & 3:
            return REFUSED
        if length > room:
            return FULL
        copy_short(target, source, length)
        column[Column.DATA_USED] = used + length
        column[Column.ITEMS] += length >> 2
        store32(column[Column.OFFSETS] + 4 * (row + 1), column[Column.ITEMS])
        return DONE
    else:
        return store_set(column, row, source, length)
    if used > _MAX_OFFSET:
        return FULL
    column[Column.DATA_USED] = used
    store32(column[Column.OFFSETS] + 4 * (row + 1), used)
    return DONE


@njit(cache=True, nogil=True)
def number_of(source: int, length: int) -> int:
    """Read a little-endian unsigned integer of up to eight bytes."""
    value = 0
    for at in range(length):
        value |= load8(source + at) << 8 * at
    return value


@njit(cache=True, nogil=True)
def store_enum(column: np.ndarray, row: int, source: int, length: int) -> int:
    """Write the text of an ENUM's member; number 0 is the empty text of an invalid value."""
    number = number_of(source, length)
    if number > column[Column.P1]:
        return REFUSED
    return store_member(column, number - 1, column[Column.OFFSETS] + 4 * (row + 1))


@njit(cache=True, nogil=True)
def store_member(column: np.ndarray, member: int, offset: int) -> int:
    used = column[Column.DATA_USED]
    if member >= 0:
        aux = column[Column.AUX]
        start = load32(aux + 4 * member)
        size = load32(aux + 4 * member + 4) - start
        if size > column[Column.DATA_CAPACITY] - used - _SLACK:
            return FULL
        copy_short(column[Column.DATA] + used, aux + 4 * (column[Column.P1] + 1) + start, size)
        used += size
        column[Column.DATA_USED] = used
    store32(offset, used)
    return DONE


@njit(cache=True, nogil=True)
def store_set(column: np.ndarray, row: int, source: int, length: int) -> int:
    """Write the texts of a SET's members, in the order of their declaration."""
    mask = number_of(source, length)
    count = column[Column.P1]
    if count < 64 and mask >> count:
        return REFUSED
    items = column[Column.ITEMS]
    for member in range(count):
        if mask >> member & 1:
            if items >= column[Column.ITEM_CAPACITY]:
                return FULL
            outcome = store_member(column, member, column[Column.ITEM_OFFSETS] + 4 * (items + 1))
            if outcome != DONE:
                return outcome
            items += 1
    column[Column.ITEMS] = items
    store32(column[Column.OFFSETS] + 4 * (row + 1), items)
    return DONE
