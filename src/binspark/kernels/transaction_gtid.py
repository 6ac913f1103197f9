"""The GTID of a transaction in progress, for kernels that follow transactions, and intervals of GTIDs."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import MIN_MARIADB_BODY, Header
from binspark.kernels.memory import get, load8, load32, load64, put

NO_THREAD, UNUSUAL = -1, -2
_MAX_NUMBER = (1 << 63) - 1
_COMMIT_ID, _XA = 0x02, 0x40 | 0x80
_MORE_ENGINES, _THREAD = 0x01, 0x10
_COMMIT_ID_LENGTH, _THREAD_LENGTH = 8, 4


class TransactionGtid(IntEnum):
    """Numbers of a GTID."""

    KIND = 0  # type code of its event
    SOURCE = 1  # the first eight bytes of the UUID; MariaDB: the domain
    SOURCE_REST = 2  # the last eight bytes; MariaDB: the server
    NUMBER = 3
    COUNT = 4


class Interval(IntEnum):
    """Numbers of consecutive GTIDs of one source."""

    KIND = 0  # type code of the events
    SOURCE = 1
    SOURCE_REST = 2
    START = 3
    STOP = 4  # exclusive
    COUNT = 5


@kernel
def read_mariadb_gtid(gtid: int, at: int, end: int, refused: int) -> int:
    """Read MARIADB_GTID into the numbers of a GTID; `event.mariadb` describes the layout.

    Return the connection of the transaction, NO_THREAD if the event does not have it, or UNUSUAL if it is not as usual:
    of XA, with one of the extra flags that are refused, or shorter than its flags say.
    """
    body = at + Header.LENGTH
    if end - body < MIN_MARIADB_BODY or load64(body) < 0 or load64(body) == _MAX_NUMBER:
        return UNUSUAL
    flags = load8(body + 12)
    if flags & _XA:
        return UNUSUAL
    here = body + MIN_MARIADB_BODY + (_COMMIT_ID_LENGTH if flags & _COMMIT_ID else 0)
    thread = NO_THREAD
    if here < end:
        extra = load8(here)
        if extra & refused:
            return UNUSUAL
        here += 1 + (1 if extra & _MORE_ENGINES else 0)
        if extra & _THREAD:
            if here + _THREAD_LENGTH > end:
                return UNUSUAL
            thread = load32(here)
            here += _THREAD_LENGTH
    put(gtid, TransactionGtid.SOURCE, load32(body + 8))
    put(gtid, TransactionGtid.SOURCE_REST, load32(at + Header.SERVER_ID))
    put(gtid, TransactionGtid.NUMBER, load64(body))
    return thread if here <= end else UNUSUAL


@kernel
def add_to_intervals(intervals: int, count: int, capacity: int, gtid: int) -> int:
    """Add a GTID to intervals; return how many there are then, -1 if there is no room."""
    kind, number = get(gtid, TransactionGtid.KIND), get(gtid, TransactionGtid.NUMBER)
    source, rest = get(gtid, TransactionGtid.SOURCE), get(gtid, TransactionGtid.SOURCE_REST)
    last = intervals + 8 * Interval.COUNT * (count - 1)
    if (
        count
        and get(last, Interval.STOP) == number
        and get(last, Interval.SOURCE) == source
        and get(last, Interval.SOURCE_REST) == rest
        and get(last, Interval.KIND) == kind
    ):
        put(last, Interval.STOP, number + 1)
        return count
    if count == capacity:
        return -1
    new = last + 8 * Interval.COUNT
    put(new, Interval.KIND, kind)
    put(new, Interval.SOURCE, source)
    put(new, Interval.SOURCE_REST, rest)
    put(new, Interval.START, number)
    put(new, Interval.STOP, number + 1)
    return count + 1
