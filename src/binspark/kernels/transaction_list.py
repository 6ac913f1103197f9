"""Events into transactions, as columns of numbers: `transactions.assembler`, compiled for the events of most logs.

Every event that this kernel does not know, or whose bytes look wrong, it leaves to Python before it changes anything.
"""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.events import body_end, check_next_event, offset_of
from binspark.kernels.gtids import read_mariadb_gtid, read_mysql_gtid
from binspark.kernels.layout import Header, Operation, State, Stop, TableIds
from binspark.kernels.list_layout import NULL, ChangeNumber, MapNumber, TransactionNumber
from binspark.kernels.memory import load8, load16, load32, load64, store32
from binspark.kernels.roles import role_in_event
from binspark.kernels.row_counts import NO_PARTIAL_DOCUMENTS, count_rows
from binspark.kernels.rows_head import packed_count, rows_start
from binspark.kernels.sessions import UNREADABLE, session_schema, thread_of
from binspark.kernels.table_maps import check_table_map, find_table_id, table_id_at
from binspark.transactions.byte_tables import (
    ENDING_NUMBERS,
    INTERRUPTED_BY_BEGIN,
    PROGRESS_AFTER,
    PROGRESS_COUNT,
    ROLES,
)
from binspark.transactions.grammar import Ending, Progress, Role

_ROLES = np.frombuffer(ROLES, dtype=np.uint8).astype(np.int64)
_AFTER = np.frombuffer(PROGRESS_AFTER, dtype=np.uint8).astype(np.int64)
_QUERY, _TABLE_MAP, _XID = int(E.QUERY), int(E.TABLE_MAP), int(E.XID)
_ROWS_QUERY, _ANNOTATE_ROWS = int(E.ROWS_QUERY), int(E.ANNOTATE_ROWS)
_GTID, _ANONYMOUS_GTID, _MARIADB_GTID = int(E.GTID), int(E.ANONYMOUS_GTID), int(E.MARIADB_GTID)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_UPDATE, _OPERATIONS = int(Operation.UPDATE), len(Operation)
_ENDED_BY_XID, _ENDED_BY_COMMIT = ENDING_NUMBERS[Ending.XID], ENDING_NUMBERS[Ending.COMMIT]
_INTERRUPTED, _PAYLOAD = ENDING_NUMBERS[Ending.INTERRUPTED], ENDING_NUMBERS[Ending.PAYLOAD]
_STATEMENT = ENDING_NUMBERS[Ending.STATEMENT]
_BEGINS_OR_ENDS = (int(Role.BEGINS), int(Role.ENDS))
_NUMBERS, _FIRST_COUNT, _LAST_COUNT = (
    int(number) for number in (TransactionNumber.COUNT, TransactionNumber.LENGTH, TransactionNumber.PAYLOAD_CLOSED)
)
_XID_LENGTH = 8
_MAX_GTID_TEXT = 128


@kernel
def list_transactions(
    state: np.ndarray,
    rows: np.ndarray,
    changes: np.ndarray,
    change_of: np.ndarray,
    table_ids: np.ndarray,
    stamps: np.ndarray,
    maps: np.ndarray,
    names: np.ndarray,
    text_offsets: int,
    text: int,
) -> int:
    """Write the numbers of transactions until Python is needed; return why.

    rows        numbers of transactions; the last one is in progress if State.TRANSACTION is its number, not -1
    changes     numbers of the changes of tables, in the order of their transactions
    change_of   for each table and operation, where its last changes are in `changes`
    stamps      for each table id, the statement in which it was mapped last
    maps        for each table id, numbers of the table as its TABLE_MAP describes it
    names       a hash table of the names of schemas
    """
    while True:
        if state[State.LISTED] >= state[State.LIST_CAPACITY] or state[State.CHANGES] >= state[State.CHANGE_CAPACITY]:
            return Stop.FULL
        if state[State.TEXT_USED] + _MAX_GTID_TEXT > state[State.TEXT_CAPACITY]:
            return Stop.FULL
        stop = check_next_event(state)
        if stop:
            return stop
        at = state[State.AT]
        size = load32(at + Header.EVENT_SIZE)
        kind = load8(at + Header.TYPE)
        end = body_end(state, at, size)
        role = role_in_event(_ROLES[kind], at, end)
        row = state[State.TRANSACTION]
        if state[State.ALL_FOR_PYTHON] or role == Role.UNDECIDED:
            return Stop.PYTHON
        if row >= 0 and rows[TransactionNumber.END_FILE, row] != state[State.FILE]:
            return Stop.PYTHON
        ending, schema, entry, first_row = NULL, NULL, 0, 0
        if _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
            entry = known_table(state, rows, table_ids, stamps, at)
            first_row = rows_start(kind, at, end)
            if entry < 0 or first_row < 0:
                return Stop.PYTHON
        elif kind == _TABLE_MAP:
            if check_table_map(state, table_ids, at, size):
                return Stop.PYTHON
        elif kind == _QUERY:
            if role not in _BEGINS_OR_ENDS:
                return Stop.PYTHON
            schema = session_schema(names, at, end)
            if schema == UNREADABLE:
                return Stop.PYTHON
            ending = _ENDED_BY_COMMIT
        elif kind == _XID:
            if end - at - Header.LENGTH < _XID_LENGTH:
                return Stop.PYTHON
            ending = _ENDED_BY_XID
        elif kind in (_ROWS_QUERY, _ANNOTATE_ROWS):
            if end - at == Header.LENGTH:
                return Stop.PYTHON
        elif kind not in (_GTID, _ANONYMOUS_GTID, _MARIADB_GTID):
            return Stop.PYTHON
        row = cut_transaction(state, rows, role)
        if row < 0:
            row = state[State.LISTED]
            begin_row(state, rows, text_offsets, row, at)
            unread = 0
            if kind == _MARIADB_GTID:
                unread = read_mariadb_gtid(state, rows, row, text_offsets, text, at, end)
            elif kind in (_GTID, _ANONYMOUS_GTID):
                unread = read_mysql_gtid(state, rows, row, text_offsets, text, kind, at, end)
            if unread:
                return Stop.PYTHON
            state[State.TRANSACTION], state[State.LISTED] = row, row + 1
            state[State.STATEMENT] += 1
            state[State.OVERHEAD] = 0
        add_event(state, rows, row, at, size)
        if kind in (_TABLE_MAP, _ROWS_QUERY, _ANNOTATE_ROWS):
            state[State.OVERHEAD] += size
        if kind == _TABLE_MAP:
            stamps[find_table_id(table_ids, table_id_at(at + Header.LENGTH))] = state[State.STATEMENT]
        elif kind == _QUERY:
            note_session(rows, row, thread_of(at), schema)
        elif kind == _XID:
            rows[TransactionNumber.XID, row] = load64(at + Header.LENGTH)
            rows[TransactionNumber.HAS_XID, row] = 1
        elif first_row:
            if first_row < end:
                note_rows(state, changes, change_of, maps[entry], row, kind, at, size, first_row, end)
            if role == Role.ROWS:
                ending = rows[TransactionNumber.STATEMENT_ENDING, row]
                state[State.STATEMENT] += 1
        progress = _AFTER[PROGRESS_COUNT * role + rows[TransactionNumber.PROGRESS, row]]
        rows[TransactionNumber.PROGRESS, row] = progress
        if progress == Progress.NONE and ending != NULL:
            end_transaction(state, rows, row, ending)
        state[State.INNER_NUMBER] += state[State.INNER]
        state[State.AT] = at + size


@kernel
def cut_transaction(state: np.ndarray, rows: np.ndarray, role: int) -> int:
    """End the transaction in progress if an event of a role cannot belong to it; return its number, -1 for none."""
    row = state[State.TRANSACTION]
    if row < 0:
        return -1
    if rows[TransactionNumber.PAYLOAD_CLOSED, row] and not state[State.INNER]:
        end_transaction(state, rows, row, _PAYLOAD)
        return -1
    if role == Role.IDENTIFIES or role == Role.OPENS:
        end_transaction(state, rows, row, _INTERRUPTED)
        return -1
    if role == Role.BEGINS and rows[TransactionNumber.PROGRESS, row] in INTERRUPTED_BY_BEGIN:
        end_transaction(state, rows, row, _INTERRUPTED)
        return -1
    return row


@kernel
def end_transaction(state: np.ndarray, rows: np.ndarray, row: int, ending: int) -> None:
    """Note why the transaction in progress ended."""
    rows[TransactionNumber.ENDING, row] = ending
    state[State.TRANSACTION] = -1


@kernel
def begin_row(state: np.ndarray, rows: np.ndarray, text_offsets: int, row: int, at: int) -> None:
    """Begin a transaction with an event. It has no GTID yet."""
    for number in range(_NUMBERS):
        rows[number, row] = NULL
    for number in range(_FIRST_COUNT, _LAST_COUNT + 1):
        rows[number, row] = 0
    rows[TransactionNumber.HAS_XID, row] = rows[TransactionNumber.HAS_COMMIT_ID, row] = 0
    rows[TransactionNumber.FILE, row] = state[State.FILE]
    rows[TransactionNumber.START, row] = offset_of(state, at)
    rows[TransactionNumber.TIMESTAMP, row] = load32(at + Header.TIMESTAMP)
    rows[TransactionNumber.SERVER, row] = load32(at + Header.SERVER_ID)
    rows[TransactionNumber.STATEMENT_ENDING, row] = _STATEMENT
    store32(text_offsets + 4 * (row + 1), state[State.TEXT_USED])


@kernel
def add_event(state: np.ndarray, rows: np.ndarray, row: int, at: int, size: int) -> None:
    """Count an event in."""
    rows[TransactionNumber.EVENTS, row] += 1
    rows[TransactionNumber.END_FILE, row] = state[State.FILE]
    if state[State.INNER]:
        rows[TransactionNumber.END, row] = state[State.OUTER_END]
        rows[TransactionNumber.PAYLOAD_CLOSED, row] = 0
    else:
        rows[TransactionNumber.END, row] = offset_of(state, at) + size
        rows[TransactionNumber.LENGTH, row] += size


@kernel
def note_session(rows: np.ndarray, row: int, thread: int, schema: int) -> None:
    """Note the session of a statement, unless an earlier one has it."""
    if rows[TransactionNumber.THREAD, row] == NULL:
        rows[TransactionNumber.THREAD, row] = thread
    if rows[TransactionNumber.SCHEMA, row] == NULL:
        rows[TransactionNumber.SCHEMA, row] = schema


@kernel
def known_table(state: np.ndarray, rows: np.ndarray, table_ids: np.ndarray, stamps: np.ndarray, at: int) -> int:
    """Return the entry of the table of a rows event, -1 if no TABLE_MAP of the statement has its id."""
    row = state[State.TRANSACTION]
    if row < 0 or (rows[TransactionNumber.PAYLOAD_CLOSED, row] and not state[State.INNER]):
        return -1
    entry = find_table_id(table_ids, table_id_at(at + Header.LENGTH))
    if table_ids[entry, TableIds.ID] == -1 or stamps[entry] != state[State.STATEMENT]:
        return -1
    return entry


@kernel
def note_rows(
    state: np.ndarray,
    changes: np.ndarray,
    change_of: np.ndarray,
    table: np.ndarray,
    row: int,
    kind: int,
    at: int,
    size: int,
    first_row: int,
    end: int,
) -> None:
    """Count a rows event for its table and operation."""
    operation = kind - (_ROWS_V2 if kind >= _ROWS_V2 else _ROWS_V1)
    change = find_change(state, changes, change_of, table[MapNumber.TABLE], operation, row)
    changes[ChangeNumber.EVENTS, change] += 1
    changes[ChangeNumber.BYTES, change] += size
    changes[ChangeNumber.OVERHEAD, change] += state[State.OVERHEAD]
    state[State.OVERHEAD] = 0
    if changes[ChangeNumber.ROWS, change] < 0:
        return
    count = -1
    start = at + Header.LENGTH + 8
    if kind >= _ROWS_V2:
        start += load16(start)
    columns, start = packed_count(start, end)
    if table[MapNumber.SIZES] and columns == table[MapNumber.COLUMNS]:
        second = start + ((columns + 7) >> 3) if operation == _UPDATE else start
        count = count_rows(table[MapNumber.SIZES], columns, start, second, first_row, end, NO_PARTIAL_DOCUMENTS)
    changes[ChangeNumber.ROWS, change] = changes[ChangeNumber.ROWS, change] + count if count >= 0 else -1


@kernel
def find_change(
    state: np.ndarray, changes: np.ndarray, change_of: np.ndarray, table: int, operation: int, row: int
) -> int:
    """Return where the changes of a table in a transaction are counted."""
    at = _OPERATIONS * table + operation
    change = change_of[at]
    if (
        change < state[State.CHANGES]
        and changes[ChangeNumber.TRANSACTION, change] == row
        and changes[ChangeNumber.TABLE, change] == table
        and changes[ChangeNumber.OPERATION, change] == operation
    ):
        return change
    change = state[State.CHANGES]
    state[State.CHANGES] = change + 1
    change_of[at] = change
    changes[ChangeNumber.TRANSACTION, change] = row
    changes[ChangeNumber.TABLE, change] = table
    changes[ChangeNumber.OPERATION, change] = operation
    changes[ChangeNumber.EVENTS, change] = changes[ChangeNumber.BYTES, change] = changes[ChangeNumber.ROWS, change] = 0
    changes[ChangeNumber.OVERHEAD, change] = 0
    return change
