"""Copies complete transactions into a new log, or what is left of them without other tables and operations.

Events get their positions and checksums there, and GTID events their numbers and the length of their transaction.
`cut.transaction` and `cut.contents` are the reference. Anything that is rare or looks wrong is refused, and is for
Python: a transaction is either written completely, or nothing of it is done.
"""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import crc32_of, has_valid_crc32
from binspark.kernels.cut.gtids import ALTERS, is_selected, read_mysql_gtid, write_gtid
from binspark.kernels.cut.layout import Cut, CutStop, Decision
from binspark.kernels.cut.rows import copy_rows
from binspark.kernels.known_maps import KnownMap, is_known_map, map_entry
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import byte_table, copy_bytes, get, load8, load32, put, store8, store32
from binspark.kernels.roles import role_in_event
from binspark.kernels.rows_head import rows_start
from binspark.kernels.sound.transactions import decodes
from binspark.kernels.transaction_gtid import UNUSUAL, TransactionGtid, add_to_intervals, read_mariadb_gtid
from binspark.transactions.byte_tables import (
    INTERRUPTED_BY_BEGIN,
    PROGRESS_AFTER,
    PROGRESS_COUNT,
    ROLES,
    ROWS_FLAGS_AT,
)
from binspark.transactions.grammar import ROWS_ENDS_STATEMENT, Progress, Role

_role_of = byte_table(ROLES)
_progress_after = byte_table(PROGRESS_AFTER)
_GTID, _ANONYMOUS_GTID, _MARIADB_GTID = int(E.GTID), int(E.ANONYMOUS_GTID), int(E.MARIADB_GTID)
_QUERY, _TABLE_MAP, _ROWS_QUERY, _ANNOTATE_ROWS = (
    int(E.QUERY),
    int(E.TABLE_MAP),
    int(E.ROWS_QUERY),
    int(E.ANNOTATE_ROWS),
)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_FLAGS_AT = int(Header.LENGTH) + ROWS_FLAGS_AT


@kernel
def cut_transactions(state: int) -> int:
    """Cut one transaction after the other; return why the next one is not done. The argument is an address."""
    while True:
        stop = cut_transaction(state)
        if stop:
            return stop


@kernel
def cut_transaction(state: int) -> int:
    """Cut a transaction; return why it is not done, 0 if it is."""
    start = at = get(state, Cut.AT)
    if start + get(state, Cut.ORIGIN) >= get(state, Cut.STOP):
        return CutStop.END
    checksum = CHECKSUM_LENGTH * get(state, Cut.CHECKSUM)
    by_table = get(state, Cut.BY_TABLE)
    is_kept = False
    progress = 0
    content = out = get(state, Cut.OUT_AT)
    statement = 0  # where what precedes the rows of a statement begins, 0 for nothing
    last_rows = 0  # the last rows event of a statement that has not ended, 0 for none
    rows = 0
    first_size = last = 0
    while True:
        stop = check_event(state, start, at)
        if stop:
            return stop
        size, kind = load32(at + Header.EVENT_SIZE), load8(at + Header.TYPE)
        end = at + size - checksum
        role = role_in_event(_role_of(kind), at, end)
        if at == start:
            stop = begin(state, kind, role, at, end)
            if stop:
                return stop
            is_kept = is_selected(state, at)
            if is_kept and get(state, Cut.ASKS):
                if get(state, Cut.DECISION) == Decision.NONE:
                    return CutStop.GTID
                is_kept = get(state, Cut.DECISION) == Decision.KEEP
            if role != Role.BEGINS:
                first_size = size
        elif not continues(role, progress):
            return CutStop.REFUSED
        is_kept = is_kept and is_of_thread(state, kind, at)
        progress = _progress_after(PROGRESS_COUNT * role + progress)
        if is_kept and at == start and first_size:
            content = out = out + size  # the GTID event is written when the length of the transaction is known
        elif is_kept and not by_table:
            copy_bytes(out, at, size)
            out += size
        elif is_kept and role == Role.BEGINS:
            if out != content:
                return CutStop.REFUSED
            copy_bytes(out, at, size)
            out += size
        elif is_kept and role == Role.ENDS:
            if last_rows:
                return CutStop.REFUSED
            if statement:
                out = statement
            copy_bytes(out, at, size)
            out += size
        elif is_kept and is_rows(kind):
            entry = map_entry(get(state, Cut.MAPS), at + Header.LENGTH, end)
            if entry == 0 or get(entry, KnownMap.ID) == -1:
                return CutStop.REFUSED
            if get(entry, KnownMap.WANTED) and is_wanted(state, kind, at, end):
                copied = size
                if get(state, Cut.BY_ROW):
                    copied = copy_rows(state, entry, kind, at, end, out)
                    if copied < 0:
                        return CutStop.REFUSED
                else:
                    copy_bytes(out, at, size)
                if copied:
                    last_rows = out
                    out += copied
                    rows = 1
            if role == Role.ROWS:
                if last_rows:
                    store8(last_rows + _FLAGS_AT, load8(last_rows + _FLAGS_AT) | ROWS_ENDS_STATEMENT)
                elif statement:
                    out = statement
                last_rows = statement = 0
        elif is_kept:
            if last_rows or kind not in (_TABLE_MAP, _ROWS_QUERY, _ANNOTATE_ROWS):
                return CutStop.REFUSED
            if statement == 0:
                statement = out
            if kind == _TABLE_MAP:
                entry = map_entry(get(state, Cut.MAPS), at + Header.LENGTH, end)
                if get(entry, KnownMap.WANTED):
                    copy_bytes(out, at, size)
                    out += size
            else:
                copy_bytes(statement, at, size)
                out = statement + size
        last = at
        at += size
        if progress == Progress.NONE:
            break
    is_empty = by_table and not rows
    has_gtid = get(state, Cut.GTID + TransactionGtid.KIND) in (_GTID, _MARIADB_GTID)
    if is_empty and (get(state, Cut.DROP_EMPTY) or not has_gtid):
        is_kept = False
    if not is_kept:
        if not get(state, Cut.IS_OPEN) and has_gtid and not note_removed(state):
            return CutStop.FULL
        put(state, Cut.REMOVED, get(state, Cut.REMOVED) + 1)
    else:
        if not get(state, Cut.IS_OPEN):
            return CutStop.OPEN
        if first_size:
            out = write_gtid(state, start, first_size, out)
        set_positions(state, out)
        put(state, Cut.TRANSACTIONS, get(state, Cut.TRANSACTIONS) + 1)
        put(state, Cut.EMPTIED, get(state, Cut.EMPTIED) + (1 if is_empty else 0))
        put(state, Cut.LAST, last)
    put(state, Cut.DECISION, Decision.NONE)
    put(state, Cut.SELECTED_AT, get(state, Cut.SELECTED_NEXT))
    put(state, Cut.AT, at)
    return 0


@kernel
def continues(role: int, progress: int) -> bool:
    """Return whether an event belongs to the transaction in progress."""
    if role in (Role.UNDECIDED, Role.IDENTIFIES, Role.OPENS):
        return False
    return role != Role.BEGINS or progress not in INTERRUPTED_BY_BEGIN


@kernel
def check_event(state: int, start: int, at: int) -> int:
    """Return why an event cannot be cut, 0 if it is complete and valid."""
    available = get(state, Cut.END) - at
    checksum = CHECKSUM_LENGTH * get(state, Cut.CHECKSUM)
    if available < Header.LENGTH:
        put(state, Cut.NEEDED, at - start + Header.LENGTH)
        return CutStop.MORE
    size = load32(at + Header.EVENT_SIZE)
    if size < Header.LENGTH + checksum:
        return CutStop.REFUSED
    if size > available:
        put(state, Cut.NEEDED, at - start + size)
        return CutStop.MORE
    position = load32(at + Header.END_POSITION)
    if position not in (0, (at + get(state, Cut.ORIGIN) + size) & 0xFFFFFFFF):
        return CutStop.REFUSED
    if checksum and not has_valid_crc32(get(state, Cut.CRC_FUNCTION), at, size):
        return CutStop.REFUSED
    kind, body, end = load8(at + Header.TYPE), at + Header.LENGTH, at + size - checksum
    if kind != _TABLE_MAP:
        return 0 if decodes(kind, at, end) else CutStop.REFUSED
    entry = map_entry(get(state, Cut.MAPS), body, end)
    if is_known_map(entry, body, end):
        return 0
    put(state, Cut.MAP_AT, at)
    put(state, Cut.MAP_ENTRY, entry)
    return CutStop.TABLE_MAP


@kernel
def begin(state: int, kind: int, role: int, at: int, end: int) -> int:
    """Begin a transaction with an event; return why not, 0 if it does."""
    put(state, Cut.GTID + TransactionGtid.KIND, kind)
    put(state, Cut.HAS_CLOCK, 0)
    put(state, Cut.COMMIT_TIME, 0)
    put(state, Cut.LENGTH_AT, 0)
    put(state, Cut.TX_THREAD, -1)
    put(state, Cut.SELECTED_NEXT, get(state, Cut.SELECTED_AT))
    if kind == _MARIADB_GTID:
        thread = read_mariadb_gtid(state + 8 * Cut.GTID, at, end, ALTERS)
        put(state, Cut.TX_THREAD, thread)
        return 0 if thread != UNUSUAL else CutStop.REFUSED
    if kind in (_GTID, _ANONYMOUS_GTID):
        return 0 if read_mysql_gtid(state, kind, at, end) else CutStop.REFUSED
    return 0 if role == Role.BEGINS else CutStop.REFUSED


@kernel
def is_of_thread(state: int, kind: int, at: int) -> bool:
    """Return whether a transaction may be of the connection that is selected: the first event but its GTID decides."""
    thread = get(state, Cut.THREAD)
    if thread < 0 or get(state, Cut.TX_THREAD) >= 0 or kind in (_GTID, _ANONYMOUS_GTID, _MARIADB_GTID):
        return True
    if kind != _QUERY:
        return False
    put(state, Cut.TX_THREAD, load32(at + Header.LENGTH))
    return get(state, Cut.TX_THREAD) == thread


@kernel
def is_rows(kind: int) -> bool:
    """Return whether an event has rows."""
    return _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END


@kernel
def is_wanted(state: int, kind: int, at: int, end: int) -> bool:
    """Return whether the operation of a rows event is selected, and it has rows."""
    operation = kind - (_ROWS_V2 if kind >= _ROWS_V2 else _ROWS_V1)
    return get(state, Cut.OPERATIONS) >> operation & 1 != 0 and rows_start(kind, at, end) < end


@kernel
def note_removed(state: int) -> bool:
    """Note the GTID of a transaction that is removed; return False if there is no room."""
    intervals, count = get(state, Cut.INTERVALS), get(state, Cut.INTERVAL_COUNT)
    count = add_to_intervals(intervals, count, get(state, Cut.INTERVAL_CAPACITY), state + 8 * Cut.GTID)
    if count >= 0:
        put(state, Cut.INTERVAL_COUNT, count)
    return count >= 0


@kernel
def set_positions(state: int, end: int) -> None:
    """Give the events from OUT_AT on their positions in the new log, and their checksums."""
    at, offset = get(state, Cut.OUT_AT), get(state, Cut.OUT_OFFSET)
    while at < end:
        size = load32(at + Header.EVENT_SIZE)
        offset += size
        store32(at + Header.END_POSITION, offset)
        if get(state, Cut.CHECKSUM):
            length = size - CHECKSUM_LENGTH
            store32(at + length, crc32_of(get(state, Cut.CRC_FUNCTION), at, length))
        at += size
    put(state, Cut.OUT_AT, at)
    put(state, Cut.OUT_OFFSET, offset)
