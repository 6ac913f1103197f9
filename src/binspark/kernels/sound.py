"""Skips events that are sound: what `verify` checks of them one at a time finds nothing, and it is known what changes.

An event is sound if it is complete, has its true end position, its checksum matches, its body decodes without a rest,
and it continues the transaction in progress or begins one. Events are skipped by complete transactions: what is known
of the log changes when one ends. Anything that is rare or looks wrong is refused, and is for Python to check.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, Header
from binspark.kernels.memory import get, load8, load16, load32, load64, put
from binspark.kernels.roles import role_in_event
from binspark.kernels.sessions import are_plain, is_ascii
from binspark.kernels.transaction_list import rows_start
from binspark.kernels.transactions import MIN_MARIADB_BODY, MIN_MYSQL_BODY
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

_ROLES = np.frombuffer(ROLES, dtype=np.uint8).astype(np.int64)
_AFTER = np.frombuffer(PROGRESS_AFTER, dtype=np.uint8).astype(np.int64)
_QUERY, _XID, _TABLE_MAP, _INTVAR, _RAND = int(E.QUERY), int(E.XID), int(E.TABLE_MAP), int(E.INTVAR), int(E.RAND)
_ROWS_QUERY, _ANNOTATE_ROWS = int(E.ROWS_QUERY), int(E.ANNOTATE_ROWS)
_GTID, _ANONYMOUS_GTID, _MARIADB_GTID = int(E.GTID), int(E.ANONYMOUS_GTID), int(E.MARIADB_GTID)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_XID_LENGTH, _INTVAR_LENGTH, _RAND_LENGTH = 8, 9, 16
_TABLE_ID_LENGTH = 6
_CLOCK_AT, _CLOCK_END, _LOGICAL_CLOCK = 25, 42, 2
_TIME_LENGTH, _VERSION_LENGTH, _TICKET_LENGTH = 7, 4, 8
_TOP_BIT = 0x80
_MAX_NUMBER = (1 << 63) - 1
_COMMIT_ID, _XA = 0x02, 0x40 | 0x80
_MORE_ENGINES, _ENDS_ALTER, _THREAD = 0x01, 0x04 | 0x08, 0x10
_PACKED_2, _PACKED_3, _PACKED_8 = 252, 253, 254

POST_HEADERS = {
    E.QUERY: 13,
    E.XID: 0,
    E.INTVAR: 0,
    E.RAND: 0,
    E.TABLE_MAP: 8,
    **dict.fromkeys((E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1), 8),
    **dict.fromkeys((E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS), 10),
}
"""The events whose layout depends on the length of their post-header, and the length that this kernel knows."""


class Sound(IntEnum):
    """Numbers that the kernel and its caller share.

    The first ones are set by the caller for each window. Those up to DECLARED are of the transaction in progress, those
    after it of the log up to the last complete transaction.
    """

    AT = 0  # address of the next event
    END = 1  # address after the last byte in memory
    ORIGIN = 2  # an address plus this is an offset in the log
    CHECKSUM = 3  # 1: events have a CRC32
    CRC_FUNCTION = 4
    MAY_LACK_POSITIONS = 5  # 1: an end position may be 0
    NEEDED = 6  # how many bytes the next event takes, if they are not in memory
    INTERVALS = 7  # address of the intervals of GTIDs, see `Interval`
    INTERVAL_CAPACITY = 8
    EXPECTS_ANONYMOUS = 9  # 1: there was a transaction without GTID before
    PROGRESS = 10
    EVENTS = 11
    FIRST_TIME = 12  # 0: none so far
    LAST_TIME = 13
    CLOCK = 14  # the last sequence_number
    GAP_EXPECTED = 15  # 1: the next sequence_number may be any greater one
    START = 16  # offset of the first event
    KIND = 17  # its type code
    SOURCE = 18  # the first eight bytes of the UUID; MariaDB: the domain
    SOURCE_REST = 19  # the last eight bytes; MariaDB: the server
    NUMBER = 20
    DECLARED = 21  # the length of the transaction according to its GTID event, 0 if it says none
    SOUND_END = 22  # offset after the last complete transaction
    SOUND_EVENTS = 23
    SOUND_FIRST_TIME = 24
    SOUND_LAST_TIME = 25
    SOUND_CLOCK = 26
    SOUND_GAP_EXPECTED = 27
    TRANSACTIONS = 28
    IDENTIFIED = 29  # how many of them begin with a GTID event
    INTERVAL_COUNT = 30
    MAP_ENTRY = 31  # address of the entry where a TABLE_MAP that is not known belongs
    COUNT = 32


class Interval(IntEnum):
    """Numbers of consecutive GTIDs of one source."""

    KIND = 0  # type code of the events
    SOURCE = 1
    SOURCE_REST = 2
    START = 3
    STOP = 4  # exclusive
    COUNT = 5


class KnownMap(IntEnum):
    """Numbers of a TABLE_MAP that decodes, in a hash table by table id."""

    ID = 0  # -1 for an empty entry
    ADDRESS = 1
    LENGTH = 2
    COUNT = 3


KNOWN_MAPS = 4096
"""How many entries the hash table of TABLE_MAPs has. It must never be full."""


class SoundStop(IntEnum):
    """Why `skip_sound` ended."""

    MORE = 1  # the next event is not completely in memory
    REFUSED = 2  # the next event is for Python
    TABLE_MAP = 3  # it is a TABLE_MAP that is not known
    FULL = 4  # there are too many intervals


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
def map_entry(maps: int, body: int, end: int) -> int:
    """Return the address of the entry of a TABLE_MAP's table id, or of the empty one where it belongs; 0 for no id."""
    if end - body < _TABLE_ID_LENGTH:
        return 0
    table_id = load32(body) | load16(body + 4) << 32
    index = ((table_id & 0xFFFFFFFF) * 0x9E37 >> 7) & (KNOWN_MAPS - 1)
    while True:
        entry = maps + 8 * KnownMap.COUNT * index
        if get(entry, KnownMap.ID) == table_id or get(entry, KnownMap.ID) == -1:
            return entry
        index = (index + 1) & (KNOWN_MAPS - 1)


@kernel
def is_known_map(entry: int, body: int, end: int) -> bool:
    """Return whether a TABLE_MAP is byte for byte the one of an entry, which decodes."""
    length = end - body
    if entry == 0 or get(entry, KnownMap.ID) == -1 or get(entry, KnownMap.LENGTH) != length:
        return False
    known = get(entry, KnownMap.ADDRESS)
    offset = 0
    while offset + 8 <= length:
        if load64(known + offset) != load64(body + offset):
            return False
        offset += 8
    while offset < length:
        if load8(known + offset) != load8(body + offset):
            return False
        offset += 1
    return True


@kernel
def follow(state: int, kind: int, at: int, end: int, offset: int, size: int) -> int:
    """Continue the transaction in progress with an event, or begin one; return why not, 0 if it is done."""
    role = role_in_event(_ROLES[kind], at, end)
    before = get(state, Sound.PROGRESS)
    if role == Role.UNDECIDED:
        return SoundStop.REFUSED
    if before != Progress.NONE:
        if role == Role.IDENTIFIES or role == Role.OPENS or (role == Role.BEGINS and before in INTERRUPTED_BY_BEGIN):
            return SoundStop.REFUSED
    elif not begin(state, kind, at, end, offset):
        return SoundStop.REFUSED
    progress = _AFTER[PROGRESS_COUNT * role + before]
    if progress == Progress.NONE:
        declared = get(state, Sound.DECLARED)
        if declared and declared != offset + size - get(state, Sound.START):
            return SoundStop.REFUSED
        if get(state, Sound.KIND) in (_GTID, _MARIADB_GTID) and not add_number(state):
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
    identified = get(state, Sound.KIND) in (_GTID, _ANONYMOUS_GTID, _MARIADB_GTID)
    put(state, Sound.IDENTIFIED, get(state, Sound.IDENTIFIED) + identified)


@kernel
def begin(state: int, kind: int, at: int, end: int, offset: int) -> bool:
    """Begin a transaction with an event; return False if its GTID is not as usual."""
    put(state, Sound.START, offset)
    put(state, Sound.KIND, kind)
    put(state, Sound.DECLARED, 0)
    if kind == _MARIADB_GTID:
        return read_mariadb_gtid(state, at, end)
    if kind in (_GTID, _ANONYMOUS_GTID):
        return read_mysql_gtid(state, kind, at + Header.LENGTH, end)
    return True


@kernel
def read_mysql_gtid(state: int, kind: int, body: int, end: int) -> bool:
    """Read GTID or ANONYMOUS_GTID; `event.gtid` describes the layout. Return False if it is not as usual."""
    if end - body < MIN_MYSQL_BODY:
        return False
    number = load64(body + 17)
    if kind == _GTID:
        if number <= 0 or number >= _MAX_NUMBER:
            return False
    elif number != 0 or not get(state, Sound.EXPECTS_ANONYMOUS):
        return False
    put(state, Sound.SOURCE, load64(body + 1))
    put(state, Sound.SOURCE_REST, load64(body + 9))
    put(state, Sound.NUMBER, number)
    if end - body == MIN_MYSQL_BODY:
        return True
    if end - body < _CLOCK_END or load8(body + _CLOCK_AT) != _LOGICAL_CLOCK:
        return False
    return tick(state, load64(body + 26), load64(body + 34)) and read_commit(state, body + _CLOCK_END, end)


@kernel
def tick(state: int, last_committed: int, sequence: int) -> bool:
    """Advance the logical clock; return False unless it is by one, or by more after damage."""
    if sequence == 0:
        return True
    last = get(state, Sound.CLOCK)
    if last_committed < 0 or last_committed >= sequence or sequence <= last:
        return False
    if sequence != last + 1 and not get(state, Sound.GAP_EXPECTED):
        return False
    put(state, Sound.CLOCK, sequence)
    put(state, Sound.GAP_EXPECTED, 0)
    return True


@kernel
def read_commit(state: int, at: int, end: int) -> bool:
    """Read what follows the logical clock; return whether it is valid to the last byte."""
    if at == end:
        return True
    if end - at < _TIME_LENGTH:
        return False
    at += 2 * _TIME_LENGTH if load8(at + _TIME_LENGTH - 1) & _TOP_BIT else _TIME_LENGTH
    if at >= end:
        return at == end
    first = load8(at)
    tail = 2 if first == _PACKED_2 else 3 if first == _PACKED_3 else 8 if first == _PACKED_8 else 0
    if (first > 250 and tail == 0) or end - at < 1 + tail:
        return False
    length = first
    if tail == 2:
        length = load16(at + 1)
    elif tail == 3:
        length = load16(at + 1) | load8(at + 3) << 16
    elif tail:
        length = load64(at + 1)
    if length < 0:
        return False
    put(state, Sound.DECLARED, length)
    at += 1 + tail
    if end - at >= _VERSION_LENGTH:
        at += 2 * _VERSION_LENGTH if load8(at + _VERSION_LENGTH - 1) & _TOP_BIT else _VERSION_LENGTH
    if end - at >= _TICKET_LENGTH:
        at += _TICKET_LENGTH
    return at == end


@kernel
def read_mariadb_gtid(state: int, at: int, end: int) -> bool:
    """Read MARIADB_GTID; `event.mariadb` describes the layout. Return False if it is not as usual."""
    body = at + Header.LENGTH
    if end - body < MIN_MARIADB_BODY or load64(body) < 0 or load64(body) == _MAX_NUMBER:
        return False
    flags = load8(body + 12)
    if flags & _XA:
        return False
    here = body + MIN_MARIADB_BODY + (8 if flags & _COMMIT_ID else 0)
    if here < end:
        extra = load8(here)
        if extra & _ENDS_ALTER:
            return False
        here += 1 + (1 if extra & _MORE_ENGINES else 0) + (4 if extra & _THREAD else 0)
    put(state, Sound.SOURCE, load32(body + 8))
    put(state, Sound.SOURCE_REST, load32(at + Header.SERVER_ID))
    put(state, Sound.NUMBER, load64(body))
    return here <= end


@kernel
def add_number(state: int) -> bool:
    """Add the GTID of the transaction in progress to the intervals; return False if there is no room."""
    count = get(state, Sound.INTERVAL_COUNT)
    number = get(state, Sound.NUMBER)
    last = get(state, Sound.INTERVALS) + 8 * Interval.COUNT * (count - 1)
    if (
        count
        and get(last, Interval.STOP) == number
        and get(last, Interval.SOURCE) == get(state, Sound.SOURCE)
        and get(last, Interval.SOURCE_REST) == get(state, Sound.SOURCE_REST)
        and get(last, Interval.KIND) == get(state, Sound.KIND)
    ):
        put(last, Interval.STOP, number + 1)
        return True
    if count == get(state, Sound.INTERVAL_CAPACITY):
        return False
    new = last + 8 * Interval.COUNT
    put(new, Interval.KIND, get(state, Sound.KIND))
    put(new, Interval.SOURCE, get(state, Sound.SOURCE))
    put(new, Interval.SOURCE_REST, get(state, Sound.SOURCE_REST))
    put(new, Interval.START, number)
    put(new, Interval.STOP, number + 1)
    put(state, Sound.INTERVAL_COUNT, count + 1)
    return True
