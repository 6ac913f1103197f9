"""Numbers as JSON text, as Python prints them: the shortest digits that read back to the same number.

`doubles` says how the digits are found. A number of four bytes is treated alike, by its own gaps to its neighbours.
"""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load8, put, store8, store16, store64
from binspark.kernels.printing.digits import write_padded, write_unsigned
from binspark.kernels.printing.doubles import (
    G0,
    G1,
    K_MIN,
    floor_log2_pow10,
    floor_log10_pow2,
    scaled,
    shortest_decimal,
)
from binspark.kernels.text import copy_short
from binspark.kernels.words import ZERO, difference, shift_right, stack_words
from binspark.wire.floats import shortest_float

_SIGN = -(1 << 63)
_EXPONENT = 0x7FF0_0000_0000_0000
_SINGLE_SIGN = 1 << 31
_SINGLE_EXPONENT = 0x7F80_0000
_SINGLE_FRACTION_BITS = 23
_SINGLE_HIDDEN_BIT = 1 << _SINGLE_FRACTION_BITS
_SINGLE_Q_MIN = -149

_MIN_POINT, _MAX_POINT = -3, 16  # of the decimal point in numbers without exponent
_ONE = ZERO + 1
_DIGITS = 64  # offset at which digits are written before the number of characters before them is known
_GROUP_DIGITS = ZERO + 9
_GROUP = 10**9
_MAX_GROUPS = 3  # of a number below 2**127, besides those of one word
_LOW_32 = 0xFFFF_FFFF
_MINUS, _PLUS, _POINT, _E, _ZERO = (ord(character) for character in "-+.e0")
_ZERO_POINT, _POINT_ZERO = (int.from_bytes(text, "little") for text in (b"0.", b".0"))
_NAN, _INFINITY, _NEGATIVE = (int.from_bytes(text, "little") for text in (b'"NaN"', b"Infinity", b'"-'))
_QUOTE = ord('"')


def _powers_of_two() -> tuple[np.ndarray, np.ndarray]:
    """Return digits and powers of ten of the floats that are powers of two, by their stored exponents.

    The gap below them is half as wide as the one above.
    """
    pairs = [(0, 0)]
    for stored in range(1, _SINGLE_EXPONENT >> _SINGLE_FRACTION_BITS):
        digits, power = f"{shortest_float(2.0 ** (stored - 127)):.8e}".split("e")
        kept = digits.replace(".", "").rstrip("0")
        pairs.append((int(kept), int(power) - len(kept) + 1))
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


_POWER_DIGITS, _POWER_EXPONENTS = _powers_of_two()


@kernel
def write_double_digits(at: int, bits: int) -> int:
    """Write a double, given by its bits."""
    if bits & _EXPONENT == _EXPONENT:
        return write_not_finite(at, bits < 0, bits & ~_SIGN != _EXPONENT)
    if bits < 0:
        store8(at, _MINUS)
        at += 1
        bits ^= _SIGN
    digits, exponent = shortest_decimal(bits) if bits else (ZERO, ZERO)
    return write_shortest(at, digits, exponent)


@kernel
def write_single_digits(at: int, bits: int) -> int:
    """Write a float of four bytes, given by its bits."""
    if bits & _SINGLE_EXPONENT == _SINGLE_EXPONENT:
        return write_not_finite(at, bits >= _SINGLE_SIGN, bits & ~_SINGLE_SIGN != _SINGLE_EXPONENT)
    if bits & _SINGLE_SIGN:
        store8(at, _MINUS)
        at += 1
        bits ^= _SINGLE_SIGN
    digits, exponent = shortest_single(bits) if bits else (ZERO, ZERO)
    return write_shortest(at, digits, exponent)


@kernel
def write_not_finite(at: int, negative: bool, no_number: bool) -> int:
    """Write what JSON has no number for as a string."""
    if no_number:
        store64(at, _NAN)
        return at + 5
    store16(at, _NEGATIVE)
    at += 1 + negative
    store64(at, _INFINITY)
    store8(at + 8, _QUOTE)
    return at + 9


@kernel
def shortest_single(bits: int) -> tuple[int, int]:
    """Return a positive float as digits and a power of ten; the digits may end in zeros."""
    stored = bits >> _SINGLE_FRACTION_BITS
    c = bits & (_SINGLE_HIDDEN_BIT - 1)
    q = _SINGLE_Q_MIN
    if stored:
        if c == 0:
            return _POWER_DIGITS[stored], _POWER_EXPONENTS[stored]
        q += stored - 1
        c |= _SINGLE_HIDDEN_BIT
    k = floor_log10_pow2(q, False)
    h = q + floor_log2_pow10(-k) + 2
    g1, g0 = G1[k - K_MIN], G0[k - K_MIN]
    odd = c & 1
    vb = scaled(g1, g0, 4 * c << h)
    vbl = scaled(g1, g0, 4 * c - 2 << h) + odd
    vbr = scaled(g1, g0, 4 * c + 2 << h) - odd
    s = vb >> 2
    tens = s // 10
    below = vbl <= 40 * tens
    above = 40 * tens + 40 <= vbr
    if s >= 10 and below != above:
        return tens + above, k + 1
    below = vbl <= 4 * s
    above = 4 * s + 4 <= vbr
    if below == above:
        middle = 4 * s + 2
        above = vb > middle or (vb == middle and s & 1 == 1)
    return s + above, k


@kernel
def write_shortest(at: int, significand: int, exponent: int) -> int:
    """Write digits * 10**exponent with the point, or the exponent, where Python puts it."""
    digits = at + _DIGITS
    end = write_unsigned(digits, significand)
    point = end - digits + exponent  # of the decimal point, counted from the first digit
    while end > digits + 1 and load8(end - 1) == _ZERO:
        end -= 1
    count = end - digits
    if point < _MIN_POINT or point > _MAX_POINT:
        return write_with_exponent(at, digits, count, point - 1)
    if point <= 0:
        store16(at, _ZERO_POINT)
        at += 2
        for _ in range(-point):
            store8(at, _ZERO)
            at += 1
        copy_short(at, digits, count)
        return at + count
    if point < count:
        return write_around_point(at, digits, point, count)
    copy_short(at, digits, count)
    at += count
    for _ in range(point - count):
        store8(at, _ZERO)
        at += 1
    store16(at, _POINT_ZERO)
    return at + 2


@kernel
def write_around_point(at: int, digits: int, point: int, count: int) -> int:
    """Write digits with a point before one of them."""
    copy_short(at, digits, point)
    store8(at + point, _POINT)
    copy_short(at + point + 1, digits + point, count - point)
    return at + count + 1


@kernel
def write_with_exponent(at: int, digits: int, count: int, exponent: int) -> int:
    """Write digits as d.ddde+xx."""
    if count > 1:
        at = write_around_point(at, digits, _ONE, count)
    else:
        store8(at, load8(digits))
        at += 1
    store8(at, _E)
    store8(at + 1, _MINUS if exponent < 0 else _PLUS)
    size = -exponent if exponent < 0 else exponent
    return write_padded(at + 2, size, _ONE + (1 if size < 100 else 2))


@kernel
def write_decimal_digits(at: int, low: int, high: int, scale: int) -> int:
    """Write a decimal, whose digits are a signed number of two words, `scale` of them after the decimal point."""
    if high < 0:
        store8(at, _MINUS)
        at += 1
        low = difference(0, low)
        high = difference(~high, 0 if low else -1)
    digits = at + _DIGITS
    end = write_two_words(digits, low, high)
    if scale == 0:
        copy_short(at, digits, end - digits)
        return at + end - digits
    missing = scale + 1 - (end - digits)
    if missing <= 0:
        return write_around_point(at, digits, end - digits - scale, end - digits)
    store16(at, _ZERO_POINT)
    at += 2
    for _ in range(missing - 1):
        store8(at, _ZERO)
        at += 1
    copy_short(at, digits, end - digits)
    return at + end - digits


@kernel
def write_two_words(at: int, low: int, high: int) -> int:
    """Write an unsigned number of two words: those above 2**64 in groups of nine digits, from the last one on."""
    groups = stack_words(_MAX_GROUPS)
    count = 0
    while high:
        high, low, group = divide_by_group(high, low)
        put(groups, count, group)
        count += 1
    at = write_unsigned(at, low)
    while count > 0:
        count -= 1
        at = write_padded(at, get(groups, count), _GROUP_DIGITS)
    return at


@kernel
def divide_by_group(high: int, low: int) -> tuple[int, int, int]:
    """Divide a number of two words by 10**9; return the words of the quotient, and the rest."""
    top = shift_right(high, 32)
    rest = top % _GROUP << 32 | high & _LOW_32
    quotient_high = top // _GROUP << 32 | rest // _GROUP
    rest = rest % _GROUP << 32 | shift_right(low, 32)
    quotient_low = rest // _GROUP << 32
    rest = rest % _GROUP << 32 | low & _LOW_32
    return quotient_high, quotient_low | rest // _GROUP, rest % _GROUP
