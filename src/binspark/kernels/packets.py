"""The hot loop of a copy: packets of a replication stream into the bytes of a log, with every check on the way.

It deals with events that stand in a file and whose packets are whole. Whatever else comes (a heartbeat, a rotation, the
end, an error, an event over 16 MB, one that looks wrong) it leaves to Python, which deals with the packet and lets the
kernel go on behind it.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import crc32_of_event
from binspark.kernels.memory import copy_bytes, load8, load16, load32
from binspark.kernels.packet_layout import ODD_CODES, Outcome, Part

_PACKET_HEADER = 4
_LONGEST_PACKET = 0xFFFFFF
_HEADER = 19
_CHECKSUM = 4
_RESIDUE = 0x2144DF1C
_ARTIFICIAL = 0x20
_BEGIN = int.from_bytes(b"BEGIN", "little")
_COMMIT = int.from_bytes(b"COMMIT", "little")
_QUERY_FIXED = 13
_ENDS_STATEMENT = 1
_STANDALONE = 1

# Statements that may begin or end something, by their first two letters, in lower case.
_WORDS = tuple(int.from_bytes(word, "little") for word in (b"be", b"st", b"sa", b"co", b"ro", b"re", b"xa"))
_LOWER_CASE = 0x2020

Numbers = npt.NDArray[np.int64]


class Unpack(IntEnum):
    """Numbers that are kept from call to call, in an array of int64."""

    IN_AT = 0  # address of the next packet
    IN_END = 1
    OUT_AT = 2  # address behind the last event that was copied
    OUT_END = 3
    SEQUENCE = 4  # number of the next packet
    OFFSET = 5  # where in the file the next event is due
    CHECKSUM = 6  # 1: events end with a CRC32
    CRC_FUNCTION = 7
    PARTS = 8  # address of the part of each type of event
    AFTER = 9  # address of what is open behind each part, by what was open before
    OPEN = 10
    WHOLE = 11  # address behind the last event behind which nothing was open; 0 for none
    LAST = 12  # address of the last event that was copied
    NEEDED = 13  # bytes of the next packet
    STOP = 14  # the first transaction that ends at this offset or later is the last, 0 for none
    STOP_TIME = 15  # no transaction is taken that begins at this time or later, in seconds, 0 for none
    ODD = 16  # events so far that bulk readers of rows do not tell enough of
    WIDTH = 17


@kernel
def unpack(numbers: Numbers) -> int:
    """Copy the events of packets one behind the other; return why it ended."""
    while True:
        if numbers[Unpack.OPEN] == 0 and numbers[Unpack.STOP] and numbers[Unpack.OFFSET] >= numbers[Unpack.STOP]:
            return Outcome.STOPPED
        at = numbers[Unpack.IN_AT]
        available = numbers[Unpack.IN_END] - at
        numbers[Unpack.NEEDED] = _PACKET_HEADER
        if available < _PACKET_HEADER:
            return Outcome.MORE
        length = load32(at) & 0xFFFFFF
        numbers[Unpack.NEEDED] = _PACKET_HEADER + length
        if length == _LONGEST_PACKET or load8(at + 3) != numbers[Unpack.SEQUENCE]:
            return Outcome.PYTHON
        if available < _PACKET_HEADER + length:
            return Outcome.MORE
        event, size = at + _PACKET_HEADER + 1, length - 1
        if size < _HEADER + _CHECKSUM * numbers[Unpack.CHECKSUM] or not is_plain(numbers, event, size):
            return Outcome.PYTHON
        part = part_of(numbers, event, size)
        if part == Part.FOR_PYTHON:
            return Outcome.PYTHON
        if part != Part.NONE and is_too_late(numbers, load32(event)):
            return Outcome.STOPPED
        if numbers[Unpack.OUT_END] - numbers[Unpack.OUT_AT] < size:
            return Outcome.FULL
        if numbers[Unpack.CHECKSUM] and crc32_of_event(numbers[Unpack.CRC_FUNCTION], event, size) != _RESIDUE:
            return Outcome.PYTHON
        copy_bytes(numbers[Unpack.OUT_AT], event, size)
        numbers[Unpack.LAST] = numbers[Unpack.OUT_AT]
        numbers[Unpack.OUT_AT] += size
        numbers[Unpack.OFFSET] += size
        numbers[Unpack.IN_AT] = event + size
        numbers[Unpack.SEQUENCE] = (numbers[Unpack.SEQUENCE] + 1) & 0xFF
        numbers[Unpack.ODD] += load8(event + 4) in ODD_CODES
        numbers[Unpack.OPEN] = load8(numbers[Unpack.AFTER] + 4 * part + numbers[Unpack.OPEN])
        if numbers[Unpack.OPEN] == 0:
            numbers[Unpack.WHOLE] = numbers[Unpack.OUT_AT]


@kernel
def is_too_late(numbers: Numbers, timestamp: int) -> bool:
    """Tell whether a transaction begins here that is not wanted any more."""
    stop_time = numbers[Unpack.STOP_TIME]
    return bool(numbers[Unpack.OPEN] == 0 and stop_time != 0 and timestamp >= stop_time)


@kernel
def is_plain(numbers: Numbers, event: int, size: int) -> bool:
    """Tell whether a packet holds one event, which stands in the file where the next one is due."""
    if load8(event - 1) != 0 or load32(event + 9) != size or load16(event + 17) & _ARTIFICIAL:
        return False
    position = load32(event + 13)
    return position in (0, (numbers[Unpack.OFFSET] + size) & 0xFFFFFFFF)


@kernel
def part_of(numbers: Numbers, event: int, size: int) -> int:
    """Return the part that an event plays in its transaction."""
    part: int = load8(numbers[Unpack.PARTS] + load8(event + 4))
    end = event + size - _CHECKSUM * numbers[Unpack.CHECKSUM]
    if part == Part.ROWS_EVENT:
        if end - event < _HEADER + 8:
            return Part.FOR_PYTHON
        return Part.ROWS if load16(event + _HEADER + 6) & _ENDS_STATEMENT else Part.PREPARES
    if part == Part.MARIADB_GTID:
        if end - event < _HEADER + 13:
            return Part.FOR_PYTHON
        return Part.IDENTIFIES if load8(event + _HEADER + 12) & _STANDALONE else Part.BEGINS
    if part == Part.QUERY_EVENT:
        return part_of_statement(event, end)
    return part


@kernel
def part_of_statement(event: int, end: int) -> int:
    """Return the part of a statement; one that may be more than a statement is Python's."""
    if end - event < _HEADER + _QUERY_FIXED:
        return Part.FOR_PYTHON
    text = event + _HEADER + _QUERY_FIXED + load16(event + _HEADER + 11) + load8(event + _HEADER + 8) + 1
    length = end - text
    if length < 2:
        return Part.FOR_PYTHON
    if length == 5 and (load32(text) | load8(text + 4) << 32) == _BEGIN:
        return Part.BEGINS
    if length == 6 and (load32(text) | load16(text + 4) << 32) == _COMMIT:
        return Part.ENDS
    if load8(text) <= 32 or (load16(text) | _LOWER_CASE) in _WORDS:
        return Part.FOR_PYTHON
    return Part.STATEMENT
