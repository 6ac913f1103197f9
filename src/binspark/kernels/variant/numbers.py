"""Numbers in JSON text as VARIANT: integers, decimals as long as they are exact in 38 digits, doubles for the rest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.decimals import multiply_add, negate
from binspark.kernels.memory import call_writer, get, load8, put
from binspark.kernels.objects.layout import HardDouble, Outcome, Work
from binspark.kernels.printing.doubles import G0, G1, K_MAX, K_MIN, floor_log2_pow10
from binspark.kernels.variant.encoding import DOUBLE, write_decimal, write_integer, write_word
from binspark.kernels.words import ZERO, bits_of, difference, high_product, leading_zeros, low_product, shift_right

_UNSURE = -1  # instead of bits that are not known: these are the bits of no number

_SIGN = -(1 << 63)
_EXACT_INTEGER = 1 << 53
_EXACT_POWER = 22
_POWERS = np.array([10.0**power for power in range(_EXACT_POWER + 1)])
_FRACTION_BITS = 52
_BIAS = 1023
_MAX_BIASED = 2046  # what is rounded up from there is infinite
_WRONG, _NO_WORKSPACE, _NO_LONG_NUMBERS = map(int, (Outcome.WRONG, Outcome.NO_WORKSPACE, Outcome.NO_LONG_NUMBER_WRITER))
_HARD = 8 * int(HardDouble.WIDTH)
_MINUS, _PLUS, _POINT, _ZERO, _NINE, _E = (ord(character) for character in "-+.09e")
_LOWER_CASE = 0x20
_WORD_DIGITS = 18
_MAX_DIGITS = 38
_MAX_EXPONENT = 100_000
_TEN = ZERO + 10


class PlainNumber(NamedTuple):
    """A number without its exponent. `end` is the address after it, 0 if it is invalid.

    `value` are its digits; of those that are significant, which zeros at the beginning are not, the first 18.
    """

    end: int
    value: int
    significant: int
    scale: int


@kernel
def read_decimal(source: int, end: int) -> PlainNumber:
    """Read digits, and those after a decimal point if there is one."""
    start, point = source, ZERO
    value, significant = ZERO, ZERO
    while source < end:
        digit = load8(source) - _ZERO
        if digit < 0 or digit > 9:
            if digit + _ZERO != _POINT or point:
                break
            point = source
        else:
            if significant < _WORD_DIGITS:
                value = 10 * value + digit
            if value:
                significant += 1
        source += 1
    integer_digits = (point or source) - start
    if integer_digits == 0 or (integer_digits > 1 and load8(start) == _ZERO) or source == point + 1:
        return PlainNumber(ZERO, value, significant, ZERO)
    return PlainNumber(source, value, significant, source - point - 1 if point else ZERO)


def write_number(work: int, at: int, source: int, end: int) -> int:
    """Write a number that begins with a digit or a minus sign."""
    negative = load8(source) == _MINUS
    number = read_decimal(source + negative, end)
    has_exponent = 0 < number.end < end and load8(number.end) | _LOWER_CASE == _E
    if has_exponent or number.significant > _WORD_DIGITS or number.scale > _MAX_DIGITS:
        writer = get(work, Work.LONG_NUMBER_WRITER)
        return call_writer(writer, work, at, source, end) if writer else _NO_LONG_NUMBERS
    put(work, Work.SOURCE, number.end or source)
    if number.end == 0:
        return _WRONG
    value = -number.value if negative else number.value
    return write_decimal(at, value, value >> 63, number.scale) if number.scale else write_integer(at, value)


def write_long_number(work: int, at: int, source: int, end: int) -> int:
    """Write a number that has an exponent or more digits than fit a word."""
    start = source
    negative = load8(source) == _MINUS
    number = read_decimal(source + negative, end)
    source = number.end
    exponent = ZERO
    if 0 < source < end and load8(source) | _LOWER_CASE == _E:
        exponent, source = read_exponent(source + 1, end)
    elif source and number.significant <= _MAX_DIGITS and number.scale <= _MAX_DIGITS:
        put(work, Work.SOURCE, source)
        return write_two_words(at, start, source, number.scale)
    put(work, Work.SOURCE, source or start)
    if source == 0:
        return _WRONG
    bits = _UNSURE
    if number.significant <= _WORD_DIGITS:
        bits = double_bits(number.value, exponent - number.scale)
    if bits != _UNSURE:
        return write_word(at, DOUBLE, bits | _SIGN if negative else bits)
    return write_hard_double(work, at, start, source)


@kernel
def read_exponent(source: int, end: int) -> tuple[int, int]:
    """Read the digits after the E; return also the address after them, 0 if there are none. A limit is enough."""
    exponent, start, negative = ZERO, source, False
    while source < end:
        byte = load8(source)
        if _ZERO <= byte <= _NINE:
            exponent = min(10 * exponent + byte - _ZERO, _MAX_EXPONENT)
        elif source == start and byte in (_MINUS, _PLUS):
            negative = byte == _MINUS
        else:
            break
        source += 1
    if not _ZERO <= load8(source - 1) <= _NINE:
        return ZERO, ZERO
    return -exponent if negative else exponent, source


@kernel
def write_two_words(at: int, start: int, end: int, scale: int) -> int:
    """Write a number of 19 to 38 digits: an integer if it is one and fits, else a decimal."""
    low, high = np.uint64(0), np.uint64(0)
    for source in range(start, end):
        digit = load8(source) - _ZERO
        if digit >= 0:  # neither sign nor point
            low, high = multiply_add(low, high, _TEN, digit)
    if load8(start) == _MINUS:
        low, high = negate(low, high)
    signed_low: Any = np.int64(low)
    signed_high: Any = np.int64(high)
    if scale == 0 and signed_high == signed_low >> 63:
        return write_integer(at, signed_low)
    return write_decimal(at, signed_low, signed_high, scale)


@kernel
def write_hard_double(work: int, at: int, start: int, end: int) -> int:
    """Write a double that Python reads: a guess until it has done so."""
    index = get(work, Work.DOUBLE_COUNT)
    if index == get(work, Work.DOUBLE_CAPACITY):
        return _NO_WORKSPACE
    put(work, Work.DOUBLE_COUNT, index + 1)
    hard = get(work, Work.DOUBLES) + _HARD * index
    put(hard, HardDouble.ADDRESS, start)
    put(hard, HardDouble.LENGTH, end - start)
    return write_word(at, DOUBLE, get(hard, HardDouble.BITS))


@kernel
def double_bits(value: int, exponent: int) -> int:
    """Return the bits of the double next to value * 10**exponent; _UNSURE where that takes more precision.

    Where both are exact as doubles, one operation rounds right. Else the power of ten is taken in 126 bits, which is a
    little too much: of the product, 127 bits, less than the lowest two are not known. Only next to the middle between
    two doubles is that too little.
    """
    if value == 0:
        return value
    if value <= _EXACT_INTEGER and -_EXACT_POWER <= exponent <= _EXACT_POWER:
        return bits_of(value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent])
    if exponent < -K_MAX or exponent > -K_MIN:
        return _UNSURE
    zeros = leading_zeros(value)
    word = value << zeros
    g1, g0 = G1[-exponent - K_MIN], G0[-exponent - K_MIN]
    carried = high_product(word, g0) << 1 | shift_right(low_product(word, g0), 63)
    low = difference(low_product(word, g1), difference(0, carried))
    high = high_product(word, g1) + (low ^ _SIGN < carried ^ _SIGN)
    dropped = 10 if high >> 62 else 9
    middle = 1 << dropped - 1
    rest = high & (1 << dropped) - 1
    if (rest == middle and 0 <= low <= 2) or (rest == middle - 1 and -2 <= low < 0):
        return _UNSURE
    biased = floor_log2_pow10(exponent) + dropped + _BIAS + _FRACTION_BITS + 2 - zeros
    if biased <= 0 or biased >= _MAX_BIASED:
        return _UNSURE
    return (biased - 1 << _FRACTION_BITS) + (high >> dropped) + (rest >= middle)
