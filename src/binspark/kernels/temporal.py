"""Dates and times into numbers that Arrow knows. The layouts are described in `binspark.values`."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.memory import load8, load16, load32, load_big_endian
from binspark.kernels.words import quotient

NOT_A_DATE = -(1 << 62)
"""Instead of a date that is zero, partial, or not in the calendar."""

MALFORMED = NOT_A_DATE + 1
"""Instead of a value whose bytes no server could have written."""

DAY = 86_400_000_000
_SECOND = 1_000_000
_MAX_HOUR = 838
_UNITS = np.array([1, 10_000, 100, 1], dtype=np.int64)  # microseconds of one unit, by bytes of the fraction
_DAYS_BEFORE_MONTH = np.array([0, *((153 * ((month + 9) % 12) + 2) // 5 for month in range(1, 13))], dtype=np.int64)
"""In years that begin in March: a leap day is the last day of such a year."""
_DAYS_BEFORE_1970 = 719_469


@inlined
def days_since_1970(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date; NOT_A_DATE if the calendar does not have it, MALFORMED if none could."""
    if year > 9999 or month > 12 or day > 31:
        return MALFORMED
    if year < 1 or month < 1 or day < 1 or (day > 28 and day > days_of_month(year, month)):
        return NOT_A_DATE
    from_march = year - 1 if month <= 2 else year
    century = quotient(from_march, 100)
    leap_days = (from_march >> 2) - century + (century >> 2)
    return 365 * from_march + leap_days + _DAYS_BEFORE_MONTH[month] + day - _DAYS_BEFORE_1970


@inlined
def days_of_month(year: int, month: int) -> int:
    """Return the days of a month."""
    if month == 2:
        return 29 if year & 3 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@inlined
def moment_of(days: int, hour: int, minute: int, second: int, microsecond: int) -> int:
    """Return microseconds since 1970, NOT_A_DATE or MALFORMED."""
    if hour > 23 or minute > 59 or second > 59 or microsecond == MALFORMED or days == MALFORMED:
        return MALFORMED
    if days == NOT_A_DATE:
        return NOT_A_DATE
    return days * DAY + ((hour * 60 + minute) * 60 + second) * _SECOND + microsecond


@kernel
def date_days(source: int) -> int:
    """Read DATE."""
    packed = load16(source) | load8(source + 2) << 16
    return days_since_1970(packed >> 9, packed >> 5 & 15, packed & 31)


@inlined
def microsecond_of(stored: int, digits: int) -> int:
    """Return the microseconds of a stored fraction, MALFORMED if it has more digits than its column."""
    if digits & 1 and stored % 10:  # two digits are stored together
        return MALFORMED
    microsecond = stored * _UNITS[(digits + 1) >> 1]
    return MALFORMED if microsecond >= _SECOND else microsecond


@inlined
def fraction_at(source: int, digits: int) -> int:
    """Read the fraction of a second; MALFORMED if it has more digits than its column."""
    return microsecond_of(load_big_endian(source, (digits + 1) >> 1), digits) if digits else 0


@kernel
def time_microseconds(source: int, digits: int) -> int:
    """Read TIME of MySQL 5.6.4 and later."""
    fraction_bits = 8 * ((digits + 1) >> 1)
    packed = load_big_endian(source, 3 + ((digits + 1) >> 1)) - (0x800000 << fraction_bits)
    size = -packed if packed < 0 else packed
    clock = size >> fraction_bits
    hour, minute, second = clock >> 12, clock >> 6 & 63, clock & 63
    microsecond = microsecond_of(size & ((1 << fraction_bits) - 1), digits)
    if hour > _MAX_HOUR or minute > 59 or second > 59 or microsecond == MALFORMED:
        return MALFORMED
    span = ((hour * 60 + minute) * 60 + second) * _SECOND + microsecond
    return -span if packed < 0 else span


@kernel
def datetime_microseconds(source: int, digits: int) -> int:
    """Read DATETIME of MySQL 5.6.4 and later."""
    packed = load_big_endian(source, 5) - 0x8000000000
    if packed < 0:
        return MALFORMED
    year_month = packed >> 22
    year = quotient(year_month, 13)
    days = days_since_1970(year, year_month - 13 * year, packed >> 17 & 31)
    return moment_of(days, packed >> 12 & 31, packed >> 6 & 63, packed & 63, fraction_at(source + 5, digits))


@kernel
def timestamp_microseconds(source: int, digits: int) -> int:
    """Read TIMESTAMP of MySQL 5.6.4 and later. Zero is not a time."""
    microsecond = fraction_at(source + 4, digits)
    if microsecond == MALFORMED:
        return MALFORMED
    moment = load_big_endian(source, 4) * _SECOND + microsecond
    return moment or NOT_A_DATE


@kernel
def old_time_microseconds(source: int) -> int:
    """Read TIME before 5.6.4: three bytes, little-endian, signed, as the decimal number HHMMSS."""
    packed = load16(source) | load8(source + 2) << 16
    if packed >= 0x800000:
        packed -= 0x1000000
    size = -packed if packed < 0 else packed
    hour, minute, second = size // 10000, size // 100 % 100, size % 100
    if hour > _MAX_HOUR or minute > 59 or second > 59:
        return MALFORMED
    span = ((hour * 60 + minute) * 60 + second) * _SECOND
    return -span if packed < 0 else span


@kernel
def old_datetime_microseconds(source: int) -> int:
    """Read DATETIME before 5.6.4: eight bytes, little-endian, as the decimal number YYYYMMDDHHMMSS."""
    packed = load32(source) | load32(source + 4) << 32
    if packed < 0:
        return MALFORMED
    date, time = packed // 1_000_000, packed % 1_000_000
    days = days_since_1970(date // 10000, date // 100 % 100, date % 100)
    return moment_of(days, time // 10000, time // 100 % 100, time % 100, 0)


@kernel
def old_timestamp_microseconds(source: int) -> int:
    """Read TIMESTAMP before 5.6.4: four bytes, little-endian. Zero is not a time."""
    seconds = load32(source)
    return seconds * _SECOND if seconds else NOT_A_DATE
