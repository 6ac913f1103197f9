"""The transaction that rows belong to: its identifier as text, and its commit time."""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode
from binspark.kernels.compiler import kernel
from binspark.kernels.events import MICROSECONDS, body_end, is_commit_time_selected
from binspark.kernels.layout import MIN_MARIADB_BODY, MIN_MYSQL_BODY, NO_THREAD, Header, State, Stop, Transactions
from binspark.kernels.memory import load8, load16, load32, load64, store8, store32
from binspark.kernels.printing.digits import write_unsigned
from binspark.kernels.text import copy_short

_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8).astype(np.int64)
_DASH = ord("-")
_COLON = ord(":")
_UUID_TEXT_LENGTH = 36
_MAX_TEXT_LENGTH = 64  # of an identifier that kernels write, with the bytes after it that they may overwrite
_GTID, _MARIADB_GTID = int(EventCode.GTID), int(EventCode.MARIADB_GTID)
_HAS_COMMIT_ID, _HAS_XID = 0x02, 0x40 | 0x80  # flags of MariaDB's GTID
_HAS_ENGINES, _ENDS_ALTER, _HAS_THREAD = 0x01, 0x04 | 0x08, 0x10  # its extra flags


@kernel
def begin_transaction(
    state: np.ndarray, transactions: np.ndarray, text_offsets: int, text: int, kind: int, at: int, size: int
) -> int:
    """Keep the identifier and the commit time of a transaction, which the rows that follow refer to."""
    number = state[State.TRANSACTIONS]
    used = state[State.TEXT_USED]
    if number >= state[State.TRANSACTION_CAPACITY] or used + _MAX_TEXT_LENGTH > state[State.TEXT_CAPACITY]:
        return Stop.TRANSACTIONS_FULL
    body = at + Header.LENGTH
    end = body_end(state, at, size)
    if end - body < (MIN_MARIADB_BODY if kind == _MARIADB_GTID else MIN_MYSQL_BODY):
        return Stop.REFUSED
    server = load32(at + Header.SERVER_ID)
    thread = NO_THREAD
    commit_time = load32(at + Header.TIMESTAMP) * MICROSECONDS
    if kind == _MARIADB_GTID:
        used += write_mariadb_gtid(text + used, load32(body + 8), server, load64(body))
        thread = mariadb_thread(body, end)
    else:
        commit_time = mysql_commit_time(body, end) or commit_time
        gno = mysql_number(body)
        if kind == _GTID:
            if gno <= 0:
                return Stop.REFUSED
            used += write_mysql_gtid(state, text + used, body + 1, gno)
    transactions[number, Transactions.COMMIT_TIME] = commit_time
    transactions[number, Transactions.SERVER] = server
    store32(text_offsets + 4 * (number + 1), used)
    state[State.TEXT_USED] = used
    state[State.TRANSACTION] = number
    state[State.TRANSACTIONS] = number + 1
    state[State.TX_ROW] = 0
    state[State.THREAD] = thread
    state[State.ROWS_QUERY] = -1
    state[State.SKIP_TRANSACTION] = 0 if is_commit_time_selected(state, commit_time) else 1
    return 0


@kernel
def write_mysql_gtid(state: np.ndarray, target: int, uuid: int, number: int) -> int:
    """Write `uuid:number`; return its length. The text of a repeated UUID is copied."""
    if state[State.UUID_TEXT] and state[State.UUID_LOW] == load64(uuid) and state[State.UUID_HIGH] == load64(uuid + 8):
        copy_short(target, state[State.UUID_TEXT], _UUID_TEXT_LENGTH)
    else:
        write_uuid(target, uuid)
        state[State.UUID_LOW], state[State.UUID_HIGH] = load64(uuid), load64(uuid + 8)
    state[State.UUID_TEXT] = target
    store8(target + _UUID_TEXT_LENGTH, _COLON)
    return write_unsigned(target + _UUID_TEXT_LENGTH + 1, number) - target


@kernel
def write_uuid(target: int, uuid: int) -> None:
    """Write a UUID as text."""
    at = target
    for index in range(16):
        if index in (4, 6, 8, 10):
            store8(at, _DASH)
            at += 1
        byte = load8(uuid + index)
        store8(at, _HEX[byte >> 4])
        store8(at + 1, _HEX[byte & 15])
        at += 2


@kernel
def write_mariadb_gtid(target: int, domain: int, server: int, number: int) -> int:
    """Write `domain-server-number`; return its length. The number is unsigned, and may be 2**63 or more."""
    at = write_unsigned(target, domain)
    store8(at, _DASH)
    at = write_unsigned(at + 1, server)
    store8(at, _DASH)
    return write_unsigned(at + 1, number) - target


@kernel
def mysql_commit_time(body: int, end: int) -> int:
    """Return the commit time of a GTID event on the server that wrote the log, 0 if it has none."""
    if end - body < 49 or load8(body + 25) != 2:
        return 0
    packed = load32(body + 42) | load16(body + 46) << 32 | load8(body + 48) << 48
    return packed & ~(1 << 55)


@kernel
def mysql_number(body: int) -> int:
    """Read the transaction number of a GTID event."""
    return load64(body + 17)


@kernel
def mariadb_thread(body: int, end: int) -> int:
    """Return the thread in a GTID event of MariaDB, NO_THREAD if it has none; `event.mariadb` describes the fields."""
    flags = load8(body + 12)
    at = body + MIN_MARIADB_BODY
    if flags & _HAS_COMMIT_ID:
        at += 8
    if flags & _HAS_XID and end - at >= 6:
        at += 6 + load8(at + 4) + load8(at + 5)
    if at >= end:
        return NO_THREAD
    extra = load8(at)
    at += 1
    if extra & _HAS_ENGINES:
        at += 1
    if extra & _ENDS_ALTER:
        at += 8
    return load32(at) if extra & _HAS_THREAD and end - at >= 4 else NO_THREAD
