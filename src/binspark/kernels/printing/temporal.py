"""Dates and times as text, as a server prints them: of numbers that Arrow knows, or of the bytes of the log.

Writers of numbers return the address after what they wrote. Writers of bytes of the log take the address to write at,
the room there, the address of the bytes and the digits of the fraction; they return the length of the text, REFUSED
where `kernels.temporal` finds the bytes malformed, or NO_ROOM. Zero dates and dates of no calendar are text like any
other.
"""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import load8, load16, load64, load_big_endian, store8, store64
from binspark.kernels.printing.digits import write_padded, write_pair, write_unsigned
from binspark.kernels.temporal import (
    MALFORMED,
    NOT_A_DATE,
    date_days,
    datetime_microseconds,
    fraction_at,
    old_datetime_microseconds,
    old_time_microseconds,
    old_timestamp_microseconds,
    time_microseconds,
    timestamp_microseconds,
)
from binspark.kernels.words import ZERO

_MINUS, _COLON, _POINT, _SPACE = (ord(character) for character in "-:. ")
_UTC = int.from_bytes(b"+00:00", "little")
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_FRACTION_DIGITS = ZERO + 6
_ROOM = 48  # the longest text, and the bytes after it that writers of digits may overwrite


@kernel
def write_date_text(at: int, days: int) -> int:
    """Write days since 1970 as a date. Years are counted from March, in eras of 400."""
    days += 719_468
    era = days // 146_097
    day_of_era = days - era * 146_097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_era + 400 * era + (month <= 2)
    return write_parts(at, year, month, day)


@kernel
def write_parts(at: int, year: int, month: int, day: int) -> int:
    """Write a date, in the calendar or not; return the address after it."""
    at = write_pair(at, year // 100)
    at = write_pair(at, year % 100)
    store8(at, _MINUS)
    at = write_pair(at + 1, month)
    store8(at, _MINUS)
    return write_pair(at + 1, day)


@kernel
def write_datetime_text(at: int, microseconds: int, digits: int) -> int:
    """Write microseconds since 1970 as a date and a time of day, with `digits` digits of the fraction."""
    days = microseconds // _DAY
    at = write_date_text(at, days)
    store8(at, _SPACE)
    return write_clock(at + 1, microseconds - days * _DAY, digits)


@kernel
def write_time(at: int, microseconds: int, digits: int) -> int:
    """Write a span of time, which may be negative and longer than a day."""
    if microseconds < 0:
        store8(at, _MINUS)
        at += 1
        microseconds = -microseconds
    return write_clock(at, microseconds, digits)


@kernel
def write_clock(at: int, microseconds: int, digits: int) -> int:
    """Write hours, minutes, seconds and `digits` digits of the fraction."""
    seconds = microseconds // _SECOND
    hour = seconds // 3600
    at = write_pair(at, hour) if hour < 100 else write_unsigned(at, hour)
    store8(at, _COLON)
    at = write_pair(at + 1, seconds // 60 % 60)
    store8(at, _COLON)
    at = write_pair(at + 1, seconds % 60)
    if digits == 0:
        return at
    store8(at, _POINT)
    write_padded(at + 1, microseconds - seconds * _SECOND, _FRACTION_DIGITS)
    return at + 1 + digits


@kernel
def write_zone(at: int) -> int:
    """Write the time zone of a point in time: UTC, as MySQL writes it."""
    store64(at, _UTC)
    return at + 6


def write_date(target: int, capacity: int, source: int, _digits: int) -> int:
    """Write DATE."""
    if capacity < _ROOM:
        return NO_ROOM
    if date_days(source) == MALFORMED:
        return REFUSED
    packed = load16(source) | load8(source + 2) << 16
    return write_parts(target, packed >> 9, packed >> 5 & 15, packed & 31) - target


def write_datetime(target: int, capacity: int, source: int, digits: int) -> int:
    """Write DATETIME of MySQL 5.6.4 and later."""
    if capacity < _ROOM:
        return NO_ROOM
    if datetime_microseconds(source, digits) == MALFORMED:
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
    if old_datetime_microseconds(source) == MALFORMED:
        return REFUSED
    packed = load64(source)
    date, time = packed // 1_000_000, packed % 1_000_000
    at = write_parts(target, date // 10000, date // 100 % 100, date % 100)
    seconds = (time // 10000 * 60 + time // 100 % 100) * 60 + time % 100
    store8(at, _SPACE)
    return write_clock(at + 1, seconds * _SECOND, digits) - target


def write_logged_time(target: int, capacity: int, source: int, digits: int) -> int:
    """Write TIME of MySQL 5.6.4 and later."""
    if capacity < _ROOM:
        return NO_ROOM
    span = time_microseconds(source, digits)
    return REFUSED if span == MALFORMED else write_time(target, span, digits) - target


def write_old_time(target: int, capacity: int, source: int, digits: int) -> int:
    """Write TIME before 5.6.4."""
    if capacity < _ROOM:
        return NO_ROOM
    span = old_time_microseconds(source)
    return REFUSED if span == MALFORMED else write_time(target, span, digits) - target


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
    """Write microseconds since 1970, or the zero date for what is not a time."""
    if moment == MALFORMED:
        return REFUSED
    if moment != NOT_A_DATE:
        return write_zone(write_datetime_text(target, moment, digits)) - target
    at = write_parts(target, ZERO, ZERO, ZERO)
    store8(at, _SPACE)
    return write_clock(at + 1, ZERO, digits) - target
