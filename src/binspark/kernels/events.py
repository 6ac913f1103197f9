"""The event that a scan is at: its offset in the log, the end of its body, and whether its rows are selected."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, Header, State
from binspark.kernels.memory import load32

MICROSECONDS = 1_000_000


@kernel
def offset_of(state: np.ndarray, at: int) -> int:
    """Return the offset of an event in the file; events inside a payload have that of the payload."""
    return state[State.OUTER_OFFSET] if state[State.INNER] else state[State.FILE_OFFSET] + at - state[State.BUFFER]


@kernel
def body_end(state: np.ndarray, at: int, size: int) -> int:
    """Return the address of an event's checksum, or where it would be."""
    return at + size - CHECKSUM_LENGTH * state[State.CHECKSUM]


@kernel
def has_valid_checksum(state: np.ndarray, at: int, size: int) -> bool:
    """Return whether the checksum of an event matches, or there is none."""
    return state[State.CHECKSUM] == 0 or has_valid_crc32(state[State.CRC_FUNCTION], at, size)


@kernel
def is_selected(state: np.ndarray, at: int) -> bool:
    """Return whether the rows of an event are selected, by its offset, time, server and transaction."""
    if state[State.SKIP_TRANSACTION] or offset_of(state, at) < state[State.START_POSITION]:
        return False
    timestamp = load32(at + Header.TIMESTAMP)
    if timestamp < state[State.START_TIME] or (state[State.STOP_TIME] and timestamp >= state[State.STOP_TIME]):
        return False
    if state[State.TRANSACTION] < 0 and not is_commit_time_selected(state, timestamp * MICROSECONDS):
        return False
    return state[State.SERVER] < 0 or load32(at + Header.SERVER_ID) == state[State.SERVER]


@kernel
def is_commit_time_selected(state: np.ndarray, commit_time: int) -> bool:
    """Return whether transactions that were committed at a time are selected."""
    before = state[State.COMMITTED_BEFORE]
    return commit_time >= state[State.COMMITTED_FROM] and (before == 0 or commit_time < before)
