"""One value into its column. The caller has located its bytes and checked that they are inside the event."""

from __future__ import annotations

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.decimals import store_decimal
from binspark.kernels.layout import NO_ROOM, Column, Op
from binspark.kernels.memory import (
    call_writer,
    get,
    load8,
    load8s,
    load16,
    load32,
    load64,
    load_big_endian,
    put,
    store8,
    store16,
    store32,
    store64,
)
from binspark.kernels.temporal import (
    MALFORMED,
    NOT_A_DATE,
    date_days,
    datetime_microseconds,
    old_datetime_microseconds,
    old_time_microseconds,
    old_timestamp_microseconds,
    time_microseconds,
    timestamp_microseconds,
)
from binspark.kernels.text import copy_short, copy_through_table, copy_utf8

DONE, REFUSED, FULL, NULL = 0, 1, 2, 3
_SLACK = 16
_SRID_BYTES = 4
_MAX_OFFSET = 0x7FFFFFFF


@inlined
def set_null(column: int, row: int) -> None:
    """Mark the value of a row as NULL."""
    byte = get(column, Column.VALIDITY) + (row >> 3)
    store8(byte, load8(byte) & ~(1 << (row & 7)))
    put(column, Column.NULLS, get(column, Column.NULLS) + 1)
    if get(column, Column.OFFSETS):
        used = get(column, Column.ITEMS) if get(column, Column.ITEM_CAPACITY) else get(column, Column.DATA_USED)
        store32(get(column, Column.OFFSETS) + 4 * (row + 1), used)


@inlined
def store_value(column: int, row: int, source: int, length: int) -> int:
    """Decode the bytes of one value into its column."""
    op = get(column, Column.OP)
    values = get(column, Column.VALUES)
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
        if not store_decimal(values + 16 * row, source, get(column, Column.P1), get(column, Column.P2)):
            return REFUSED
    elif op == Op.YEAR:
        year = load8(source)
        store16(values + 2 * row, year + 1900 if year else 0)
    elif op == Op.BIT:
        number = bits(source, length)
        if number >> get(column, Column.P1):
            return REFUSED
        store64(values + 8 * row, number)
    elif op == Op.BIT64:
        store64(values + 16 * row, bits(source, length))
        store64(values + 16 * row + 8, 0)
    else:
        return store_temporal(column, op, row, source)
    return DONE


@inlined
def bits(source: int, length: int) -> int:
    """Read BIT: big-endian, up to eight bytes."""
    return load_big_endian(source, length)


@kernel
def store_temporal(column: int, op: int, row: int, source: int) -> int:
    """Decode a date or time into its column."""
    digits = get(column, Column.P1)
    old = get(column, Column.P2)
    if op == Op.TIME:
        moment = old_time_microseconds(source) if old else time_microseconds(source, digits)
    elif op == Op.DATE:
        moment = date_days(source)
    elif op == Op.DATETIME:
        moment = old_datetime_microseconds(source) if old else datetime_microseconds(source, digits)
    else:
        moment = old_timestamp_microseconds(source) if old else timestamp_microseconds(source, digits)
    if moment == MALFORMED:
        return REFUSED
    if moment == NOT_A_DATE:
        return REFUSED if get(column, Column.ON_INVALID_DATE) else NULL
    if op == Op.DATE:
        store32(get(column, Column.VALUES) + 4 * row, moment)
    else:
        store64(get(column, Column.VALUES) + 8 * row, moment)
    return DONE


@inlined
def store_variable(column: int, op: int, row: int, source: int, length: int) -> int:
    """Decode a value of variable size into its column."""
    if length > get(column, Column.MAX_LENGTH):
        return REFUSED
    used = get(column, Column.DATA_USED)
    room = get(column, Column.DATA_CAPACITY) - used - _SLACK
    target = get(column, Column.DATA) + used
    if op == Op.TEXT_UTF8:
        if length > room:
            return FULL
        if not copy_utf8(target, source, length, get(column, Column.P2)):
            return REFUSED
        used += length
    elif op in (Op.JSON, Op.TEMPORAL_TEXT):
        length_or_digits = length if op == Op.JSON else get(column, Column.P1)
        written = call_writer(get(column, Column.AUX), target, room, source, length_or_digits)
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
        written = copy_through_table(target, source, length, get(column, Column.AUX))
        if written < 0:
            return REFUSED
        used += written
    elif op == Op.FIXED_BINARY:
        size = get(column, Column.P1)
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
        store32(get(column, Column.VALUES) + 4 * row, load32(source) if length else 0)
        if length:
            copy_short(target, source + _SRID_BYTES, length - _SRID_BYTES)
            used += length - _SRID_BYTES
    elif op == Op.VECTOR:
        if length & 3:
            return REFUSED
        if length > room:
            return FULL
        copy_short(target, source, length)
        put(column, Column.DATA_USED, used + length)
        put(column, Column.ITEMS, get(column, Column.ITEMS) + (length >> 2))
        store32(get(column, Column.OFFSETS) + 4 * (row + 1), get(column, Column.ITEMS))
        return DONE
    else:
        return store_set(column, row, source, length)
    if used > _MAX_OFFSET:
        return FULL
    put(column, Column.DATA_USED, used)
    store32(get(column, Column.OFFSETS) + 4 * (row + 1), used)
    return DONE


@kernel
def number_of(source: int, length: int) -> int:
    """Read a little-endian unsigned integer of up to eight bytes."""
    value = 0
    for at in range(length):
        value |= load8(source + at) << 8 * at
    return value


@kernel
def store_enum(column: int, row: int, source: int, length: int) -> int:
    """Write the text of an ENUM's member; number 0 is the empty text of an invalid value."""
    number = number_of(source, length)
    if number > get(column, Column.P1):
        return REFUSED
    return store_member(column, number - 1, get(column, Column.OFFSETS) + 4 * (row + 1))


@kernel
def store_member(column: int, member: int, offset: int) -> int:
    """Write the text of a member, and the offset after it; a negative member is the empty text."""
    used = get(column, Column.DATA_USED)
    if member >= 0:
        aux = get(column, Column.AUX)
        start = load32(aux + 4 * member)
        size = load32(aux + 4 * member + 4) - start
        if size > get(column, Column.DATA_CAPACITY) - used - _SLACK:
            return FULL
        copy_short(get(column, Column.DATA) + used, aux + 4 * (get(column, Column.P1) + 1) + start, size)
        used += size
        put(column, Column.DATA_USED, used)
    store32(offset, used)
    return DONE


@kernel
def store_set(column: int, row: int, source: int, length: int) -> int:
    """Write the texts of a SET's members, in the order of their declaration."""
    mask = number_of(source, length)
    count = get(column, Column.P1)
    if count < 64 and mask >> count:
        return REFUSED
    items = get(column, Column.ITEMS)
    for member in range(count):
        if mask >> member & 1:
            if items >= get(column, Column.ITEM_CAPACITY):
                return FULL
            outcome = store_member(column, member, get(column, Column.ITEM_OFFSETS) + 4 * (items + 1))
            if outcome != DONE:
                return outcome
            items += 1
    put(column, Column.ITEMS, items)
    store32(get(column, Column.OFFSETS) + 4 * (row + 1), items)
    return DONE
