"""The GTID events of sound transactions: valid to the last byte, with the next number of the logical clock."""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.layout import MIN_MYSQL_BODY
from binspark.kernels.memory import get, load8, load64, load_packed, put
from binspark.kernels.sound.layout import Sound
from binspark.kernels.transaction_gtid import TransactionGtid

_GTID = int(E.GTID)
_CLOCK_AT, _CLOCK_END, _LOGICAL_CLOCK = 25, 42, 2
_TIME_LENGTH, _VERSION_LENGTH, _TICKET_LENGTH = 7, 4, 8
_TOP_BIT = 0x80
_MAX_NUMBER = (1 << 63) - 1
ENDS_ALTER = 0x04 | 0x08
"""Extra flags of MariaDB's GTIDs: the end of an ALTER TABLE that began in another transaction."""


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
    gtid = state + 8 * Sound.GTID
    put(gtid, TransactionGtid.SOURCE, load64(body + 1))
    put(gtid, TransactionGtid.SOURCE_REST, load64(body + 9))
    put(gtid, TransactionGtid.NUMBER, number)
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
    length, at = load_packed(at, end)
    if length < 0:
        return False
    put(state, Sound.DECLARED, length)
    if end - at >= _VERSION_LENGTH:
        at += 2 * _VERSION_LENGTH if load8(at + _VERSION_LENGTH - 1) & _TOP_BIT else _VERSION_LENGTH
    if end - at >= _TICKET_LENGTH:
        at += _TICKET_LENGTH
    return at == end
