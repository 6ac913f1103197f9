"""What a GTID event says of its transaction, in the usual layouts of both families."""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.layout import MIN_MARIADB_BODY, MIN_MYSQL_BODY, Header, State
from binspark.kernels.list_layout import TransactionNumber
from binspark.kernels.memory import load8, load16, load32, load64, load_packed, store32
from binspark.kernels.transactions import write_mariadb_gtid, write_mysql_gtid
from binspark.transactions.byte_tables import ENDING_NUMBERS
from binspark.transactions.grammar import Ending

GTID_READ, FOR_PYTHON = 0, 1

_GTID = int(E.GTID)
_STANDALONE = ENDING_NUMBERS[Ending.STANDALONE]
_LOGICAL_CLOCK = 2
_HAS_ORIGINAL_TIME, _HAS_ORIGINAL_VERSION = 1 << 55, 1 << 31
_MAX_NUMBER = (1 << 63) - 1
_GROUP_COMMIT, _XA = 0x02, 0x40 | 0x80
_MORE_ENGINES, _ALTERS, _THREAD = 0x01, 0x02 | 0x04 | 0x08, 0x10


@kernel
def read_mysql_gtid(
    state: np.ndarray, rows: np.ndarray, row: int, text_offsets: int, text: int, kind: int, at: int, end: int
) -> int:
    """Read GTID or ANONYMOUS_GTID; `event.gtid` describes the layout. Return FOR_PYTHON if it is not as usual."""
    body = at + Header.LENGTH
    if end - body < MIN_MYSQL_BODY:
        return FOR_PYTHON
    number = load64(body + 17)
    if (kind == _GTID) != (0 < number < _MAX_NUMBER) or number < 0:
        return FOR_PYTHON
    if end - body > MIN_MYSQL_BODY:
        if end - body < 42 or load8(body + 25) != _LOGICAL_CLOCK or load64(body + 26) < 0 or load64(body + 34) < 0:
            return FOR_PYTHON
        if end - body >= 49 and read_commit(rows, row, body + 42, end) != GTID_READ:
            return FOR_PYTHON
        rows[TransactionNumber.LAST_COMMITTED, row] = load64(body + 26)
        rows[TransactionNumber.SEQUENCE_NUMBER, row] = load64(body + 34)
    rows[TransactionNumber.GTID_FLAGS, row] = load8(body)
    if kind == _GTID:
        used = state[State.TEXT_USED]
        state[State.TEXT_USED] = used + write_mysql_gtid(state, text + used, body + 1, number)
        store32(text_offsets + 4 * (row + 1), state[State.TEXT_USED])
    return GTID_READ


@kernel
def read_commit(rows: np.ndarray, row: int, at: int, end: int) -> int:
    """Read when a transaction was committed, and its length."""
    immediate = load_time(at)
    original = immediate
    at += 7
    if immediate & _HAS_ORIGINAL_TIME:
        if end - at < 7:
            return FOR_PYTHON
        immediate &= ~_HAS_ORIGINAL_TIME
        original = load_time(at)
        at += 7
    if at < end:
        length, at = load_packed(at, end)
        if length < 0:
            return FOR_PYTHON
        rows[TransactionNumber.DECLARED_LENGTH, row] = length
        if end - at >= 4 and load32(at) & _HAS_ORIGINAL_VERSION and end - at < 8:
            return FOR_PYTHON
    rows[TransactionNumber.IMMEDIATE_COMMIT_TIMESTAMP, row] = immediate
    rows[TransactionNumber.ORIGINAL_COMMIT_TIMESTAMP, row] = original
    return GTID_READ


@kernel
def load_time(at: int) -> int:
    """Read a time of seven bytes."""
    return load32(at) | load16(at + 4) << 32 | load8(at + 6) << 48


@kernel
def read_mariadb_gtid(
    state: np.ndarray, rows: np.ndarray, row: int, text_offsets: int, text: int, at: int, end: int
) -> int:
    """Read MARIADB_GTID; `event.mariadb` describes the layout. Return FOR_PYTHON if it is not as usual."""
    body = at + Header.LENGTH
    if end - body < MIN_MARIADB_BODY or load64(body) < 0:
        return FOR_PYTHON
    flags = load8(body + 12)
    if flags & _XA:
        return FOR_PYTHON
    here = body + 13
    if flags & _GROUP_COMMIT:
        if end - here < 8:
            return FOR_PYTHON
        rows[TransactionNumber.COMMIT_ID, row] = load64(here)
        rows[TransactionNumber.HAS_COMMIT_ID, row] = 1
        here += 8
    if here < end:
        extra = load8(here)
        here += 1 + (extra & _MORE_ENGINES)
        if extra & _ALTERS or here > end:
            return FOR_PYTHON
        if extra & _THREAD:
            if end - here < 4:
                return FOR_PYTHON
            rows[TransactionNumber.THREAD, row] = load32(here)
    rows[TransactionNumber.GTID_FLAGS, row] = flags
    rows[TransactionNumber.DOMAIN, row] = load32(body + 8)
    rows[TransactionNumber.STATEMENT_ENDING, row] = _STANDALONE
    used = state[State.TEXT_USED]
    used += write_mariadb_gtid(text + used, load32(body + 8), load32(at + Header.SERVER_ID), load64(body))
    state[State.TEXT_USED] = used
    store32(text_offsets + 4 * (row + 1), used)
    return GTID_READ
