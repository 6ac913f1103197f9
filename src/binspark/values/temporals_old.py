"""TIME, DATETIME and TIMESTAMP as stored before 5.6.4: decimal digits in little-endian integers, without a fraction.

MariaDB kept these type codes for its own form with a fraction (see `temporals_hires`). Nothing in the log tells them
apart; a schema does, with a column's `scale`.
"""

from __future__ import annotations

from binspark.values.column import Column
from binspark.values.integers import to_signed
from binspark.values.options import ValueOptions
from binspark.values.temporals import MICROSECONDS, DateTime, Time, Timestamp
from binspark.values.temporals_hires import decode_datetime_hires, decode_time_hires, decode_timestamp_hires
from binspark.values.temporals_new import MAX_HOUR, check_clock, checked_date
from binspark.wire import Cursor


def decode_old_time(cursor: Cursor, column: Column, _options: ValueOptions) -> Time:
    """Decode TIME: 3 bytes, signed, whose decimal digits are hhmmss."""
    if column.scale:
        return decode_time_hires(cursor, column)
    start = cursor.offset
    signed = to_signed(cursor.uint("value", 3), 3)
    hour, minute, second = _clock_digits(abs(signed))
    check_clock(hour, minute, second, MAX_HOUR, start)
    span = ((hour * 60 + minute) * 60 + second) * MICROSECONDS
    return Time(-span if signed < 0 else span)


def decode_old_datetime(cursor: Cursor, column: Column, _options: ValueOptions) -> DateTime:
    """Decode DATETIME: 8 bytes whose decimal digits are YYYYMMDDhhmmss."""
    if column.scale:
        return decode_datetime_hires(cursor, column)
    start = cursor.offset
    date_digits, clock_digits = divmod(cursor.u64("value"), 1_000_000)
    day = checked_date(*_clock_digits(date_digits), start)
    hour, minute, second = _clock_digits(clock_digits)
    check_clock(hour, minute, second, 23, start)
    return DateTime(day, hour, minute, second)


def decode_old_timestamp(cursor: Cursor, column: Column, _options: ValueOptions) -> Timestamp:
    """Decode TIMESTAMP: 4 bytes of seconds since 1970 in UTC."""
    if column.scale:
        return decode_timestamp_hires(cursor, column)
    return Timestamp(cursor.u32("seconds"))


def _clock_digits(digits: int) -> tuple[int, int, int]:
    """Cut decimal digits into a number and two pairs: hhmmss, YYYYMMDD."""
    return digits // 10_000, digits // 100 % 100, digits % 100
