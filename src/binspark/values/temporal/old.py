"""TIME, DATETIME and TIMESTAMP as stored before 5.6.4: decimal digits in little-endian integers, without a fraction.

MariaDB (with mysql56_temporal_format=OFF) uses the same type codes for a format of its own with fractional seconds. The
log does not distinguish them; a table schema does, by the `scale` of the column.
"""

from __future__ import annotations

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.numbers import to_signed
from binspark.values.options import ValueOptions
from binspark.values.temporal.packed import MAX_HOUR, check_clock, checked_date, fraction_bytes
from binspark.values.temporal.value import MICROSECONDS, DateTime, Time, Timestamp
from binspark.wire import Cursor

_TIME_BYTES = (3, 4, 4, 5, 5, 5, 6)
_DATETIME_BYTES = (5, 6, 6, 7, 7, 7, 8)
_TIME_ZERO_SECONDS = 839 * 3600


def decode_time_hires(cursor: Cursor, column: Column) -> Time:
    """Decode MariaDB's TIME with fractional seconds: units of its precision since -839:00:00, big-endian."""
    start = cursor.offset
    unit = 10 ** (6 - column.scale)
    zero = _TIME_ZERO_SECONDS * MICROSECONDS // unit
    units = cursor.uint_be("value", _TIME_BYTES[column.scale]) - zero
    if abs(units) >= zero:
        raise Malformed("TIME is beyond 838:59:59", Position(offset=start))
    return Time(units * unit, column.scale)


def decode_datetime_hires(cursor: Cursor, column: Column) -> DateTime:
    """Decode MariaDB's DATETIME with fractional seconds: mixed-radix digits from the year down, big-endian."""
    start = cursor.offset
    packed = cursor.uint_be("value", _DATETIME_BYTES[column.scale])
    seconds, fraction = divmod(packed, 10**column.scale)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    months, day = divmod(days, 32)
    year, month = divmod(months, 13)
    microsecond = fraction * 10 ** (6 - column.scale)
    return DateTime(checked_date(year, month, day, start), hour, minute, second, microsecond, column.scale)


def decode_timestamp_hires(cursor: Cursor, column: Column) -> Timestamp:
    """Decode MariaDB's TIMESTAMP with fractional seconds: seconds, then decimal digits, big-endian."""
    start = cursor.offset
    seconds = cursor.uint_be("seconds", 4)
    fraction = cursor.uint_be("fraction", fraction_bytes(column.scale))
    if fraction >= 10**column.scale:
        raise Malformed(f"fractional seconds {fraction} have more than {column.scale} digits", Position(offset=start))
    return Timestamp(seconds, fraction * 10 ** (6 - column.scale), column.scale)


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
    """Split decimal digits into a number and two pairs: hhmmss, YYYYMMDD."""
    return digits // 10_000, digits // 100 % 100, digits % 100
