"""Packed DECIMAL into 128-bit integers."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load8, load_big_endian, store64

_PARTIAL_BYTES = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 4], dtype=np.int64)
_POWERS = np.array([10**digits for digits in range(10)], dtype=np.int64)
_LOW_32 = 0xFFFFFFFF


@kernel
def group_value(source: int, length: int, flip: int) -> int:
    """Read one group of digits, big-endian; the bytes of a negative number are inverted."""
    return load_big_endian(source, length) ^ (flip & ((1 << 8 * length) - 1))


@kernel
def store_decimal(target: int, source: int, integer_digits: int, fraction_digits: int) -> bool:
    """Read DECIMAL and store it as a 128-bit integer; return False if a group has too many digits."""
    flip = 0 if load8(source) & 0x80 else -1
    low, high = np.uint64(0), np.uint64(0)
    at = source
    first = True
    digits = integer_digits % 9
    for part in range(2):
        full_groups = integer_digits // 9 if part == 0 else fraction_digits // 9
        groups = full_groups + 1
        for index in range(groups):
            # The incomplete group comes before the full groups of the integer part, and after those of the fraction.
            incomplete = index == 0 if part == 0 else index == full_groups
            digits = (integer_digits % 9 if part == 0 else fraction_digits % 9) if incomplete else 9
            if digits == 0:
                continue
            length = _PARTIAL_BYTES[digits]
            value = group_value(at, length, flip)
            if first:
                value ^= 0x80 << 8 * (length - 1)  # the sign bit, which is inverted
                first = False
            at += length
            if value >= _POWERS[digits]:
                return False
            low, high = multiply_add(low, high, _POWERS[digits], value)
    if flip:
        low, high = negate(low, high)
    store64(target, np.int64(low))
    store64(target + 8, np.int64(high))
    return True


@kernel
def multiply_add(low: np.uint64, high: np.uint64, factor: int, addend: int) -> tuple[np.uint64, np.uint64]:
    """Return a 128-bit number times a factor below 2**31, plus an addend below 2**31."""
    small = np.uint64(factor)
    bottom = (low & np.uint64(_LOW_32)) * small + np.uint64(addend)
    middle = (low >> np.uint64(32)) * small + (bottom >> np.uint64(32))
    new_low = (middle << np.uint64(32)) | (bottom & np.uint64(_LOW_32))
    return new_low, high * small + (middle >> np.uint64(32))


@kernel
def negate(low: np.uint64, high: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the two's complement of a 128-bit number."""
    new_low = ~low + np.uint64(1)
    carry = np.uint64(1) if new_low == np.uint64(0) else np.uint64(0)
    return new_low, ~high + carry
