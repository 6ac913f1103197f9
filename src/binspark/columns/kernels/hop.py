"""From header to header: what must be known of a log before its rows are read."""

from __future__ import annotations

from enum import IntEnum

from numba import njit

from binspark.columns.kernels.memory import load8, load16, load32

_HEADER = 19
_QUERY, _TABLE_MAP, _PAYLOAD, _QUERY_COMPRESSED = 2, 19, 40, 165
_BEGIN = int.from_bytes(b"BEGIN", "little")
_COMMIT = int.from_bytes(b"COMMIT", "little")


class Look(IntEnum):
    """What is looked for, in a bit mask."""

    STATEMENTS = 1  # but BEGIN and COMMIT
    TABLE_MAPS = 2  # of one table
    PAYLOADS = 4


class Met(IntEnum):
    """Why a hop ended."""

    END = 0  # the next header is not in the window
    EVENT = 1  # an event that is looked for
    BROKEN = 2  # no event can begin here


@njit(cache=True, nogil=True)
def hop(at: int, end: int, checksum: int, looks: int, name: int, name_length: int) -> tuple[int, int]:
    """Go from event to event; return the address where it ended, which may be behind the window, and why."""
    while at + _HEADER <= end:
        size = load32(at + 9)
        kind = load8(at + 4)
        if size < _HEADER + checksum:
            return at, Met.BROKEN
        if kind == _QUERY and looks & Look.STATEMENTS and not is_frame(at, end, size, checksum):
            return at, Met.EVENT
        if kind == _QUERY_COMPRESSED and looks & Look.STATEMENTS:
            return at, Met.EVENT
        if kind == _PAYLOAD and looks & Look.PAYLOADS:
            return at, Met.EVENT
        if kind == _TABLE_MAP and looks & Look.TABLE_MAPS and is_table(at, end, size, name, name_length):
            return at, Met.EVENT
        at += size
    return at, Met.END


@njit(cache=True, nogil=True)
def is_frame(at: int, end: int, size: int, checksum: int) -> bool:
    """Tell whether a statement is BEGIN or COMMIT; one that is not whole here may be another."""
    if at + size > end or size < _HEADER + 13 + checksum:
        return False
    text = at + _HEADER + 13 + load16(at + _HEADER + 11) + load8(at + _HEADER + 8) + 1
    length = at + size - checksum - text
    if length == 5:
        return (load32(text) | load8(text + 4) << 32) == _BEGIN
    return length == 6 and (load32(text) | load16(text + 4) << 32) == _COMMIT


@njit(cache=True, nogil=True)
def is_table(at: int, end: int, size: int, name: int, name_length: int) -> bool:
    """Tell whether a TABLE_MAP names a table; one that is not whole here may."""
    if at + size > end:
        return True
    if size < _HEADER + 8 + name_length:
        return False
    offset = 0
    while offset < name_length and load8(at + _HEADER + 8 + offset) == load8(name + offset):
        offset += 1
    return offset == name_length
