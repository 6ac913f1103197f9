"""Values of rows as mysqlbinlog prints them. Writers return the address after what they wrote.

Lengths were checked before: a value is complete, and there is room for four bytes for each of its own, and 400 more.
"""

from __future__ import annotations

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.layout import REFUSED
from binspark.kernels.memory import (
    byte_table,
    load8,
    load8s,
    load16,
    load16s,
    load32,
    load32s,
    load64,
    load_big_endian,
    store8,
    store16,
    store64,
    word_table,
)
from binspark.kernels.mysqlbinlog.exact import write_exact
from binspark.kernels.mysqlbinlog.layout import Op
from binspark.kernels.printing.digits import write_padded, write_pair, write_unsigned
from binspark.kernels.printing.packed_times import write_packed_clock, write_packed_fraction
from binspark.kernels.words import ZERO, bits_of, difference

_QUOTE, _MINUS, _COLON, _POINT, _SPACE, _OPEN, _CLOSE, _BACKSLASH = (ord(character) for character in "'-:. ()\\")
_ZERO_DIGIT, _B, _X = ord("0"), ord("b"), ord("x")
_HIGH_BITS = -0x7F7F_7F7F_7F7F_7F80
_ONES = 0x0101_0101_0101_0101
_SPACES, _QUOTES, _BACKSLASHES = 0x20 * _ONES, _QUOTE * _ONES, _BACKSLASH * _ONES
_ESCAPES = bytearray(256)
for _byte, _letter in zip(b"\b\f\n\r\t\\'", b"bfnrt\\'", strict=True):
    _ESCAPES[_byte] = _letter
for _byte in range(32):
    _ESCAPES[_byte] = _ESCAPES[_byte] or _X
_escape = byte_table(bytes(_ESCAPES))
_hex = byte_table(b"0123456789abcdef")
_PARTIAL_BYTES = byte_table(bytes((0, 1, 1, 2, 2, 3, 3, 4, 4, 4)))
_POWERS = word_table([10**digits for digits in range(10)])
_DECIMAL_SIGN = 0x80
_GROUP_DIGITS, _GROUP_BYTES, _GROUP = 9, 4, 10**9
_DATETIME_BIAS = 0x80_0000_0000
_FLOAT_WIDTH = 20
_EXPONENT_SHIFT = 1023 - 127
_SMALLEST_FLOAT = 2.0**-149
_TWO, _NINE = ZERO + 2, ZERO + 9


@kernel
def write_quoted(at: int, source: int, length: int) -> int:
    """Write bytes in quotes, with control characters, quotes and backslashes escaped."""
    store8(at, _QUOTE)
    at += 1
    end = source + length
    while source + 8 <= end:
        word = load64(source)
        quotes, backslashes = word ^ _QUOTES, word ^ _BACKSLASHES
        special = (difference(word, _SPACES) & ~word) | (difference(quotes, _ONES) & ~quotes)
        special |= difference(backslashes, _ONES) & ~backslashes
        if special & _HIGH_BITS == 0:
            store64(at, word)
            at += 8
            source += 8
            continue
        for index in range(8):
            at = write_escaped(at, load8(source + index))
        source += 8
    while source < end:
        at = write_escaped(at, load8(source))
        source += 1
    store8(at, _QUOTE)
    return at + 1


@inlined
def write_escaped(at: int, byte: int) -> int:
    """Write one byte of a text."""
    letter = _escape(byte)
    if letter == 0:
        store8(at, byte)
        return at + 1
    store8(at, _BACKSLASH)
    store8(at + 1, letter)
    if letter != _X:
        return at + 2
    store8(at + 2, _hex(byte >> 4))
    store8(at + 3, _hex(byte & 15))
    return at + 4


@inlined
def write_both(at: int, signed: int, unsigned: int) -> int:
    """Write an integer; a negative one also as if it had no sign."""
    if signed >= 0:
        return write_unsigned(at, signed)
    store8(at, _MINUS)
    at = write_unsigned(at + 1, difference(0, signed))
    store8(at, _SPACE)
    store8(at + 1, _OPEN)
    at = write_unsigned(at + 2, unsigned)
    store8(at, _CLOSE)
    return at + 1


@kernel
def write_value(at: int, op: int, parameter: int, source: int, length: int) -> int:
    """Write a value; return REFUSED for one that the reference must print."""
    if op == Op.LONG:
        return write_both(at, load32s(source), load32(source))
    if op == Op.TEXT:
        return write_quoted(at, source, length)
    if op == Op.LONGLONG:
        return write_both(at, load64(source), load64(source))
    if op == Op.TINY:
        return write_both(at, load8s(source), load8(source))
    if op == Op.SHORT:
        return write_both(at, load16s(source), load16(source))
    if op == Op.INT24:
        unsigned = load16(source) | load8(source + 2) << 16
        return write_both(at, unsigned - ((unsigned & 0x80_0000) << 1), unsigned)
    if op == Op.DECIMAL:
        return write_decimal(at, source, parameter >> 8, parameter & 0xFF)
    return write_other(at, op, parameter, source, length)


@kernel
def write_other(at: int, op: int, parameter: int, source: int, length: int) -> int:
    """Write a value of a type that is less frequent."""
    if op == Op.DATETIME2:
        return write_datetime(at, source, parameter)
    if op == Op.TIMESTAMP2:
        return write_stored_fraction(write_unsigned(at, load_big_endian(source, ZERO + 4)), source + 4, parameter)
    if op == Op.TIME2:
        return write_time(at, source, length, parameter)
    if op == Op.DATE:
        return write_date(at, source)
    if op == Op.DOUBLE:
        return write_exact(at, load64(source), ZERO + 20)
    if op == Op.FLOAT:
        return write_float(at, source)
    if op == Op.YEAR:
        return write_unsigned(at, load8(source) + 1900)
    if op == Op.NUMBER_1:
        return write_unsigned(at, load8(source))
    if op == Op.NUMBER_2:
        return write_unsigned(at, load16(source))
    if op == Op.TIMESTAMP:
        return write_unsigned(at, load32(source))
    if op == Op.BITS:
        return write_bits(at, source, parameter)
    return REFUSED


@kernel
def write_decimal(at: int, source: int, precision: int, scale: int) -> int:
    """Write a packed DECIMAL with all digits of its fraction."""
    flip = 0 if load8(source) & _DECIMAL_SIGN else -1
    if flip:
        store8(at, _MINUS)
        at += 1
    sign = _DECIMAL_SIGN
    start = at
    digits = precision - scale
    first = digits % _GROUP_DIGITS
    if first:
        size = _PARTIAL_BYTES(first)
        value = load_big_endian(source, size) ^ (flip & ((1 << 8 * size) - 1)) ^ sign << 8 * (size - 1)
        sign = 0
        source += size
        if value >= _POWERS(first):
            return REFUSED
        if value:
            at = write_unsigned(at, value)
    for _ in range(digits // _GROUP_DIGITS):
        value = load_big_endian(source, ZERO + _GROUP_BYTES) ^ (flip & 0xFFFF_FFFF) ^ sign << 24
        sign = 0
        source += _GROUP_BYTES
        if value >= _GROUP:
            return REFUSED
        if at > start:
            at = write_padded(at, value, _NINE)
        elif value:
            at = write_unsigned(at, value)
    if at == start:
        store8(at, _ZERO_DIGIT)
        at += 1
    if scale == 0:
        return at
    store8(at, _POINT)
    at += 1
    for _ in range(scale // _GROUP_DIGITS):
        value = load_big_endian(source, ZERO + _GROUP_BYTES) ^ (flip & 0xFFFF_FFFF) ^ sign << 24
        sign = 0
        source += _GROUP_BYTES
        if value >= _GROUP:
            return REFUSED
        at = write_padded(at, value, _NINE)
    last = scale % _GROUP_DIGITS
    if last:
        size = _PARTIAL_BYTES(last)
        value = load_big_endian(source, size) ^ (flip & ((1 << 8 * size) - 1)) ^ sign << 8 * (size - 1)
        if value >= _POWERS(last):
            return REFUSED
        at = write_padded(at, value, last)
    return at


@kernel
def write_fraction(at: int, fraction: int, digits: int) -> int:
    """Write the digits after the second; refuse more of them than the column has, which only damaged rows contain."""
    if (fraction // 10 if digits & 1 else fraction) >= _POWERS(digits):
        return REFUSED
    return write_packed_fraction(at, fraction, digits)


@kernel
def write_stored_fraction(at: int, source: int, digits: int) -> int:
    """Write the digits after the second that are stored in bytes of their own."""
    return write_fraction(at, load_big_endian(source, (digits + 1) // 2), digits) if digits else at


@kernel
def write_datetime(at: int, source: int, digits: int) -> int:
    """Write DATETIME."""
    packed = load_big_endian(source, ZERO + 5) - _DATETIME_BIAS
    if packed < 0:
        return REFUSED
    year_month = packed >> 22
    if year_month // 13 > 9999:
        return REFUSED
    store8(at, _QUOTE)
    at = write_padded(at + 1, year_month // 13, ZERO + 4)
    store8(at, _MINUS)
    at = write_pair(at + 1, year_month % 13)
    store8(at, _MINUS)
    at = write_pair(at + 1, packed >> 17 & 31)
    store8(at, _SPACE)
    at = write_packed_clock(at + 1, packed >> 12 & 31, packed)
    at = write_stored_fraction(at, source + 5, digits)
    if at < 0:
        return REFUSED
    store8(at, _QUOTE)
    return at + 1


@kernel
def write_time(at: int, source: int, length: int, digits: int) -> int:
    """Write TIME, which may be negative."""
    bits = 8 * (length - 3)
    packed = load_big_endian(source, length) - (0x80_0000 << bits)
    store8(at, _QUOTE)
    at += 1
    if packed < 0:
        store8(at, _MINUS)
        at += 1
        packed = -packed
    at = write_packed_clock(at, packed >> bits + 12 & 0x3FF, packed >> bits)
    at = write_fraction(at, packed & ((1 << bits) - 1), digits)
    if at < 0:
        return REFUSED
    store8(at, _QUOTE)
    return at + 1


@kernel
def write_date(at: int, source: int) -> int:
    """Write DATE, with colons."""
    packed = load16(source) | load8(source + 2) << 16
    if packed >> 9 > 9999:
        return REFUSED
    store8(at, _QUOTE)
    at = write_padded(at + 1, packed >> 9, ZERO + 4)
    store8(at, _COLON)
    at = write_pair(at + 1, packed >> 5 & 15)
    store8(at, _COLON)
    at = write_pair(at + 1, packed & 31)
    store8(at, _QUOTE)
    return at + 1


@kernel
def write_float(at: int, source: int) -> int:
    """Write FLOAT with six digits, padded with spaces."""
    bits = load32(source)
    exponent, fraction = bits >> 23 & 0xFF, bits & 0x7F_FFFF
    if exponent == 0xFF:
        return REFUSED
    word = (exponent + _EXPONENT_SHIFT) << 52 | fraction << 29
    if exponent == 0:
        word = bits_of(float(fraction) * _SMALLEST_FLOAT)
    if bits >> 31:
        word |= -(1 << 63)
    end = write_exact(at, word, ZERO + 6)
    while end < at + _FLOAT_WIDTH:
        store8(end, _SPACE)
        end += 1
    return end


@kernel
def write_bits(at: int, source: int, count: int) -> int:
    """Write bits as `b'0101'`, the highest first."""
    store16(at, _B | _QUOTE << 8)
    at += 2
    skipped = -count & 7
    for bit in range(skipped, count + skipped):
        store8(at, _ZERO_DIGIT + (load8(source + (bit >> 3)) >> (7 - (bit & 7)) & 1))
        at += 1
    store8(at, _QUOTE)
    return at + 1
