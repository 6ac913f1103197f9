"""Dates and times of the log as the text that a server prints; zero dates and dates of no calendar are text like any.

Writers take where to write, how much room is there, the bytes of the value and the digits of its fraction. They return
the length of the text, REFUSED where `temporal` finds the bytes wrong, or NO_ROOM.
"""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.json.strings import NO_ROOM, REFUSED
from binspark.kernels.memory import load8, load16, load64, load_big_endian, store8
from binspark.kernels.printing.times import write_clock, write_datetime_text, write_parts
from binspark.kernels.temporal import (
    ODD,
    WRONG,
    date_days,
    datetime_microseconds,
    fraction_at,
    old_datetime_microseconds,
    old_timestamp_microseconds,
    timestamp_microseconds,
)
from binspark.kernels.words import ZERO

_ROOM = 40  # the longest text, and what the writers of digits may overwrite behind it
_SECOND = 1_000_000
_SPACE = ord(" ")


def write_date(target: int, capacity: int, source: int, _digits: int) -> int:
    if capacity < _ROOM:
        return NO_ROOM
    if date_days(source) == WRONG:
        return REFUSED
    packed = load16(source) | load8(source + 2) << 16
    return write_parts(target, packed >> 9, packed >> 5 & 15, packed & 31) - target


def write_datetime(target: int, capacity: int, source: int, digits: int) -> int:
    """Write DATETIME of MySQL 5.6.4 and later."""
    if capacity < _ROOM:
        return NO_ROOM
    if datetime_microseconds(source, digits) == WRONG:
        return REFUSED
    packed = load_big_endian(source, 5) - 0x8000000000
    year_month = packed >> 22
    at = write_parts(target, year_month // 13, year_month % 13, packed >> 17 & 31)
    seconds = ((packed >> 12 & 31) * 60 + (packed >> 6 & 63)) * 60 + (packed & 63)
    store8(at, _SPACE)
    return write_clock(at + 1, seconds * _SECOND + fraction_at(source + 5, digits), digits) - target


def write_old_datetime(target: int, capacity: int, source: int, digits: int) -> int:
    """Write DATETIME before 5.6.4."""
    if capacity < _ROOM:
        return NO_ROOM
    if old_datetime_microseconds(source) == WRONG:
        return REFUSED
    packed = load64(source)
    date, time = packed // 1_000_000, packed % 1_000_000
    at = write_parts(target, date // 10000, date // 100 % 100, date % 100)
    seconds = (time // 10000 * 60 + time // 100 % 100) * 60 + time % 100
    store8(at, _SPACE)
    return write_clock(at + 1, seconds * _SECOND, digits) - target


def write_timestamp(target: int, capacity: int, source: int, digits: int) -> int:
    """Write TIMESTAMP of MySQL 5.6.4 and later."""
    if capacity < _ROOM:
        return NO_ROOM
    return write_moment(target, timestamp_microseconds(source, digits), digits)


def write_old_timestamp(target: int, capacity: int, source: int, digits: int) -> int:
    """Write TIMESTAMP before 5.6.4."""
    if capacity < _ROOM:
        return NO_ROOM
    return write_moment(target, old_timestamp_microseconds(source), digits)


@kernel
def write_moment(target: int, moment: int, digits: int) -> int:
    """Write microseconds since 1970, or the zero date for what is no time."""
    if moment == WRONG:
        return REFUSED
    if moment != ODD:
        return write_datetime_text(target, moment, digits) - target
    at = write_parts(target, ZERO, ZERO, ZERO)
    store8(at, _SPACE)
    return write_clock(at + 1, ZERO, digits) - target
