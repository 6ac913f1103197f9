"""Powers of ten for `doubles`: logarithms of powers as integer arithmetic, and the powers in 126 bits.

10**-k is beta * 2**r with 2**125 <= beta < 2**126, and g is the integer above beta. g1 are its upper 63 bits, g0 its
lower ones: both are positive words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

K_MIN, K_MAX = -324, 292
_BITS = 126


@njit(cache=True, nogil=True)
def floor_log10_pow2(exponent: int, three_quarters: bool) -> int:
    """Return the floor of log10(2**exponent), or of log10(3/4 * 2**exponent)."""
    return (exponent * 661_971_961_083 - (274_743_187_321 if three_quarters else 0)) >> 41


@njit(cache=True, nogil=True)
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
