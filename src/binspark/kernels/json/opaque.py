"""Values of SQL types inside JSON documents; `values.json.opaque` says how they are laid out and printed."""

from __future__ import annotations

import numpy as np

from binspark.event.column_types import ColumnType
from binspark.kernels.compiler import kernel
from binspark.kernels.json.strings import QUOTE, write_base64, write_quoted
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import load8, load64, store8, store64
from binspark.kernels.printing.digits import write_padded, write_pair, write_unsigned

_NEWDECIMAL = int(ColumnType.NEWDECIMAL)
_DATE, _TIME, _DATETIME, _TIMESTAMP = map(
    int, (ColumnType.DATE, ColumnType.TIME, ColumnType.DATETIME, ColumnType.TIMESTAMP)
)
_VAR_STRING = int(ColumnType.VAR_STRING)

_MAX_PRECISION = 81
_PARTIAL_BYTES = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4], dtype=np.int64)
_POWERS = np.array([10**digits for digits in range(10)], dtype=np.int64)
_TEMPORAL_BYTES = 8
_MAX_YEAR = 9999
_TIME_END = 839 << 36
_MINUS, _POINT, _COLON, _SPACE, _ZERO = (ord(character) for character in "-.: 0")
_BASE64_TYPE = tuple(int.from_bytes(part, "little") for part in (b'"base64:', b"type"))


@kernel
def write_opaque(at: int, limit: int, type_code: int, data: int, length: int) -> int:
    """Write a value of an SQL type; its data is known to be inside the document."""
    if type_code == _VAR_STRING:
        return write_quoted(at, limit, data, length)
    if at > limit:
        return NO_ROOM
    if type_code == _NEWDECIMAL:
        return write_opaque_decimal(at, data, length)
    if type_code in (_DATE, _TIME, _DATETIME, _TIMESTAMP):
        return write_moment(at, type_code, data, length)
    store64(at, _BASE64_TYPE[0])
    store64(at + 8, _BASE64_TYPE[1])
    at = write_unsigned(at + 12, type_code)
    store8(at, _COLON)
    at = write_base64(at + 1, limit, data, length)
    if at < 0:
        return at
    store8(at, QUOTE)
    return at + 1


@kernel
def write_moment(at: int, type_code: int, data: int, length: int) -> int:
    """Write a date or time in quotes."""
    if length != _TEMPORAL_BYTES:
        return REFUSED
    packed = load64(data)
    store8(at, QUOTE)
    at = write_time(at + 1, packed) if type_code == _TIME else write_datetime(at + 1, packed, type_code == _DATE)
    if at < 0:
        return at
    store8(at, QUOTE)
    return at + 1


@kernel
def write_datetime(at: int, packed: int, only_date: bool) -> int:
    """Write a date and a time of day. The time must be one, even if it is not written."""
    year, month = (packed >> 46) // 13, (packed >> 46) % 13
    if packed < 0 or year > _MAX_YEAR:
        return REFUSED
    at = write_pair(at, year // 100)
    at = write_pair(at, year % 100)
    store8(at, _MINUS)
    at = write_pair(at + 1, month)
    store8(at, _MINUS)
    at = write_pair(at + 1, packed >> 41 & 31)
    store8(at, _SPACE)
    hour = packed >> 36 & 31
    end = REFUSED if hour > 23 else write_clock(write_pair(at + 1, hour), packed)
    return at if only_date and end > 0 else end


@kernel
def write_time(at: int, packed: int) -> int:
    """Write a time that may be negative and longer than a day."""
    if not -_TIME_END < packed < _TIME_END:
        return REFUSED
    if packed < 0:
        store8(at, _MINUS)
        at += 1
        packed = -packed
    hour = packed >> 36
    return write_clock(write_unsigned(at, hour) if hour > 99 else write_pair(at, hour), packed)


@kernel
def write_clock(at: int, packed: int) -> int:
    """Write what follows the hour: minutes, seconds and microseconds."""
    minute, second, microsecond = packed >> 30 & 63, packed >> 24 & 63, packed & 0xFFFFFF
    if minute > 59 or second > 59 or microsecond > 999_999:
        return REFUSED
    store8(at, _COLON)
    at = write_pair(at + 1, minute)
    store8(at, _COLON)
    at = write_pair(at + 1, second)
    store8(at, _POINT)
    at = write_pair(at + 1, microsecond // 10_000)
    at = write_pair(at, microsecond // 100 % 100)
    return write_pair(at, microsecond % 100)


@kernel
def packed_length(digits: int) -> int:
    """Return how many bytes the digits of one part of a decimal take."""
    return digits // 9 * 4 + _PARTIAL_BYTES[digits % 9]


@kernel
def write_opaque_decimal(at: int, data: int, length: int) -> int:
    """Write a decimal as a number: its digits, but no zeros before the integer part."""
    if length < 2:
        return REFUSED
    precision, scale = load8(data), load8(data + 1)
    if precision == 0 or precision > _MAX_PRECISION or scale > precision:
        return REFUSED
    integer_digits = precision - scale
    if length != 2 + packed_length(integer_digits) + packed_length(scale):
        return REFUSED
    source = data + 2
    negative = load8(source) & 0x80 == 0
    if negative:
        store8(at, _MINUS)
        at += 1
    at = write_integer_part(at, source, integer_digits, negative)
    if at < 0 or scale == 0:
        return at
    store8(at, _POINT)
    return write_fraction(at + 1, source + packed_length(integer_digits), scale, negative, integer_digits == 0)


@kernel
def write_integer_part(at: int, source: int, digits: int, negative: bool) -> int:
    """Write the digits before the decimal point, without leading zeros. The incomplete group comes first."""
    begun = False
    is_first = digits > 0
    while digits > 0:
        count = digits % 9 or 9
        value = digit_group(source, count, negative, is_first)
        if value < 0:
            return REFUSED
        if begun:
            at = write_padded(at, value, count)
        elif value:
            at = write_unsigned(at, value)
            begun = True
        is_first = False
        source += _PARTIAL_BYTES[count]
        digits -= count
    if begun:
        return at
    store8(at, _ZERO)
    return at + 1


@kernel
def write_fraction(at: int, source: int, digits: int, negative: bool, is_first: bool) -> int:
    """Write the digits after the decimal point. The incomplete group comes last."""
    while digits > 0:
        count = min(digits, 9)
        value = digit_group(source, count, negative, is_first)
        if value < 0:
            return REFUSED
        at = write_padded(at, value, count)
        is_first = False
        source += _PARTIAL_BYTES[count]
        digits -= count
    return at


@kernel
def digit_group(source: int, count: int, negative: bool, is_first: bool) -> int:
    """Read up to nine digits, big-endian; -1 if they are more. The sign is in the first byte of a decimal."""
    flip = 0xFF if negative else 0
    sign = 0x80 if is_first else 0
    value = 0
    for at in range(_PARTIAL_BYTES[count]):
        value = value << 8 | load8(source + at) ^ flip ^ sign
        sign = 0
    return value if value < _POWERS[count] else -1
