"""Times as the log packs them, as text: hours, minutes and seconds in bits, and the digits of the fraction."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import store8
from binspark.kernels.printing.digits import write_padded, write_pair, write_unsigned

_COLON, _POINT = ord(":"), ord(".")


@kernel
def write_packed_clock(at: int, hour: int, packed: int) -> int:
    """Write hours, and the minutes and seconds in the lowest 12 bits of a packed time."""
    at = write_pair(at, hour) if hour < 100 else write_unsigned(at, hour)
    store8(at, _COLON)
    at = write_pair(at + 1, packed >> 6 & 63)
    store8(at, _COLON)
    return write_pair(at + 1, packed & 63)


@kernel
def write_packed_fraction(at: int, fraction: int, digits: int) -> int:
    """Write the digits of the fraction of a second; for an odd number of them, the log has one more."""
    if digits == 0:
        return at
    if digits & 1:
        fraction //= 10
    store8(at, _POINT)
    return write_padded(at + 1, fraction, digits)
