"""The hot loop of a source: events of a log into packets of a replication stream, with every check on the way.

It is the inverse of `kernels.packets`. It packs complete events that fit into a buffer. A transaction that may have to
be skipped, and an event that looks wrong or is too large, it leaves to Python.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import copy_bytes, load8, load32, load64, store8, store32
from binspark.transactions.byte_tables import IDENTIFYING_CODES, OUTSIDE_CODES

PACKET_PREFIX = 5
"""The bytes before an event: length and number of its packet, and a zero."""

INTERVAL_LENGTH = 32
"""The bytes of an interval: 16 of the UUID, and two numbers of 8."""

_GTID, _TAGGED = int(E.GTID), int(E.GTID_TAGGED)
_UUID, _NUMBER, _GTID_END = 20, 36, 44

Numbers = npt.NDArray[np.int64]


class Pack(IntEnum):
    """Numbers that are kept from call to call, in an array of int64."""

    IN_AT = 0  # address of the next event
    IN_END = 1
    OUT_AT = 2  # address after the last packet
    OUT_END = 3
    SEQUENCE = 4  # number of the next packet
    OFFSET = 5  # offset in the file of the next event
    CHECKSUM = 6  # 1: events end with a CRC32
    CRC_FUNCTION = 7
    DROPPED = 8  # type code of events that the reader does not want, -1 for none
    FILTERS = 9  # 1: stop at each transaction
    IS_DECIDED = 10  # 1: whether to skip the transaction that begins next is decided
    SKIPS = 11  # 1: the events of this transaction are skipped
    LAST_TYPE = 12  # type code of the last event, -1 for none
    INTERVALS = 13  # address of intervals of GTIDs that are skipped: UUID, first number, number after the last
    INTERVAL_COUNT = 14  # how many there are, -1: Python decides
    WIDTH = 15


class Packed(IntEnum):
    """Why packing ended."""

    MORE = 1  # the next event is not complete
    FULL = 2  # there is no room for the next packet
    TRANSACTION = 3  # Python decides whether the transaction that begins next is sent
    SKIPPED = 4  # after skipped events comes one that is sent
    DAMAGED = 5  # what comes next is not an event of this log
    MISMATCH = 6  # the checksum of the next event does not match


@kernel
def pack(numbers: Numbers) -> int:
    """Pack events one after the other; return why it ended."""
    while True:
        at = numbers[Pack.IN_AT]
        available = numbers[Pack.IN_END] - at
        if available < Header.LENGTH:
            return Packed.MORE
        code, size = load8(at + Header.TYPE), load32(at + Header.EVENT_SIZE)
        position = load32(at + Header.END_POSITION)
        if size < Header.LENGTH + CHECKSUM_LENGTH * numbers[Pack.CHECKSUM]:
            return Packed.DAMAGED
        if position not in (0, (numbers[Pack.OFFSET] + size) & 0xFFFFFFFF):
            return Packed.DAMAGED
        if available < size:
            return Packed.MORE
        if code in IDENTIFYING_CODES and numbers[Pack.FILTERS] and not numbers[Pack.IS_DECIDED]:
            if code == _TAGGED or numbers[Pack.INTERVAL_COUNT] < 0:
                return Packed.TRANSACTION
            is_skipped = code == _GTID and is_listed(numbers, at)
            if numbers[Pack.SKIPS] and not is_skipped:
                return Packed.SKIPPED
            numbers[Pack.SKIPS] = is_skipped
        skips = numbers[Pack.SKIPS] and code not in OUTSIDE_CODES
        if numbers[Pack.SKIPS] and not skips:
            return Packed.SKIPPED
        if not skips and numbers[Pack.OUT_END] - numbers[Pack.OUT_AT] < PACKET_PREFIX + size:
            return Packed.FULL
        if numbers[Pack.CHECKSUM] and not has_valid_crc32(numbers[Pack.CRC_FUNCTION], at, size):
            return Packed.MISMATCH
        if not skips and code != numbers[Pack.DROPPED]:
            out = numbers[Pack.OUT_AT]
            store32(out, (size + 1) | numbers[Pack.SEQUENCE] << 24)
            store8(out + 4, 0)
            copy_bytes(out + PACKET_PREFIX, at, size)
            numbers[Pack.OUT_AT] += PACKET_PREFIX + size
            numbers[Pack.SEQUENCE] = (numbers[Pack.SEQUENCE] + 1) & 0xFF
        numbers[Pack.IS_DECIDED] = 0
        numbers[Pack.LAST_TYPE] = code
        numbers[Pack.IN_AT] += size
        numbers[Pack.OFFSET] += size


@kernel
def is_listed(numbers: Numbers, at: int) -> bool:
    """Return whether the GTID of an event is in one of the intervals."""
    if load32(at + Header.EVENT_SIZE) < _GTID_END:
        return False
    high, low, number = load64(at + _UUID), load64(at + _UUID + 8), load64(at + _NUMBER)
    interval = numbers[Pack.INTERVALS]
    for _ in range(numbers[Pack.INTERVAL_COUNT]):
        is_source = load64(interval) == high and load64(interval + 8) == low
        if is_source and load64(interval + 16) <= number < load64(interval + 24):
            return True
        interval += INTERVAL_LENGTH
    return False


@kernel
def complete_end(at: int, end: int) -> int:
    """Return the address after the last event that is complete, in bytes that begin with an event."""
    while at + Header.LENGTH <= end:
        size = load32(at + Header.EVENT_SIZE)
        if size < Header.LENGTH or at + size > end:
            break
        at += size
    return at
