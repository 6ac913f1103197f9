"""Events into columns: framing, checksums, transactions and tables, in one pass over the bytes of a log.

The scan reads what bulk logs consist of. Everything else (a new table, a statement that may be DDL, a compressed
payload, damage) it leaves to Python, which reads the event and lets the scan continue after it.
"""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.events import check_next_event, statement_role
from binspark.kernels.layout import Header, State, Stop
from binspark.kernels.memory import load8, load32
from binspark.kernels.rows import decode_rows_event
from binspark.kernels.statements import end_statement, keep_statement
from binspark.kernels.table_maps import check_table_map
from binspark.kernels.transactions import begin_transaction
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.transactions.grammar import Role

_QUERY, _TABLE_MAP, _GTID_TAGGED = int(E.QUERY), int(E.TABLE_MAP), int(E.GTID_TAGGED)
_FORMAT_DESCRIPTION = int(E.FORMAT_DESCRIPTION)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_SINGLE_FOR_PYTHON = tuple(
    map(int, (E.START_V3, _FORMAT_DESCRIPTION, E.TRANSACTION_PAYLOAD, E.START_ENCRYPTION, E.PARTIAL_UPDATE_ROWS))
)
_ROWS_QUERY, _ANNOTATE_ROWS = int(E.ROWS_QUERY), int(E.ANNOTATE_ROWS)
_PRE_GA_ROWS, _PRE_GA_ROWS_END = int(E.PRE_GA_WRITE_ROWS), int(E.PRE_GA_DELETE_ROWS)
_MARIADB_ROWS, _MARIADB_ROWS_END = int(E.QUERY_COMPRESSED), int(E.PARTIAL_ROW_DATA)


@kernel
def scan(
    state: np.ndarray,
    tables: np.ndarray,
    columns: int,
    table_ids: np.ndarray,
    transactions: np.ndarray,
    text_offsets: int,
    text: int,
) -> int:
    """Read events until Python is needed; return why."""
    while True:
        stop = check_next_event(state)
        if stop:
            return stop
        at = state[State.AT]
        size = load32(at + Header.EVENT_SIZE)
        kind = load8(at + Header.TYPE)
        if state[State.ALL_FOR_PYTHON]:
            stop = Stop.PYTHON
        elif _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
            stop = decode_rows_event(state, tables, columns, table_ids, kind, at, size)
            if stop == 0:
                end_statement(state, at, size)
        elif kind == _TABLE_MAP:
            stop = check_table_map(state, table_ids, at, size)
        elif kind in IDENTIFYING_CODES:
            if state[State.SELECT_BY_GTID] or kind == _GTID_TAGGED:
                return Stop.PYTHON
            stop = begin_transaction(state, transactions, text_offsets, text, kind, at, size)
        elif kind == _QUERY:
            stop = 0 if is_begin_or_commit(state, at, size) and not state[State.SELECT_BY_THREAD] else Stop.PYTHON
        elif kind in (_ROWS_QUERY, _ANNOTATE_ROWS):
            stop = keep_statement(state, at, size, 1 if kind == _ROWS_QUERY else 0)
        elif is_for_python(kind):
            stop = Stop.PYTHON
        if stop:
            return stop
        state[State.EVENTS] += 1
        state[State.AT] = at + size


@kernel
def is_for_python(kind: int) -> bool:
    """Return whether only Python reads events of a type: those that change how a log is read, and unusual rows."""
    return (
        kind in _SINGLE_FOR_PYTHON
        or _PRE_GA_ROWS <= kind <= _PRE_GA_ROWS_END
        or _MARIADB_ROWS <= kind <= _MARIADB_ROWS_END
    )


@kernel
def is_begin_or_commit(state: np.ndarray, at: int, size: int) -> bool:
    """Return whether a statement is BEGIN or COMMIT, as most are in a log of rows."""
    role = statement_role(state, at, size)
    if role == Role.BEGINS:
        state[State.TX_ROW] = 0
        state[State.ROWS_QUERY] = -1
    if role != Role.BY_STATEMENT:
        state[State.THREAD] = load32(at + Header.LENGTH)
    return role != Role.BY_STATEMENT
