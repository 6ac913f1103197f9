"""Events into columns of numbers: what their headers say, and no more."""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.events import (
    MICROSECONDS,
    body_end,
    check_next_event,
    is_commit_time_selected,
    is_selected,
    offset_of,
)
from binspark.kernels.layout import MIN_MARIADB_BODY, MIN_MYSQL_BODY, Header, State, Stop
from binspark.kernels.list_layout import NULL, EventNumber
from binspark.kernels.memory import load8, load16, load32
from binspark.kernels.transactions import mysql_commit_time
from binspark.transactions.byte_tables import IDENTIFYING_CODES, OUTSIDE_CODES

_FOR_PYTHON = tuple(map(int, (E.FORMAT_DESCRIPTION, E.START_V3, E.START_ENCRYPTION, E.TRANSACTION_PAYLOAD)))
_GTID_TAGGED, _MARIADB_GTID = int(E.GTID_TAGGED), int(E.MARIADB_GTID)


@kernel
def list_events(state: np.ndarray, events: np.ndarray) -> int:
    """Write the numbers of events until Python is needed; return why."""
    while True:
        if state[State.LISTED] >= state[State.LIST_CAPACITY]:
            return Stop.FULL
        stop = check_next_event(state)
        if stop:
            return stop
        at = state[State.AT]
        size = load32(at + Header.EVENT_SIZE)
        kind = load8(at + Header.TYPE)
        if state[State.ALL_FOR_PYTHON] or kind in _FOR_PYTHON:
            return Stop.PYTHON
        if state[State.SELECT_EVENTS]:
            if kind in IDENTIFYING_CODES:
                stop = select_transaction(state, kind, at, size)
                if stop:
                    return stop
            if is_event_selected(state, kind, at):
                write_event(state, events, at, size)
        else:
            write_event(state, events, at, size)
        state[State.INNER_NUMBER] += state[State.INNER]
        state[State.AT] = at + size


@kernel
def write_event(state: np.ndarray, events: np.ndarray, at: int, size: int) -> None:
    """Write the numbers of one event."""
    row = state[State.LISTED]
    offset = offset_of(state, at)
    is_inner = state[State.INNER] != 0
    events[EventNumber.OFFSET, row] = offset
    events[EventNumber.END, row] = state[State.OUTER_END] if is_inner else offset + size
    events[EventNumber.INNER, row] = state[State.INNER_NUMBER] if is_inner else NULL
    events[EventNumber.TYPE, row] = load8(at + Header.TYPE)
    events[EventNumber.TIMESTAMP, row] = load32(at + Header.TIMESTAMP)
    events[EventNumber.SERVER, row] = load32(at + Header.SERVER_ID)
    events[EventNumber.SIZE, row] = size
    events[EventNumber.FLAGS, row] = load16(at + Header.FLAGS)
    events[EventNumber.CHECKSUM, row] = state[State.CHECKSUM]
    events[EventNumber.FILE, row] = state[State.FILE]
    events[EventNumber.ADDRESS, row] = at
    state[State.LISTED] = row + 1


@kernel
def select_transaction(state: np.ndarray, kind: int, at: int, size: int) -> int:
    """Note whether the events of the transaction that begins here are selected, by its commit time."""
    if state[State.SELECT_BY_GTID] or kind == _GTID_TAGGED:
        return Stop.PYTHON
    body, end = at + Header.LENGTH, body_end(state, at, size)
    commit_time = load32(at + Header.TIMESTAMP) * MICROSECONDS
    if end - body < (MIN_MARIADB_BODY if kind == _MARIADB_GTID else MIN_MYSQL_BODY):
        return Stop.REFUSED
    if kind != _MARIADB_GTID:
        commit_time = mysql_commit_time(body, end) or commit_time
    state[State.TRANSACTION] = 0
    state[State.SKIP_TRANSACTION] = 0 if is_commit_time_selected(state, commit_time) else 1
    return 0


@kernel
def is_event_selected(state: np.ndarray, kind: int, at: int) -> bool:
    """Return whether an event is selected. One that belongs to no transaction is selected by its own time."""
    if kind not in OUTSIDE_CODES:
        return is_selected(state, at)
    transaction, skip = state[State.TRANSACTION], state[State.SKIP_TRANSACTION]
    state[State.TRANSACTION], state[State.SKIP_TRANSACTION] = -1, state[State.SKIP_UNNAMED]
    selected = is_selected(state, at)
    state[State.TRANSACTION], state[State.SKIP_TRANSACTION] = transaction, skip
    return selected
