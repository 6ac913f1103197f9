"""Rows of a result set, in the binary protocol, into row images as the log has them.

So there is one decoder of values, whether a row comes from a query or from the log.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import (
    load8,
    load16,
    load32,
    load64,
    load_packed,
    store8,
    store16,
    store32,
    store64,
    store_unsigned,
)
from binspark.kernels.temporal import days_since_1970
from binspark.kernels.text import copy_short

_PACKET_HEADER = 4
_MAX_PACKET_LENGTH = 0xFFFFFF
_NULL_OFFSET = 2  # bits before that of the first column
_VALUE_ROOM = 48  # no value without text is longer in a row image
_EPOCH_BYTES = 4
_DIGITS = 9  # of DECIMAL in four bytes
_ASCII_ZERO, _ASCII_MINUS, _ASCII_POINT = 0x30, 0x2D, 0x2E

Numbers = npt.NDArray[np.int64]


class Kind(IntEnum):
    """How a value is sent, and how the log has it."""

    INTEGER = 1  # in WIDTH bytes; in the lowest SIZE bytes of them
    YEAR = 2  # in two bytes; since 1900 in one
    DECIMAL = 3  # as text; P1: digits before the decimal point, P2: after it
    DATE = 4
    DATETIME = 5  # P1: digits of the fraction
    TIMESTAMP = 6  # likewise; sent as a date and time in UTC
    TIME = 7  # likewise
    BYTES = 8  # with a length; with a length of SIZE bytes
    BITS = 9  # with a length; in SIZE bytes


class ResultColumn(IntEnum):
    """Numbers that describe one column, in a row of int64."""

    KIND = 0
    WIDTH = 1
    SIZE = 2
    P1 = 3
    P2 = 4
    LENGTH = 5


class Pack(IntEnum):
    """Numbers that are kept from call to call, in an array of int64."""

    IN_AT = 0  # address of the next packet
    IN_END = 1
    OUT_AT = 2  # address after the last row image
    OUT_END = 3
    SEQUENCE = 4  # number of the next packet
    NEEDED = 5  # bytes of the next packet, for MORE; bytes that must be free, for FULL
    ROWS = 6  # rows so far
    WIDTH = 7


class Packed(IntEnum):
    """Why packing ended."""

    MORE = 1  # the next packet is not complete
    FULL = 2  # there is no room for the next row
    PYTHON = 3  # the next packet is not a row, or one of several that a row takes
    REFUSED = 4  # the next packet is not a row of these columns


@kernel
def pack_rows(numbers: Numbers, columns: Numbers) -> int:
    """Pack the rows of packets one after the other; return why it ended."""
    while True:
        at = numbers[Pack.IN_AT]
        available = numbers[Pack.IN_END] - at
        numbers[Pack.NEEDED] = _PACKET_HEADER
        if available < _PACKET_HEADER:
            return Packed.MORE
        length = load32(at) & 0xFFFFFF
        if length == _MAX_PACKET_LENGTH or load8(at + 3) != numbers[Pack.SEQUENCE]:
            return Packed.PYTHON
        numbers[Pack.NEEDED] = _PACKET_HEADER + length
        if available < _PACKET_HEADER + length:
            return Packed.MORE
        if length == 0 or load8(at + _PACKET_HEADER) != 0:
            return Packed.PYTHON
        outcome = pack_row(numbers, columns, at + _PACKET_HEADER, length)
        if outcome:
            return outcome
        numbers[Pack.IN_AT] = at + _PACKET_HEADER + length
        numbers[Pack.SEQUENCE] = (numbers[Pack.SEQUENCE] + 1) & 0xFF


@kernel
def pack_row(numbers: Numbers, columns: Numbers, source: int, length: int) -> int:
    """Pack one row, whose payload is at an address; return 0, or why that is not possible."""
    count = len(columns)
    end = source + length
    nulls = source + 1
    source = nulls + ((count + _NULL_OFFSET + 7) >> 3)
    if source > end:
        return Packed.REFUSED
    target = numbers[Pack.OUT_AT]
    needed = length + _VALUE_ROOM * count + 64
    if numbers[Pack.OUT_END] - target < needed:
        numbers[Pack.NEEDED] = needed
        return Packed.FULL
    bitmap = target
    for at in range((count + 7) >> 3):
        store8(bitmap + at, 0)
    target += (count + 7) >> 3
    for index in range(count):
        bit = index + _NULL_OFFSET
        if load8(nulls + (bit >> 3)) >> (bit & 7) & 1:
            store8(bitmap + (index >> 3), load8(bitmap + (index >> 3)) | 1 << (index & 7))
            continue
        kind = columns[index, ResultColumn.KIND]
        size = columns[index, ResultColumn.SIZE]
        if kind == Kind.INTEGER:
            width = columns[index, ResultColumn.WIDTH]
            if width > end - source:
                return Packed.REFUSED
            pack_integer(target, source, width, size)
            source += width
            target += size
            continue
        if kind == Kind.YEAR:
            if end - source < 2:
                return Packed.REFUSED
            year = load16(source)
            store8(target, year - 1900 if year else 0)
            source += 2
            target += 1
            continue
        value, source = load_packed(source, end)
        if value < 0 or value > end - source:
            return Packed.REFUSED
        if kind == Kind.BYTES:
            store_unsigned(target, value, size)
            copy_short(target + size, source, value)
            target += size + value
        else:
            written = pack_special(
                target, source, value, kind, size, columns[index, ResultColumn.P1], columns[index, ResultColumn.P2]
            )
            if written < 0:
                return Packed.REFUSED
            target += written
        source += value
    if source != end:
        return Packed.REFUSED
    numbers[Pack.OUT_AT] = target
    numbers[Pack.ROWS] += 1
    return 0


@kernel
def pack_integer(target: int, source: int, width: int, size: int) -> None:
    """Copy the lowest bytes of a little-endian integer."""
    if width == 8 and size == 8:
        store64(target, load64(source))
    elif size == 4:
        store32(target, load32(source))
    elif size == 2:
        store16(target, load16(source))
    else:
        for at in range(size):
            store8(target + at, load8(source + at))


@kernel
def pack_special(target: int, source: int, length: int, kind: int, size: int, p1: int, p2: int) -> int:
    """Pack a value whose form in the log is another; return its length there, -1 if it is invalid."""
    if kind == Kind.DECIMAL:
        return pack_decimal(target, source, length, p1, p2)
    if kind == Kind.TIME:
        return pack_time(target, source, length, p1)
    if kind == Kind.BITS:
        return pack_bits(target, source, length, size)
    if length not in (0, 4, 7, 11):
        return -1
    year, month, day, hour, minute, second, microsecond = 0, 0, 0, 0, 0, 0, 0
    if length >= 4:
        year, month, day = load16(source), load8(source + 2), load8(source + 3)
    if length >= 7:
        hour, minute, second = load8(source + 4), load8(source + 5), load8(source + 6)
    if length == 11:
        microsecond = load32(source + 7)
    if kind == Kind.DATE:
        packed = day | month << 5 | year << 9
        store16(target, packed)
        store8(target + 2, packed >> 16)
        return 3
    if kind == Kind.DATETIME:
        packed = ((year * 13 + month) << 5 | day) << 17 | hour << 12 | minute << 6 | second
        store_big_endian(target, packed + (1 << 39), 5)
        return 5 + pack_fraction(target + 5, microsecond, p1)
    seconds = 0
    if length:
        days = days_since_1970(year, month, day)
        seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        if seconds < 0 or seconds >> 32:
            return -1
    store_big_endian(target, seconds, _EPOCH_BYTES)
    return _EPOCH_BYTES + pack_fraction(target + _EPOCH_BYTES, microsecond, p1)


@kernel
def store_big_endian(target: int, value: int, size: int) -> None:
    """Store an integer, the highest byte first."""
    for at in range(size):
        store8(target + at, value >> 8 * (size - 1 - at))


@kernel
def fraction_units(microsecond: int, digits: int) -> int:
    """Return a fraction in the unit that the log has it in: two, four or six digits."""
    if digits > 4:
        return microsecond
    if digits > 2:
        return microsecond // 100
    return microsecond // 10_000 if digits else 0


@kernel
def pack_fraction(target: int, microsecond: int, digits: int) -> int:
    """Store the fraction of a second; return its length."""
    size = (digits + 1) >> 1
    store_big_endian(target, fraction_units(microsecond, digits), size)
    return size


@kernel
def pack_time(target: int, source: int, length: int, digits: int) -> int:
    """Pack TIME: sign, days, hours, minutes, seconds, microseconds; parts at the end that are zero are not sent."""
    if length not in (0, 8, 12):
        return -1
    size = (digits + 1) >> 1
    packed = 0
    if length:
        hours = 24 * load32(source + 1) + load8(source + 5)
        packed = (hours << 12 | load8(source + 6) << 6 | load8(source + 7)) << 8 * size
        if length == 12:
            packed += fraction_units(load32(source + 8), digits)
        if load8(source):
            packed = -packed
    store_big_endian(target, packed + (0x800000 << 8 * size), 3 + size)
    return 3 + size


@kernel
def pack_bits(target: int, source: int, length: int, size: int) -> int:
    """Pack BIT, whose last byte has the lowest bits."""
    if length > size:
        return -1
    for at in range(size - length):
        store8(target + at, 0)
    copy_short(target + size - length, source, length)
    return size


@kernel
def pack_decimal(target: int, source: int, length: int, before: int, after: int) -> int:
    """Pack DECIMAL: groups of nine digits in four bytes, the incomplete ones at both ends in fewer."""
    negative = length > 0 and load8(source) == _ASCII_MINUS
    if negative:
        source += 1
        length -= 1
    point = 0
    while point < length and load8(source + point) != _ASCII_POINT:
        point += 1
    flip = 0xFF if negative else 0
    at = target
    digit = point - before
    first = before % _DIGITS
    if first:
        at = pack_digits(at, source, digit, first, 0, point, flip)
        digit += first
    while digit < point:
        at = pack_digits(at, source, digit, _DIGITS, 0, point, flip)
        digit += _DIGITS
    digit = point + 1
    end = digit + after
    while digit + _DIGITS <= end:
        at = pack_digits(at, source, digit, _DIGITS, point + 1, length, flip)
        digit += _DIGITS
    if digit < end:
        at = pack_digits(at, source, digit, end - digit, point + 1, length, flip)
    store8(target, load8(target) ^ 0x80)
    return at - target


@kernel
def pack_digits(target: int, source: int, first: int, count: int, low: int, high: int, flip: int) -> int:
    """Pack a group of digits; those that are not in the text, from `low` to `high`, are zero. Return the end of it."""
    value = 0
    for at in range(first, first + count):
        value *= 10
        if low <= at < high:
            value += load8(source + at) - _ASCII_ZERO
    size = (count + 1) >> 1 if count < 9 else 4
    for at in range(size):
        store8(target + at, value >> 8 * (size - 1 - at) & 0xFF ^ flip)
    return target + size
