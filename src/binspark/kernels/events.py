"""The event that a scan is at: its offset in the log, the end of its body, and whether its rows are selected."""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, Header, State, Stop
from binspark.kernels.memory import load8, load32
from binspark.kernels.roles import exact_role, statement_text
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.transactions.grammar import Role

MICROSECONDS = 1_000_000
_QUERY, _FORMAT_DESCRIPTION = int(EventCode.QUERY), int(EventCode.FORMAT_DESCRIPTION)


@kernel
def check_next_event(state: np.ndarray) -> int:
    """Return 0 if the next event is complete and its checksum matches; else why the scan must stop before it."""
    at = state[State.AT]
    end = state[State.END]
    if end - at < Header.LENGTH:
        state[State.NEEDED] = Header.LENGTH
        return Stop.MORE
    size = load32(at + Header.EVENT_SIZE)
    if size < Header.LENGTH + CHECKSUM_LENGTH * state[State.CHECKSUM]:
        return Stop.REFUSED
    if size > end - at:
        state[State.NEEDED] = size
        return Stop.MORE
    if state[State.STOP_POSITION] and offset_of(state, at) >= state[State.STOP_POSITION]:
        return Stop.END
    kind = load8(at + Header.TYPE)
    # An event of which some rows were decoded already was checked then; a format description is checked in Python.
    if state[State.ROW_AT] == 0 and kind != _FORMAT_DESCRIPTION and not has_valid_checksum(state, at, size):
        return Stop.REFUSED
    if state[State.SPLIT_END] and may_end_split(state, kind, at, size):
        return Stop.BOUNDARY
    return 0


@kernel
def may_end_split(state: np.ndarray, kind: int, at: int, size: int) -> bool:
    """Return whether a transaction of the next split may begin here. `columns.starts` decides."""
    if state[State.INNER] or state[State.ROW_AT]:
        return False
    offset = offset_of(state, at)
    if offset < state[State.SPLIT_END] or load32(at + Header.END_POSITION) != (offset + size) & 0xFFFFFFFF:
        return False
    if kind in IDENTIFYING_CODES:
        return True
    return kind == _QUERY and statement_role(state, at, size) == Role.BEGINS


@kernel
def statement_role(state: np.ndarray, at: int, size: int) -> int:
    """Return the role of a statement that is exactly BEGIN or COMMIT, BY_STATEMENT of any other."""
    text, length = statement_text(at, body_end(state, at, size))
    return exact_role(text, length)


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
