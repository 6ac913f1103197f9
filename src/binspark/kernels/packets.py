"""The hot loop of a copy: packets of a replication stream into the bytes of a log, with every check on the way.

It copies events that are in the source's file and whose packets are complete. Everything else (a heartbeat, a rotation,
the end, an error, an event over 16 MB, one that looks wrong) it leaves to Python, which reads the packet and lets the
kernel continue after it.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import copy_bytes, load8, load16, load32
from binspark.kernels.packet_layout import ODD_CODES, Outcome
from binspark.kernels.roles import role_in_event
from binspark.transactions.byte_tables import PROGRESS_COUNT, STARTS_NOTHING
from binspark.transactions.grammar import Role

_PACKET_HEADER = 4
_MAX_PACKET_LENGTH = 0xFFFFFF
_ARTIFICIAL = 0x20

Numbers = npt.NDArray[np.int64]


class Unpack(IntEnum):
    """Numbers that are kept from call to call, in an array of int64."""

    IN_AT = 0  # address of the next packet
    IN_END = 1
    OUT_AT = 2  # address after the last event that was copied
    OUT_END = 3
    SEQUENCE = 4  # number of the next packet
    OFFSET = 5  # offset in the file of the next event
    CHECKSUM = 6  # 1: events end with a CRC32
    CRC_FUNCTION = 7
    ROLES = 8  # address of the role of each type of event
    AFTER = 9  # address of what is in progress after each role, by what was in progress before
    PROGRESS = 10
    COMPLETE = 11  # address after the last event after which nothing was in progress; 0 for none
    LAST = 12  # address of the last event that was copied
    NEEDED = 13  # bytes of the next packet
    STOP = 14  # the first transaction that ends at this offset or later is the last, 0 for none
    STOP_TIME = 15  # no transaction is taken that begins at this time or later, in seconds, 0 for none
    ODD = 16  # events so far of ODD_CODES
    EVENTS = 17  # events that were copied
    TRANSACTIONS = 18  # those of them that begin a transaction
    WIDTH = 19


@kernel
def unpack(numbers: Numbers) -> int:
    """Copy the events of packets one after the other; return why it ended."""
    while True:
        if numbers[Unpack.PROGRESS] == 0 and numbers[Unpack.STOP] and numbers[Unpack.OFFSET] >= numbers[Unpack.STOP]:
            return Outcome.STOPPED
        at = numbers[Unpack.IN_AT]
        available = numbers[Unpack.IN_END] - at
        numbers[Unpack.NEEDED] = _PACKET_HEADER
        if available < _PACKET_HEADER:
            return Outcome.MORE
        length = load32(at) & 0xFFFFFF
        numbers[Unpack.NEEDED] = _PACKET_HEADER + length
        if length == _MAX_PACKET_LENGTH or load8(at + 3) != numbers[Unpack.SEQUENCE]:
            return Outcome.PYTHON
        if available < _PACKET_HEADER + length:
            return Outcome.MORE
        event, size = at + _PACKET_HEADER + 1, length - 1
        if size < Header.LENGTH + CHECKSUM_LENGTH * numbers[Unpack.CHECKSUM] or not is_plain(numbers, event, size):
            return Outcome.PYTHON
        role = role_of(numbers, event, size)
        if role == Role.UNDECIDED:
            return Outcome.PYTHON
        is_start = numbers[Unpack.PROGRESS] == 0 and role not in STARTS_NOTHING
        if is_start and is_too_late(numbers, load32(event + Header.TIMESTAMP)):
            return Outcome.STOPPED
        if numbers[Unpack.OUT_END] - numbers[Unpack.OUT_AT] < size:
            return Outcome.FULL
        if numbers[Unpack.CHECKSUM] and not has_valid_crc32(numbers[Unpack.CRC_FUNCTION], event, size):
            return Outcome.PYTHON
        copy_bytes(numbers[Unpack.OUT_AT], event, size)
        numbers[Unpack.LAST] = numbers[Unpack.OUT_AT]
        numbers[Unpack.OUT_AT] += size
        numbers[Unpack.OFFSET] += size
        numbers[Unpack.IN_AT] = event + size
        numbers[Unpack.SEQUENCE] = (numbers[Unpack.SEQUENCE] + 1) & 0xFF
        numbers[Unpack.EVENTS] += 1
        numbers[Unpack.TRANSACTIONS] += is_start
        numbers[Unpack.ODD] += load8(event + Header.TYPE) in ODD_CODES
        numbers[Unpack.PROGRESS] = load8(numbers[Unpack.AFTER] + PROGRESS_COUNT * role + numbers[Unpack.PROGRESS])
        if numbers[Unpack.PROGRESS] == 0:
            numbers[Unpack.COMPLETE] = numbers[Unpack.OUT_AT]


@kernel
def is_too_late(numbers: Numbers, timestamp: int) -> bool:
    """Return whether a transaction that begins at a time begins at the time to stop or later."""
    stop_time = numbers[Unpack.STOP_TIME]
    return bool(stop_time != 0 and timestamp >= stop_time)


@kernel
def is_plain(numbers: Numbers, event: int, size: int) -> bool:
    """Return whether a packet contains an event, and its offset in the file is that of the next one."""
    if load8(event - 1) != 0 or load32(event + Header.EVENT_SIZE) != size or load16(event + Header.FLAGS) & _ARTIFICIAL:
        return False
    position = load32(event + Header.END_POSITION)
    return position in (0, (numbers[Unpack.OFFSET] + size) & 0xFFFFFFFF)


@kernel
def role_of(numbers: Numbers, event: int, size: int) -> int:
    """Return the role of an event in its transaction."""
    end = event + size - CHECKSUM_LENGTH * numbers[Unpack.CHECKSUM]
    return role_in_event(load8(numbers[Unpack.ROLES] + load8(event + Header.TYPE)), event, end)
