"""Skips events that are sound: what `verify` checks of them one at a time finds nothing, and it is known what changes.

An event is sound if it is complete, has its true end position, its checksum matches, its body decodes without a rest,
and it continues the transaction in progress or begins one. Events are skipped by complete transactions: what is known
of the log changes when one ends. Anything that is rare or looks wrong is refused, and is for Python to check.
"""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.known_maps import is_known_map, map_entry
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import byte_table, get, load8, load16, load32, put
from binspark.kernels.roles import role_in_event
from binspark.kernels.rows_head import rows_start
from binspark.kernels.sessions import are_plain, is_ascii
from binspark.kernels.sound.gtids import ENDS_ALTER, read_mysql_gtid
from binspark.kernels.sound.layout import Sound, SoundStop
from binspark.kernels.transaction_gtid import UNUSUAL, TransactionGtid, add_to_intervals, read_mariadb_gtid
from binspark.transactions.byte_tables import (
    INTERRUPTED_BY_BEGIN,
    PROGRESS_AFTER,
    PROGRESS_COUNT,
    QUERY_LENGTH,
    QUERY_SCHEMA_LENGTH_AT,
    QUERY_STATUS_LENGTH_AT,
    ROLES,
)
from binspark.transactions.grammar import Progress, Role

_role_of = byte_table(ROLES)
_progress_after = byte_table(PROGRESS_AFTER)
_QUERY, _XID, _TABLE_MAP, _INTVAR, _RAND = int(E.QUERY), int(E.XID), int(E.TABLE_MAP), int(E.INTVAR), int(E.RAND)
_ROWS_QUERY, _ANNOTATE_ROWS = int(E.ROWS_QUERY), int(E.ANNOTATE_ROWS)
_GTID, _ANONYMOUS_GTID, _MARIADB_GTID = int(E.GTID), int(E.ANONYMOUS_GTID), int(E.MARIADB_GTID)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_XID_LENGTH, _INTVAR_LENGTH, _RAND_LENGTH = 8, 9, 16


@kernel
def skip_sound(state: int, maps: int) -> int:
    """Skip sound events; return why the next one is not skipped. The arguments are addresses of numbers."""
    while True:
        at, end = get(state, Sound.AT), get(state, Sound.END)
        if end - at < Header.LENGTH:
            put(state, Sound.NEEDED, Header.LENGTH)
            return SoundStop.MORE
        size = load32(at + Header.EVENT_SIZE)
        checksum = CHECKSUM_LENGTH * get(state, Sound.CHECKSUM)
        if size < Header.LENGTH + checksum:
            return SoundStop.REFUSED
        if size > end - at:
            put(state, Sound.NEEDED, size)
            return SoundStop.MORE
        offset = at + get(state, Sound.ORIGIN)
        position = load32(at + Header.END_POSITION)
        if position != (offset + size) & 0xFFFFFFFF and (position or not get(state, Sound.MAY_LACK_POSITIONS)):
            return SoundStop.REFUSED
        if checksum and not has_valid_crc32(get(state, Sound.CRC_FUNCTION), at, size):
            return SoundStop.REFUSED
        kind = load8(at + Header.TYPE)
        body_end = at + size - checksum
        if kind == _TABLE_MAP:
            entry = map_entry(maps, at + Header.LENGTH, body_end)
            if not is_known_map(entry, at + Header.LENGTH, body_end):
                put(state, Sound.MAP_ENTRY, entry)
                return SoundStop.TABLE_MAP
        elif not decodes(kind, at, body_end):
            return SoundStop.REFUSED
        stop = follow(state, kind, at, body_end, offset, size)
        if stop:
            return stop
        put(state, Sound.AT, at + size)


@kernel
def decodes(kind: int, at: int, end: int) -> bool:
    """Return whether the body of an event, which ends before `end`, is valid to its last byte.

    GTID events are read when they begin a transaction.
    """
    body = at + Header.LENGTH
    if _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
        return end - body >= 8 and rows_start(kind, at, end) >= 0
    if kind == _QUERY:
        return is_plain_statement(body, end)
    if kind == _XID:
        return end - body == _XID_LENGTH
    if kind == _ROWS_QUERY:
        return end > body
    if kind == _INTVAR:
        return end - body == _INTVAR_LENGTH
    if kind == _RAND:
        return end - body == _RAND_LENGTH
    return kind in (_ANNOTATE_ROWS, _GTID, _ANONYMOUS_GTID, _MARIADB_GTID)


@kernel
def is_plain_statement(body: int, end: int) -> bool:
    """Return whether the session of a statement is valid, and its names are ASCII."""
    if end - body < QUERY_LENGTH:
        return False
    status = body + QUERY_LENGTH
    schema = status + load16(body + QUERY_STATUS_LENGTH_AT)
    length = load8(body + QUERY_SCHEMA_LENGTH_AT)
    if schema + length + 1 > end or load8(schema + length) != 0:
        return False
    return is_ascii(schema, length) and are_plain(status, schema)


@kernel
def follow(state: int, kind: int, at: int, end: int, offset: int, size: int) -> int:
    """Continue the transaction in progress with an event, or begin one; return why not, 0 if it is done."""
    role = role_in_event(_role_of(kind), at, end)
    before = get(state, Sound.PROGRESS)
    if role == Role.UNDECIDED:
        return SoundStop.REFUSED
    if before != Progress.NONE:
        if role == Role.IDENTIFIES or role == Role.OPENS or (role == Role.BEGINS and before in INTERRUPTED_BY_BEGIN):
            return SoundStop.REFUSED
    elif not begin(state, kind, at, end, offset):
        return SoundStop.REFUSED
    progress = _progress_after(PROGRESS_COUNT * role + before)
    if progress == Progress.NONE:
        declared = get(state, Sound.DECLARED)
        if declared and declared != offset + size - get(state, Sound.START):
            return SoundStop.REFUSED
        if get(state, Sound.GTID + TransactionGtid.KIND) in (_GTID, _MARIADB_GTID) and not add_gtid(state):
            return SoundStop.FULL
    put(state, Sound.PROGRESS, progress)
    put(state, Sound.EVENTS, get(state, Sound.EVENTS) + 1)
    note_time(state, load32(at + Header.TIMESTAMP))
    if progress == Progress.NONE:
        end_transaction(state, offset + size)
    return 0


@kernel
def note_time(state: int, time: int) -> None:
    """Extend the times of events by one; 0 is none."""
    if time == 0:
        return
    first = get(state, Sound.FIRST_TIME)
    if first == 0 or time < first:
        put(state, Sound.FIRST_TIME, time)
    if time > get(state, Sound.LAST_TIME):
        put(state, Sound.LAST_TIME, time)


@kernel
def end_transaction(state: int, offset: int) -> None:
    """Note that the log is sound up to an offset, at which a transaction has ended."""
    put(state, Sound.SOUND_END, offset)
    put(state, Sound.SOUND_EVENTS, get(state, Sound.EVENTS))
    put(state, Sound.SOUND_FIRST_TIME, get(state, Sound.FIRST_TIME))
    put(state, Sound.SOUND_LAST_TIME, get(state, Sound.LAST_TIME))
    put(state, Sound.SOUND_CLOCK, get(state, Sound.CLOCK))
    put(state, Sound.SOUND_GAP_EXPECTED, get(state, Sound.GAP_EXPECTED))
    put(state, Sound.TRANSACTIONS, get(state, Sound.TRANSACTIONS) + 1)
    identified = get(state, Sound.GTID + TransactionGtid.KIND) in (_GTID, _ANONYMOUS_GTID, _MARIADB_GTID)
    put(state, Sound.IDENTIFIED, get(state, Sound.IDENTIFIED) + identified)


@kernel
def begin(state: int, kind: int, at: int, end: int, offset: int) -> bool:
    """Begin a transaction with an event; return False if its GTID is not as usual."""
    put(state, Sound.START, offset)
    put(state, Sound.GTID + TransactionGtid.KIND, kind)
    put(state, Sound.DECLARED, 0)
    if kind == _MARIADB_GTID:
        return read_mariadb_gtid(state + 8 * Sound.GTID, at, end, ENDS_ALTER) != UNUSUAL
    if kind in (_GTID, _ANONYMOUS_GTID):
        return read_mysql_gtid(state, kind, at + Header.LENGTH, end)
    return True


@kernel
def add_gtid(state: int) -> bool:
    """Add the GTID of the transaction in progress to the intervals; return False if there is no room."""
    intervals, count = get(state, Sound.INTERVALS), get(state, Sound.INTERVAL_COUNT)
    count = add_to_intervals(intervals, count, get(state, Sound.INTERVAL_CAPACITY), state + 8 * Sound.GTID)
    if count >= 0:
        put(state, Sound.INTERVAL_COUNT, count)
    return count >= 0
