"""Packed DECIMAL into 128-bit integers."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.memory import load8, load_big_endian, store64

_PARTIAL_BYTES = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4], dtype=np.int64)
_POWERS = np.array([10**digits for digits in range(10)], dtype=np.int64)
_GROUP_DIGITS, _GROUP_BYTES, _GROUP = 9, 4, 10**9
_MAX_DIGITS_OF_A_WORD = 18
_SIGN = 0x80
_LOW_32 = 0xFFFFFFFF
_TOO_LARGE = -1


@inlined
def group_value(source: int, length: int, flip: int, sign: int) -> int:
    """Read one group of digits, big-endian; the bytes of a negative number are inverted.

    In the first group of a number, `sign` is the bit that is inverted once more.
    """
    return load_big_endian(source, length) ^ (flip & ((1 << 8 * length) - 1)) ^ sign << 8 * (length - 1)


@kernel
def store_decimal(target: int, source: int, integer_digits: int, fraction_digits: int) -> bool:
    """Read DECIMAL and store it as a 128-bit integer; return False if a group has too many digits."""
    if integer_digits + fraction_digits > _MAX_DIGITS_OF_A_WORD:
        return store_long_decimal(target, source, integer_digits, fraction_digits)
    number = read_short_decimal(source, integer_digits, fraction_digits)
    if number == _TOO_LARGE:
        return False
    if not load8(source) & _SIGN:
        number = -number
    store64(target, number)
    store64(target + 8, number >> 63)
    return True


@inlined
def read_short_decimal(source: int, integer_digits: int, fraction_digits: int) -> int:
    """Read the digits of a DECIMAL that fit into a word; _TOO_LARGE if a group has too many.

    The incomplete group comes before the full groups of the integer part, and after those of the fraction.
    """
    flip = 0 if load8(source) & _SIGN else -1
    sign = _SIGN
    at, number, too_large = source, 0, False
    first, last = integer_digits % _GROUP_DIGITS, fraction_digits % _GROUP_DIGITS
    if first:
        number = group_value(at, _PARTIAL_BYTES[first], flip, sign)
        too_large = number >= _POWERS[first]
        at += _PARTIAL_BYTES[first]
        sign = 0
    for _ in range(integer_digits // _GROUP_DIGITS + fraction_digits // _GROUP_DIGITS):
        value = group_value(at, _GROUP_BYTES, flip, sign)
        too_large |= value >= _GROUP
        number = number * _GROUP + value
        at += _GROUP_BYTES
        sign = 0
    if last:
        value = group_value(at, _PARTIAL_BYTES[last], flip, sign)
        too_large |= value >= _POWERS[last]
        number = number * _POWERS[last] + value
    return _TOO_LARGE if too_large else number


@kernel
def store_long_decimal(target: int, source: int, integer_digits: int, fraction_digits: int) -> bool:
    """Read a DECIMAL of any number of digits; see `store_decimal`."""
    flip = 0 if load8(source) & _SIGN else -1
    low, high = np.uint64(0), np.uint64(0)
    at, sign = source, _SIGN
    first, last = integer_digits % _GROUP_DIGITS, fraction_digits % _GROUP_DIGITS
    full_groups = integer_digits // _GROUP_DIGITS + fraction_digits // _GROUP_DIGITS
    for index in range(full_groups + 2):
        digits = first if index == 0 else (last if index > full_groups else _GROUP_DIGITS)
        if digits == 0:
            continue
        value = group_value(at, _PARTIAL_BYTES[digits], flip, sign)
        if value >= _POWERS[digits]:
            return False
        low, high = multiply_add(low, high, _POWERS[digits], value)
        at += _PARTIAL_BYTES[digits]
        sign = 0
    if flip:
        low, high = negate(low, high)
    store64(target, np.int64(low))
    store64(target + 8, np.int64(high))
    return True


@inlined
def multiply_add(low: np.uint64, high: np.uint64, factor: int, addend: int) -> tuple[np.uint64, np.uint64]:
    """Return a 128-bit number times a factor below 2**31, plus an addend below 2**31."""
    small = np.uint64(factor)
    bottom = (low & np.uint64(_LOW_32)) * small + np.uint64(addend)
    middle = (low >> np.uint64(32)) * small + (bottom >> np.uint64(32))
    new_low = (middle << np.uint64(32)) | (bottom & np.uint64(_LOW_32))
    return new_low, high * small + (middle >> np.uint64(32))


@inlined
def negate(low: np.uint64, high: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the two's complement of a 128-bit number."""
    new_low = ~low + np.uint64(1)
    carry = np.uint64(1) if new_low == np.uint64(0) else np.uint64(0)
    return new_low, ~high + carry
