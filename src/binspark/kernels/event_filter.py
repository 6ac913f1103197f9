"""Which of the listed events are selected: `changes.event_filter`, compiled for the events of most logs.

Every event that this kernel does not know, or whose bytes look wrong, it leaves to Python before it changes anything.
"""

from __future__ import annotations

import numpy as np

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.events import MICROSECONDS
from binspark.kernels.layout import CHECKSUM_LENGTH, MIN_MARIADB_BODY, MIN_MYSQL_BODY, NO_THREAD, Header, TableIds
from binspark.kernels.list_layout import INTERVAL_LENGTH, NULL, EventNumber, FilterNumber, FilterStop
from binspark.kernels.memory import load32, load64
from binspark.kernels.roles import exact_role, role_in_event, statement_text
from binspark.kernels.sessions import thread_of
from binspark.kernels.table_maps import find_table_id, is_known_map, table_id_at
from binspark.kernels.transactions import mariadb_thread, mysql_commit_time, mysql_number
from binspark.transactions.byte_tables import INTERRUPTED_BY_BEGIN, PROGRESS_AFTER, PROGRESS_COUNT, ROLES
from binspark.transactions.grammar import Progress, Role

_ROLES = np.frombuffer(ROLES, dtype=np.uint8).astype(np.int64)
_AFTER = np.frombuffer(PROGRESS_AFTER, dtype=np.uint8).astype(np.int64)
_QUERY, _TABLE_MAP, _XID = int(E.QUERY), int(E.TABLE_MAP), int(E.XID)
_ROWS_QUERY, _ANNOTATE_ROWS = int(E.ROWS_QUERY), int(E.ANNOTATE_ROWS)
_GTID, _ANONYMOUS_GTID, _MARIADB_GTID = int(E.GTID), int(E.ANONYMOUS_GTID), int(E.MARIADB_GTID)
_KEEPS_THREAD_UNKNOWN = (_GTID, _ANONYMOUS_GTID, _MARIADB_GTID)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_NUMBERS = int(EventNumber.COUNT)
_MIN_ROWS_BODY = 8
_BY_PYTHON = 2
_YES, _NO, _BY_TEXT = 1, 0, 2


@kernel
def select_events(numbers: np.ndarray, events: np.ndarray, table_ids: np.ndarray) -> int:
    """Move the selected events to the front until Python is needed; return why.

    events     numbers of listed events, whose bytes are in memory
    table_ids  the table maps that are known; TableIds.TABLE says whether the table is selected
    """
    while numbers[FilterNumber.ROW] < numbers[FilterNumber.END]:
        row = numbers[FilterNumber.ROW]
        at, kind = events[EventNumber.ADDRESS, row], events[EventNumber.TYPE, row]
        end = at + events[EventNumber.SIZE, row] - CHECKSUM_LENGTH * events[EventNumber.CHECKSUM, row]
        if numbers[FilterNumber.ALL_FOR_PYTHON] or not is_usual(numbers, events, table_ids, row, kind, at, end):
            return FilterStop.PYTHON
        role = role_in_event(_ROLES[kind], at, end)
        if role == Role.UNDECIDED:
            return FilterStop.PYTHON
        follow_transaction(numbers, events, row, role, kind, at, end)
        wanted = is_event_wanted(numbers, events, row)
        if wanted and numbers[FilterNumber.BY_CONTENT]:
            about = is_about_selected(numbers, events, table_ids, row, kind, at, end)
            if about == _BY_TEXT:
                return FilterStop.STATEMENT
            wanted = about == _YES
        take_event(numbers, events, wanted)
    return FilterStop.END


@kernel
def is_usual(
    numbers: np.ndarray, events: np.ndarray, table_ids: np.ndarray, row: int, kind: int, at: int, end: int
) -> bool:
    """Return whether this kernel knows an event: its type, its length, and the table that it is about."""
    body = at + Header.LENGTH
    if kind in (_GTID, _ANONYMOUS_GTID):
        if end - body < MIN_MYSQL_BODY or (kind == _GTID) != (mysql_number(body) > 0):
            return False
        return kind == _ANONYMOUS_GTID or numbers[FilterNumber.BY_GTID] != _BY_PYTHON
    if kind == _MARIADB_GTID:
        return end - body >= MIN_MARIADB_BODY and numbers[FilterNumber.BY_GTID] == 0
    if kind == _TABLE_MAP:
        if end - body < _MIN_ROWS_BODY:
            return False
        entry = find_table_id(table_ids, table_id_at(body))
        return is_known_map(table_ids, entry, body, end - body)
    if _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
        if end - body < _MIN_ROWS_BODY:
            return False
        if numbers[FilterNumber.BY_ROW]:
            is_inner = events[EventNumber.INNER, row] != NULL
            if is_inner or events[EventNumber.OFFSET, row] >= numbers[FilterNumber.PICKED_LIMIT]:
                return False
        return table_ids[find_table_id(table_ids, table_id_at(body)), TableIds.ID] != -1
    if kind in (_ROWS_QUERY, _ANNOTATE_ROWS):
        return end > body
    return kind in (_QUERY, _XID)


@kernel
def follow_transaction(
    numbers: np.ndarray, events: np.ndarray, row: int, role: int, kind: int, at: int, end: int
) -> None:
    """Note what is in progress after an event, which belongs to a transaction, and whether a new one is selected."""
    progress = numbers[FilterNumber.PROGRESS]
    is_new = progress == Progress.NONE or role == Role.IDENTIFIES or role == Role.OPENS
    if role == Role.BEGINS and progress in INTERRUPTED_BY_BEGIN:
        is_new = True
    if is_new and events[EventNumber.INNER, row] == NULL:
        drop_held(numbers)
        numbers[FilterNumber.THREAD_KNOWN] = 0
        numbers[FilterNumber.WANTED] = 1 if is_transaction_wanted(numbers, kind, at, end) else 0
    numbers[FilterNumber.PROGRESS] = _AFTER[PROGRESS_COUNT * role + progress]
    if kind == _QUERY:
        numbers[FilterNumber.QUERY] = at


@kernel
def is_transaction_wanted(numbers: np.ndarray, kind: int, at: int, end: int) -> bool:
    """Return whether the transaction that begins with an event is selected, by its GTID and commit time."""
    body = at + Header.LENGTH
    time = load32(at + Header.TIMESTAMP) * MICROSECONDS
    if kind in (_GTID, _ANONYMOUS_GTID):
        time = mysql_commit_time(body, end) or time
    before = numbers[FilterNumber.COMMITTED_BEFORE]
    if time < numbers[FilterNumber.COMMITTED_FROM] or (before != 0 and time >= before):
        return False
    if kind != _GTID:
        return kind == _MARIADB_GTID or numbers[FilterNumber.UNNAMED] != 0
    included = numbers[FilterNumber.INCLUDED_COUNT]
    if included >= 0 and not is_listed(numbers[FilterNumber.INCLUDED], included, body):
        return False
    return not is_listed(numbers[FilterNumber.EXCLUDED], numbers[FilterNumber.EXCLUDED_COUNT], body)


@kernel
def is_listed(interval: int, count: int, body: int) -> bool:
    """Return whether the GTID of an event is in one of some intervals."""
    number = mysql_number(body)
    for _ in range(count):
        is_source = load64(interval) == load64(body + 1) and load64(interval + 8) == load64(body + 9)
        if is_source and load64(interval + 16) <= number < load64(interval + 24):
            return True
        interval += INTERVAL_LENGTH
    return False


@kernel
def is_event_wanted(numbers: np.ndarray, events: np.ndarray, row: int) -> bool:
    """Return whether an event is selected by its transaction, position, time and server."""
    if not numbers[FilterNumber.WANTED] or events[EventNumber.OFFSET, row] < numbers[FilterNumber.START]:
        return False
    time, stop = events[EventNumber.TIMESTAMP, row], numbers[FilterNumber.STOP_TIME]
    if time < numbers[FilterNumber.START_TIME] or (stop != 0 and time >= stop):
        return False
    server = numbers[FilterNumber.SERVER]
    return server < 0 or events[EventNumber.SERVER, row] == server


@kernel
def is_about_selected(
    numbers: np.ndarray, events: np.ndarray, table_ids: np.ndarray, row: int, kind: int, at: int, end: int
) -> int:
    """Return whether an event is about rows that are selected by table and operation; Python reads statements."""
    body = at + Header.LENGTH
    if _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
        operation = kind - (_ROWS_V2 if kind >= _ROWS_V2 else _ROWS_V1)
        is_selected = numbers[FilterNumber.OPERATIONS] >> operation & 1
        if not is_selected or not table_ids[find_table_id(table_ids, table_id_at(body)), TableIds.TABLE]:
            return _NO
        if not numbers[FilterNumber.BY_ROW]:
            return _YES
        return _YES if has_picked_rows(numbers, events[EventNumber.OFFSET, row]) else _NO
    if numbers[FilterNumber.BY_OPERATION]:
        return _NO
    if kind == _TABLE_MAP:
        return _YES if table_ids[find_table_id(table_ids, table_id_at(body)), TableIds.TABLE] else _NO
    if kind == _QUERY:
        text, length = statement_text(at, end)
        return _BY_TEXT if exact_role(text, length) == Role.BY_STATEMENT else _NO
    return _BY_TEXT if kind in (_ROWS_QUERY, _ANNOTATE_ROWS) else _NO


@kernel
def has_picked_rows(numbers: np.ndarray, offset: int) -> bool:
    """Return whether a condition selects rows of an event. Events are asked for in their order."""
    at, count = numbers[FilterNumber.PICKED_AT], numbers[FilterNumber.PICKED_COUNT]
    positions = numbers[FilterNumber.PICKED]
    while at < count and load64(positions + 8 * at) < offset:
        at += 1
    numbers[FilterNumber.PICKED_AT] = at
    return at < count and load64(positions + 8 * at) == offset


@kernel
def take_event(numbers: np.ndarray, events: np.ndarray, wanted: bool) -> None:
    """Keep the next event if it is wanted and its thread is; hold it back while that is not known."""
    row = numbers[FilterNumber.ROW]
    if numbers[FilterNumber.THREAD] >= 0:
        at, kind = events[EventNumber.ADDRESS, row], events[EventNumber.TYPE, row]
        thread = NO_THREAD
        if kind == _QUERY:
            thread = thread_of(at)
        elif kind == _MARIADB_GTID:
            end = at + events[EventNumber.SIZE, row] - CHECKSUM_LENGTH * events[EventNumber.CHECKSUM, row]
            thread = mariadb_thread(at + Header.LENGTH, end)
        if not numbers[FilterNumber.THREAD_KNOWN]:
            wanted = take_unknown_thread(numbers, kind, thread, wanted)
        elif not numbers[FilterNumber.WANTED]:
            wanted = False
    if wanted:
        kept = numbers[FilterNumber.KEPT]
        if kept != row:
            for number in range(_NUMBERS):
                events[number, kept] = events[number, row]
        numbers[FilterNumber.KEPT] = kept + 1
    numbers[FilterNumber.ROW] = row + 1


@kernel
def take_unknown_thread(numbers: np.ndarray, kind: int, thread: int, wanted: bool) -> bool:
    """Decide on a transaction whose thread is not known yet; return whether its next event is kept."""
    if thread != NO_THREAD:
        numbers[FilterNumber.THREAD_KNOWN] = 1
        if thread != numbers[FilterNumber.THREAD]:
            numbers[FilterNumber.WANTED] = 0
        if not numbers[FilterNumber.WANTED]:
            drop_held(numbers)
            return False
        numbers[FilterNumber.HELD] = -1
        return wanted
    if kind not in _KEEPS_THREAD_UNKNOWN:
        numbers[FilterNumber.WANTED] = 0  # a transaction whose thread the log does not have
        drop_held(numbers)
        return False
    if wanted and numbers[FilterNumber.HELD] < 0:
        numbers[FilterNumber.HELD] = numbers[FilterNumber.KEPT]
    return wanted


@kernel
def drop_held(numbers: np.ndarray) -> None:
    """Drop the events that are held back: they are not selected."""
    if numbers[FilterNumber.HELD] >= 0:
        numbers[FilterNumber.KEPT] = numbers[FilterNumber.HELD]
        numbers[FilterNumber.HELD] = -1
