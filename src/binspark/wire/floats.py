"""Floats of four bytes as the shortest decimal number that reads back to the same bytes."""

from __future__ import annotations

from struct import Struct

_SINGLE = Struct("<f")
_MAX_DIGITS = 9


def shortest_float(single: float) -> float:
    """Return the number with the fewest digits that reads back to the same four bytes: 0.1, not 0.10000000149011612.

    Its `repr` has those digits.
    """
    packed = _SINGLE.pack(single)
    for digits in range(1, _MAX_DIGITS):
        rounded = float(f"{single:.{digits}g}")
        if _reads_back(rounded, packed):
            return rounded
    return float(f"{single:.{_MAX_DIGITS}g}")


def _reads_back(number: float, packed: bytes) -> bool:
    try:
        return _SINGLE.pack(number) == packed
    except OverflowError:  # the largest floats, rounded up
        return False
