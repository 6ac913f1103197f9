"""From header to header through the bytes of a log: what must be known of it before its rows are read."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import load8, load32
from binspark.kernels.roles import exact_role, statement_text
from binspark.transactions.grammar import Role

_QUERY, _QUERY_COMPRESSED, _TABLE_MAP = int(E.QUERY), int(E.QUERY_COMPRESSED), int(E.TABLE_MAP)
_PAYLOAD, _EXECUTE_LOAD_QUERY = int(E.TRANSACTION_PAYLOAD), int(E.EXECUTE_LOAD_QUERY)
_TABLE_MAP_FIXED = 8


class Look(IntEnum):
    """What is looked for, in a bit mask."""

    STATEMENTS = 1  # other than BEGIN and COMMIT
    TABLE_MAPS = 2  # of one table
    PAYLOADS = 4


class Met(IntEnum):
    """Why `hop` ended."""

    END = 0  # the next header is not in the window
    EVENT = 1  # an event that is looked for
    BROKEN = 2  # no event can begin here
    DOUBTED = 3  # an event has its true end position, but one before it had not: its size may have led astray


class Walk(IntEnum):
    """Numbers that are kept from call to call, in an array of int64."""

    AT = 0  # address of the next event, which may be after the window
    SOUND = 1  # offset in the log after the last event with its true end position
    DOUBT = 2  # 1: an event since then had a false one. None at all (0) is what servers write inside transactions
    WIDTH = 3


@kernel
def walk_sound(found: npt.NDArray[np.int64], end: int, origin: int, checksum: int, crc_function: int) -> None:
    """Go from event to event while each is complete, has its true end position or none, and its checksum matches.

    `found` contains two addresses: of the last event, and after it. An address plus `origin` is an offset in the log.
    """
    at = found[1]
    while at + Header.LENGTH <= end:
        size = load32(at + Header.EVENT_SIZE)
        if size < Header.LENGTH + CHECKSUM_LENGTH * checksum or size > end - at:
            return
        position = load32(at + Header.END_POSITION)
        if position not in (0, (at + origin + size) & 0xFFFFFFFF):
            return
        if checksum and not has_valid_crc32(crc_function, at, size):
            return
        found[0] = at
        at += size
        found[1] = at


@kernel
def hop(walk: np.ndarray, end: int, origin: int, checksum: int, looks: int, name: int, name_length: int) -> int:
    """Go from event to event; return why it ended. An address plus `origin` is an offset in the log.

    `name` is the address of the schema and table that a TABLE_MAP must have, as they are in it.
    """
    while walk[Walk.AT] + Header.LENGTH <= end:
        at = walk[Walk.AT]
        size = load32(at + Header.EVENT_SIZE)
        if size < Header.LENGTH + checksum:
            return Met.BROKEN
        position = load32(at + Header.END_POSITION)
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
    """Return whether an event is looked for."""
    kind = load8(at + Header.TYPE)
    if kind == _QUERY:
        return looks & Look.STATEMENTS != 0 and not is_begin_or_commit(at, end, size, checksum)
    if kind in (_QUERY_COMPRESSED, _EXECUTE_LOAD_QUERY):
        return looks & Look.STATEMENTS != 0
    if kind == _PAYLOAD:
        return looks & Look.PAYLOADS != 0
    return kind == _TABLE_MAP and looks & Look.TABLE_MAPS != 0 and is_table(at, end, size, name, name_length)


@kernel
def is_begin_or_commit(at: int, end: int, size: int, checksum: int) -> bool:
    """Return whether a statement is BEGIN or COMMIT; one that is not completely in the window may be another."""
    if at + size > end:
        return False
    text, length = statement_text(at, at + size - checksum)
    return exact_role(text, length) != Role.BY_STATEMENT


@kernel
def is_table(at: int, end: int, size: int, name: int, name_length: int) -> bool:
    """Return whether a TABLE_MAP has a name; one that is not completely in the window may have it."""
    if at + size > end:
        return True
    if size < Header.LENGTH + _TABLE_MAP_FIXED + name_length:
        return False
    start = at + Header.LENGTH + _TABLE_MAP_FIXED
    offset = 0
    while offset < name_length and load8(start + offset) == load8(name + offset):
        offset += 1
    return offset == name_length
