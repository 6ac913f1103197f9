"""Decimal digits into the double next to them."""

from __future__ import annotations

import numpy as np
from numba import njit

from binspark.columns.kernels.doubles_powers import G0, G1, K_MAX, K_MIN, floor_log2_pow10
from binspark.columns.kernels.object_words import bits_of, leading_zeros
from binspark.columns.kernels.words import difference, high_product, low_product, shift_right

UNSURE = -1
"""What stands for bits that are not known; they are those of no number."""

_SIGN = -(1 << 63)
_EXACT_WHOLE = 1 << 53
_EXACT_POWER = 22
_POWERS = np.array([10.0**power for power in range(_EXACT_POWER + 1)])
_FRACTION_BITS = 52
_BIAS = 1023
_LARGEST_BIASED = 2046  # what is rounded up from there is infinite


@njit(cache=True, nogil=True)
def double_bits(value: int, exponent: int) -> int:
    """Return the bits of the double next to value * 10**exponent; UNSURE where that takes more precision.

    Where both are exact as doubles, one operation rounds right. Else the power of ten is taken in 126 bits, which is a
    little too much: of the product, 127 bits, less than the lowest two are not known. Only next to the middle between
    two doubles is that too little.
    """
    if value == 0:
        return value
    if value <= _EXACT_WHOLE and -_EXACT_POWER <= exponent <= _EXACT_POWER:
        return bits_of(value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent])
    if exponent < -K_MAX or exponent > -K_MIN:
        return UNSURE
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
        return UNSURE
    biased = floor_log2_pow10(exponent) + dropped + _BIAS + _FRACTION_BITS + 2 - zeros
    if biased <= 0 or biased >= _LARGEST_BIASED:
        return UNSURE
    return (biased - 1 << _FRACTION_BITS) + (high >> dropped) + (rest >= middle)
