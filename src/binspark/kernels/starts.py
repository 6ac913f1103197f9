"""Where transactions begin: searched for byte by byte in a log, or listed in bytes that are complete events."""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode
from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Header
from binspark.kernels.memory import copy_bytes, load8, load16, load32
from binspark.transactions.byte_tables import (
    BEGIN_LENGTHS,
    EXECUTED_GTIDS_CODES,
    IDENTIFYING_CODES,
    QUERY_LENGTH,
    QUERY_SCHEMA_LENGTH_AT,
    QUERY_STATUS_LENGTH_AT,
)

NAME_LENGTH = 44
"""How many bytes are kept of an event that begins a transaction: enough for its GTID, except for a tag."""

_QUERY = int(EventCode.QUERY)
_HEADER_LENGTH = int(Header.LENGTH)  # Numba has no maximum of a number and an enumeration


@kernel
def count_starts(at: int, end: int) -> int:
    """Count the events that begin a transaction in complete events."""
    count = 0
    while at + Header.LENGTH <= end:
        count += load8(at + Header.TYPE) in IDENTIFYING_CODES
        at += max(load32(at + Header.EVENT_SIZE), _HEADER_LENGTH)
    return count


@kernel
def find_starts(at: int, end: int, starts: np.ndarray, names: int) -> int:
    """Write the address and the first bytes of each event that begins a transaction in complete events.

    There must be room for `count_starts` of them. Returns the address of the event with the GTIDs before the file; 0
    for none.
    """
    gtids_before = count = 0
    while at + Header.LENGTH <= end:
        code, size = load8(at + Header.TYPE), max(load32(at + Header.EVENT_SIZE), _HEADER_LENGTH)
        if code in IDENTIFYING_CODES:
            starts[count] = at
            copy_bytes(names + NAME_LENGTH * count, at, min(size, NAME_LENGTH, end - at))
            count += 1
        elif code in EXECUTED_GTIDS_CODES:
            gtids_before = at
        at += size
    return gtids_before


@kernel
def find_start_header(address: int, length: int, first: int, offset: int, checksum: int, unnamed: bool) -> int:
    """Return the index of the first header, from `first` on, of an event that may begin a transaction; -1 for none.

    The byte at `address` is at `offset` of the log. A header must be complete, with the true end position of its event.
    Where transactions may be `unnamed`, a BEGIN may begin them, too.
    """
    for index in range(first, length - Header.LENGTH + 1):
        at = address + index
        size = load32(at + Header.EVENT_SIZE)
        if load32(at + Header.END_POSITION) != (offset + index + size) & 0xFFFFFFFF or size < Header.LENGTH:
            continue
        kind = load8(at + Header.TYPE)
        if kind in IDENTIFYING_CODES:
            return index
        if unnamed and kind == _QUERY and may_be_begin(at, address + length, size - checksum):
            return index
    return -1


@kernel
def may_be_begin(at: int, end: int, size: int) -> bool:
    """Return whether a statement may be a BEGIN, by its length; one whose lengths are not in the window may be."""
    body = at + Header.LENGTH
    if body + QUERY_LENGTH > end:
        return True
    before_text = QUERY_LENGTH + load16(body + QUERY_STATUS_LENGTH_AT) + load8(body + QUERY_SCHEMA_LENGTH_AT) + 1
    return size - Header.LENGTH - before_text in BEGIN_LENGTHS
