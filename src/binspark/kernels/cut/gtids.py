"""GTID events of transactions that are cut: what selects a transaction, and its numbers in the new log."""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.cut.layout import KEPT_NUMBERS, Clock, Cut
from binspark.kernels.gtids import load_time
from binspark.kernels.layout import MIN_MYSQL_BODY, Header
from binspark.kernels.list_layout import INTERVAL_LENGTH
from binspark.kernels.memory import (
    copy_bytes,
    get,
    load8,
    load32,
    load64,
    load_packed,
    move_bytes,
    put,
    store8,
    store16,
    store32,
    store64,
)
from binspark.kernels.transaction_gtid import TransactionGtid

_GTID = int(E.GTID)
_MICROSECONDS = 1_000_000
_CLOCK_TYPE_AT, _PARENT_AT, _NUMBER_AT, _CLOCK_END = 25, 26, 34, 42
_LOGICAL_CLOCK = 2
_TIME_LENGTH, _VERSION_LENGTH, _TICKET_LENGTH = 7, 4, 8
_HAS_ORIGINAL_TIME, _HAS_ORIGINAL_VERSION = 1 << 55, 1 << 31
_MAX_NUMBER = (1 << 63) - 1
ALTERS = 0x02 | 0x04 | 0x08
"""Extra flags of MariaDB's GTIDs: an ALTER TABLE that is more than one transaction."""


@kernel
def read_mysql_gtid(state: int, kind: int, at: int, end: int) -> bool:
    """Read GTID or ANONYMOUS_GTID; `event.gtid` describes the layout. Return False if it is not as servers write it.

    What is accepted has only one encoding, so that events that Python encodes anew have the same bytes.
    """
    body = at + Header.LENGTH
    if end - body < MIN_MYSQL_BODY:
        return False
    number = load64(body + 17)
    if (kind == _GTID) != (0 < number < _MAX_NUMBER) or number < 0:
        return False
    gtid = state + 8 * Cut.GTID
    put(gtid, TransactionGtid.SOURCE, load64(body + 1))
    put(gtid, TransactionGtid.SOURCE_REST, load64(body + 9))
    put(gtid, TransactionGtid.NUMBER, number)
    if end - body == MIN_MYSQL_BODY:
        return True
    if end - body < _CLOCK_END or load8(body + _CLOCK_TYPE_AT) != _LOGICAL_CLOCK:
        return False
    if load64(body + _PARENT_AT) < 0 or load64(body + _NUMBER_AT) < 0:
        return False
    put(state, Cut.HAS_CLOCK, 1)
    return body + _CLOCK_END == end or read_commit(state, at, body + _CLOCK_END, end)


@kernel
def read_commit(state: int, event: int, at: int, end: int) -> bool:
    """Read what follows the logical clock; return whether it is valid to the last byte."""
    if end - at < _TIME_LENGTH:
        return False
    time = load_time(at)
    at += _TIME_LENGTH
    if time & _HAS_ORIGINAL_TIME:
        time &= ~_HAS_ORIGINAL_TIME
        if end - at < _TIME_LENGTH or load_time(at) == time:
            return False
        at += _TIME_LENGTH
    if time:
        put(state, Cut.COMMIT_TIME, time)
    if at == end:
        return True
    length, after = load_packed(at, end)
    if length < 0 or after - at != packed_size(length):
        return False
    put(state, Cut.LENGTH_AT, at - event)
    at = after
    if end - at >= _VERSION_LENGTH:
        version = load32(at)
        at += _VERSION_LENGTH
        if version & _HAS_ORIGINAL_VERSION:
            if end - at < _VERSION_LENGTH or load32(at) == version & ~_HAS_ORIGINAL_VERSION:
                return False
            at += _VERSION_LENGTH
    if end - at >= _TICKET_LENGTH:
        at += _TICKET_LENGTH
    return at == end


@kernel
def is_selected(state: int, at: int) -> bool:
    """Return whether the transaction that begins with an event is selected, by all but a decision of Python."""
    if at + get(state, Cut.ORIGIN) < get(state, Cut.START):
        return False
    time = load32(at + Header.TIMESTAMP)
    if time < get(state, Cut.START_TIME) or (get(state, Cut.STOP_TIME) and time >= get(state, Cut.STOP_TIME)):
        return False
    if get(state, Cut.SERVER) >= 0 and load32(at + Header.SERVER_ID) != get(state, Cut.SERVER):
        return False
    thread = get(state, Cut.TX_THREAD)
    if thread >= 0 and get(state, Cut.THREAD) >= 0 and thread != get(state, Cut.THREAD):
        return False
    commit_time = get(state, Cut.COMMIT_TIME)
    if commit_time == 0:
        commit_time = time * _MICROSECONDS
    before = get(state, Cut.COMMITTED_BEFORE)
    if commit_time < get(state, Cut.COMMITTED_FROM) or (before and commit_time >= before):
        return False
    included = get(state, Cut.INCLUDED_COUNT)
    if included >= 0 and not is_listed(state, get(state, Cut.INCLUDED), included):
        return False
    excluded = get(state, Cut.EXCLUDED_COUNT)
    return excluded <= 0 or not is_listed(state, get(state, Cut.EXCLUDED), excluded)


@kernel
def is_listed(state: int, interval: int, count: int) -> bool:
    """Return whether the GTID of the transaction in progress is in one of some intervals."""
    gtid = state + 8 * Cut.GTID
    if get(gtid, TransactionGtid.KIND) != _GTID:
        return False
    high, low = get(gtid, TransactionGtid.SOURCE), get(gtid, TransactionGtid.SOURCE_REST)
    number = get(gtid, TransactionGtid.NUMBER)
    for _ in range(count):
        is_source = load64(interval) == high and load64(interval + 8) == low
        if is_source and load64(interval + 16) <= number < load64(interval + 24):
            return True
        interval += INTERVAL_LENGTH
    return False


@kernel
def write_gtid(state: int, event: int, size: int, content_end: int) -> int:
    """Write a GTID event before the events of its transaction, with their length; return where these end then.

    They begin `size` bytes after OUT_AT, where the event would have the size that it had.
    """
    target = get(state, Cut.OUT_AT)
    copy_bytes(target, event, size)
    if get(state, Cut.HAS_CLOCK):
        advance_clock(get(state, Cut.CLOCK), target + Header.LENGTH)
    length_at = get(state, Cut.LENGTH_AT)
    if length_at == 0 or not get(state, Cut.BY_TABLE):
        return content_end
    length, after = load_packed(event + length_at, event + size)
    old_size = after - event - length_at
    rest = content_end - target - old_size  # all but the length itself
    while rest + packed_size(length) != length:
        length = rest + packed_size(length)
    new_size = packed_size(length)
    moved = new_size - old_size
    if moved:
        move_bytes(target + size + moved, target + size, content_end - target - size)
        version = event + length_at + old_size
        copy_bytes(target + length_at + new_size, version, size - length_at - old_size)
        store32(target + Header.EVENT_SIZE, size + moved)
    store_packed(target + length_at, length)
    return content_end + moved


@kernel
def packed_size(number: int) -> int:
    """Return how many bytes a packed integer takes."""
    if number < 251:
        return 1
    if number < 1 << 16:
        return 3
    return 4 if number < 1 << 24 else 9


@kernel
def store_packed(at: int, number: int) -> None:
    """Write a packed integer."""
    if number < 251:
        store8(at, number)
    elif number < 1 << 16:
        store8(at, 252)
        store16(at + 1, number)
    elif number < 1 << 24:
        store32(at, 253 | number << 8)
    else:
        store8(at, 254)
        store64(at + 1, number)


@kernel
def advance_clock(clock: int, body: int) -> None:
    """Give a transaction its numbers in the new log: `cut.clock.LogicalClock`, compiled."""
    parent = new_parent(clock, load64(body + _PARENT_AT))
    number = get(clock, Clock.LAST) + 1
    put(clock, Clock.LAST, number)
    put(clock, Clock.FIRST + number % KEPT_NUMBERS, load64(body + _NUMBER_AT))
    if get(clock, Clock.KEPT) < KEPT_NUMBERS:
        put(clock, Clock.KEPT, get(clock, Clock.KEPT) + 1)
    store64(body + _PARENT_AT, parent)
    store64(body + _NUMBER_AT, number)


@kernel
def new_parent(clock: int, old: int) -> int:
    """Return the number of the last kept transaction of those up to an old number."""
    kept = get(clock, Clock.KEPT)
    first = get(clock, Clock.LAST) - kept + 1
    if kept == 0 or old < get(clock, Clock.FIRST + first % KEPT_NUMBERS):
        return first - 1 if kept == KEPT_NUMBERS else get(clock, Clock.BEFORE_FILE)
    low, high = 0, kept
    while low < high:
        middle = (low + high) >> 1
        if old < get(clock, Clock.FIRST + (first + middle) % KEPT_NUMBERS):
            high = middle
        else:
            low = middle + 1
    return first - 1 + low
