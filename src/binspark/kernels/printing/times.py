"""Dates and times as text, as a server prints them. Writers return the address behind what they wrote."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import store8
from binspark.kernels.printing.digits import write_padded, write_pair, write_unsigned
from binspark.kernels.words import ZERO

_MINUS, _COLON, _POINT, _SPACE = (ord(character) for character in "-:. ")
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_FRACTION_DIGITS = ZERO + 6


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
    """Write a date, in the calendar or not; return the address behind it."""
    at = write_pair(at, year // 100)
    at = write_pair(at, year % 100)
    store8(at, _MINUS)
    at = write_pair(at + 1, month)
    store8(at, _MINUS)
    return write_pair(at + 1, day)


@kernel
def write_datetime_text(at: int, microseconds: int, digits: int) -> int:
    """Write microseconds since 1970 as a date and a time of day, with so many digits of the fraction."""
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
    """Write hours, minutes, seconds and so many digits of the fraction."""
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
