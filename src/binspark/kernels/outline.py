"""Where transactions begin in bytes of a log: whole events, one behind the other, every one already checked."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import copy_bytes, load8, load32
from binspark.transactions.byte_tables import EXECUTED_GTIDS_CODES, IDENTIFYING_CODES

NAME_LENGTH = 44
"""How much of an event that begins a transaction is kept: as much as names it, but for a tag."""

_HEADER = 19


@kernel
def count_starts(at: int, end: int) -> int:
    """Count the events that begin a transaction."""
    count = 0
    while at + _HEADER <= end:
        count += load8(at + 4) in IDENTIFYING_CODES
        at += max(load32(at + 9), _HEADER)
    return count


@kernel
def find_starts(at: int, end: int, starts: np.ndarray, names: int) -> int:
    """Write the address and the first bytes of each event that begins a transaction. There is room for all.

    Returns the address of the event that tells what came before the file; 0 for none.
    """
    told = count = 0
    while at + _HEADER <= end:
        code, size = load8(at + 4), max(load32(at + 9), _HEADER)
        if code in IDENTIFYING_CODES:
            starts[count] = at
            copy_bytes(names + NAME_LENGTH * count, at, min(size, NAME_LENGTH, end - at))
            count += 1
        elif code in EXECUTED_GTIDS_CODES:
            told = at
        at += size
    return told
