"""FLOAT and DOUBLE, and how a FLOAT is written down."""

from __future__ import annotations

from struct import Struct

from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.wire import Cursor, Layout

_FLOAT = Layout(("value", "f"))
_DOUBLE = Layout(("value", "d"))
_SINGLE = Struct("<f")
_MOST_DIGITS = 9


def decode_float(cursor: Cursor, _column: Column, _options: ValueOptions) -> float:
    """Decode FLOAT: four bytes, IEEE 754, little-endian. The result is exact; `shortest_float` says how to write it."""
    value: float = cursor.fields(_FLOAT)[0]
    return value


def decode_double(cursor: Cursor, _column: Column, _options: ValueOptions) -> float:
    """Decode DOUBLE: eight bytes, IEEE 754, little-endian."""
    value: float = cursor.fields(_DOUBLE)[0]
    return value


def shortest_float(single: float) -> float:
    """Return the number with the fewest digits that reads back to the same four bytes: 0.1, not 0.10000000149011612.

    Its `repr` has those digits.
    """
    packed = _SINGLE.pack(single)
    for digits in range(1, _MOST_DIGITS):
        rounded = float(f"{single:.{digits}g}")
        if _reads_back(rounded, packed):
            return rounded
    return float(f"{single:.{_MOST_DIGITS}g}")


def _reads_back(number: float, packed: bytes) -> bool:
    try:
        return _SINGLE.pack(number) == packed
    except OverflowError:  # the largest floats, rounded up
        return False
