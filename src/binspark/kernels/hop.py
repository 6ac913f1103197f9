"""From header to header: what must be known of a log before its rows are read."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load8, load32
from binspark.kernels.roles import exact_role, statement_text
from binspark.transactions.grammar import Role

_HEADER = 19
_QUERY, _TABLE_MAP, _PAYLOAD, _QUERY_COMPRESSED = 2, 19, 40, 165


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
    DOUBTED = 3  # an event tells its true position, but one before it did not: it may have led here by mistake


class Walk(IntEnum):
    """Numbers that are kept from hop to hop, in an array of int64."""

    AT = 0  # address of the next event, which may be behind the window
    SOUND = 1  # offset in the log behind the last event that told its true position
    DOUBT = 2  # 1: an event since then told a false one. None at all (0) is what servers write inside transactions
    WIDTH = 3


@kernel
def hop(walk: np.ndarray, end: int, origin: int, checksum: int, looks: int, name: int, name_length: int) -> int:
    """Go from event to event; return why it ended. An address is an offset in the log when `origin` is added."""
    while walk[Walk.AT] + _HEADER <= end:
        at = walk[Walk.AT]
        size = load32(at + 9)
        if size < _HEADER + checksum:
            return Met.BROKEN
        position = load32(at + 13)
        if position == (at + origin + size) & 0xFFFFFFFF:
            if walk[Walk.DOUBT]:
                return Met.DOUBTED
            walk[Walk.SOUND] = at + origin + size
        elif position:
            walk[Walk.DOUBT] = 1
        if is_sought(at, end, size, checksum, looks, name, name_length):
            return Met.EVENT
        walk[Walk.AT] = at + size
    return Met.END


@kernel
def is_sought(at: int, end: int, size: int, checksum: int, looks: int, name: int, name_length: int) -> bool:
    """Tell whether an event is looked for."""
    kind = load8(at + 4)
    if kind == _QUERY:
        return looks & Look.STATEMENTS != 0 and not is_frame(at, end, size, checksum)
    if kind == _QUERY_COMPRESSED:
        return looks & Look.STATEMENTS != 0
    if kind == _PAYLOAD:
        return looks & Look.PAYLOADS != 0
    return kind == _TABLE_MAP and looks & Look.TABLE_MAPS != 0 and is_table(at, end, size, name, name_length)


@kernel
def is_frame(at: int, end: int, size: int, checksum: int) -> bool:
    """Return whether a statement is BEGIN or COMMIT; one that is not complete here may be another."""
    if at + size > end:
        return False
    text, length = statement_text(at, at + size - checksum)
    return exact_role(text, length) != Role.BY_STATEMENT


@kernel
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
