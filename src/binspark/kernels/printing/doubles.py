"""Doubles as text: the shortest digits that read back to the same number, as `values.json.document` prints them.

The digits are found with Raffaele Giulietti's Schubfach ("The Schubfach way to render doubles"), whose names are kept:
a double is c * 2**q, and 10**k is the largest power of ten that is not larger than the gap to its neighbours. In
units of 10**k / 4 the double and the ends of the interval that rounds to it are vb, vbl and vbr.

Powers of ten are taken in 126 bits: 10**-k is beta * 2**r with 2**125 <= beta < 2**126, and g is the integer above
beta. g1 are its upper 63 bits, g0 its lower ones: both are positive words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load8, load64, store8, store16, store64
from binspark.kernels.printing.digits import ZEROS, write_signed, write_unsigned
from binspark.kernels.words import difference, double_of, high_product, low_product, shift_right

K_MIN, K_MAX = -324, 292
_BITS = 126


@kernel
def floor_log10_pow2(exponent: int, three_quarters: bool) -> int:
    """Return the floor of log10(2**exponent), or of log10(3/4 * 2**exponent)."""
    return (exponent * 661_971_961_083 - (274_743_187_321 if three_quarters else 0)) >> 41


@kernel
def floor_log2_pow10(exponent: int) -> int:
    """Return the floor of log2(10**exponent)."""
    return exponent * 913_124_641_741 >> 38


def _g(k: int) -> int:
    """Return g, exactly."""
    if k <= 0:
        power = 10**-k
        shift = _BITS - power.bit_length()
        return (power << shift if shift >= 0 else power >> -shift) + 1
    power = 10**k
    g = (1 << _BITS + power.bit_length()) // power
    return (g >> g.bit_length() - _BITS) + 1


def _words(shift: int) -> npt.NDArray[np.int64]:
    return np.array([_g(k) >> shift & (1 << 63) - 1 for k in range(K_MIN, K_MAX + 1)], dtype=np.int64)


G0, G1 = _words(0), _words(63)

DOUBLE_ROOM = 80
"""Bytes that `write_double` may write to."""

_SIGN = -(1 << 63)
_FRACTION_BITS = 52
_HIDDEN_BIT = 1 << _FRACTION_BITS
_Q_MIN = -1074
_LOW_63 = (1 << 63) - 1
_TEN_PARTS = (1 << 64) // 10 + 1  # high_product with it divides by 10, for numbers below 2**60

_MAX_INTEGER = 1e15
_MAX_SHORT = 1e7
_SHORT_DIGITS = 8
_SHORT_UNIT = 1e8

_MAX_POINT_WITHOUT_EXPONENT = 15
_MIN_POINT_WITHOUT_EXPONENT = -14
_DIGITS = 32  # offset at which digits are written before the number of characters before them is known
_MINUS, _POINT, _E, _ZERO = ord("-"), ord("."), ord("e"), ord("0")
_ZERO_POINT = int.from_bytes(b"0.", "little")
_POINT_ZERO = int.from_bytes(b".0", "little")


@kernel
def write_double(at: int, bits: int) -> int:
    """Write a finite double, given by its bits; return the address after it.

    No two decimals of up to 15 digits are the same double, so digits this few that read back are the shortest. So
    integers and decimals of few digits are found by trying.
    """
    if bits < 0:
        store8(at, _MINUS)
        at += 1
        bits ^= _SIGN
    value = double_of(bits)
    if value < _MAX_INTEGER:
        integer = int(value)
        if integer == value:
            at = write_unsigned(at, integer)
            store16(at, _POINT_ZERO)
            return at + 2
        if value < _MAX_SHORT:
            decimal = int(value * _SHORT_UNIT + 0.5)
            if decimal / _SHORT_UNIT == value:
                return write_decimal(at, decimal, -_SHORT_DIGITS)
    significand, exponent = shortest_decimal(bits)
    return write_decimal(at, significand, exponent)


@kernel
def shortest_decimal(bits: int) -> tuple[int, int]:
    """Return a positive double as digits and a power of ten; the digits may end in zeros."""
    c = bits & (_HIDDEN_BIT - 1)
    q = _Q_MIN
    if bits >> _FRACTION_BITS:
        q += (bits >> _FRACTION_BITS) - 1
        c |= _HIDDEN_BIT
    # Below a power of two the gap is half as wide.
    narrow = c == _HIDDEN_BIT and q != _Q_MIN
    k = floor_log10_pow2(q, narrow)
    h = q + floor_log2_pow10(-k) + 2
    g1, g0 = G1[k - K_MIN], G0[k - K_MIN]
    odd = c & 1
    vb = scaled(g1, g0, 4 * c << h)
    vbl = scaled(g1, g0, 4 * c - (1 if narrow else 2) << h) + odd
    vbr = scaled(g1, g0, 4 * c + 2 << h) - odd
    s = vb >> 2
    if s >= 10:
        tens = high_product(s, _TEN_PARTS)
        below = vbl <= 40 * tens
        above = 40 * tens + 40 <= vbr
        if below != above:
            return tens + above, k + 1
    below = vbl <= 4 * s
    above = 4 * s + 4 <= vbr
    if below == above:
        middle = 4 * s + 2
        above = vb > middle or (vb == middle and s & 1 == 1)
    return s + above, k


@kernel
def scaled(g1: int, g0: int, cp: int) -> int:
    """Return g * cp / 2**127, rounded to odd: the lowest bit is 1 if anything is cut off."""
    z = difference(shift_right(low_product(g1, cp), 1), -high_product(g0, cp))  # their sum, of up to 64 bits
    w = high_product(g1, cp) + shift_right(z, 63)
    return w | (1 if z & _LOW_63 else 0)


@kernel
def write_decimal(at: int, significand: int, exponent: int) -> int:
    """Write a positive decimal with the point where servers put it in JSON."""
    digits = at + _DIGITS
    end = write_unsigned(digits, significand)
    point = end - digits + exponent  # of the decimal point, counted from the first digit
    while load8(end - 1) == _ZERO:
        end -= 1
    count = end - digits
    first, second, third = load64(digits), load64(digits + 8), load64(digits + 16)
    if _MIN_POINT_WITHOUT_EXPONENT <= point <= 0:
        store64(at, ZEROS)
        store64(at + 8, ZEROS)
        store16(at, _ZERO_POINT)
        start = at + 2 - point
        store_three(start, first, second, third)
        return start + count
    if 0 < point < count:
        store_three(at, first, second, third)
        store64(at + point + 1, load64(digits + point))
        store64(at + point + 9, load64(digits + point + 8))
        store8(at + point, _POINT)
        return at + count + 1
    if 0 < point <= _MAX_POINT_WITHOUT_EXPONENT:
        store_three(at, first, second, third)
        store64(at + count, ZEROS)
        store64(at + count + 8, ZEROS)
        store16(at + point, _POINT_ZERO)
        return at + point + 2
    return write_with_exponent(at, count, point - 1)


@kernel
def write_with_exponent(at: int, count: int, exponent: int) -> int:
    """Write digits as d.ddde+x; they are where `write_decimal` left them."""
    digits = at + _DIGITS
    store_three(at + 1, load64(digits), load64(digits + 8), load64(digits + 16))
    store8(at, load8(at + 1))
    end = at + 1
    if count > 1:
        store8(at + 1, _POINT)
        store_three(at + 2, load64(digits + 1), load64(digits + 9), load64(digits + 17))
        end = at + count + 1
    store8(end, _E)
    return write_signed(end + 1, exponent)


@kernel
def store_three(at: int, first: int, second: int, third: int) -> None:
    """Store three words one after the other."""
    store64(at, first)
    store64(at + 8, second)
    store64(at + 16, third)
