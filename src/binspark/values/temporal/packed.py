"""DATE, and TIME, DATETIME and TIMESTAMP as stored since 5.6.4: big-endian, with up to six fractional digits.

fractional digits        bytes   unit
0                        0
1, 2                     1       1/100 second
3, 4                     2       1/10,000 second
5, 6                     3       1/1,000,000 second

For an odd number of digits the last one is zero. A value with more digits than its column is malformed.
"""

from __future__ import annotations

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.values.temporal.value import MICROSECONDS, Date, DateTime, Time, Timestamp
from binspark.wire import Cursor

MAX_HOUR = 838
_DATETIME_BYTES = 5
_DATETIME_BIAS = 1 << 39
_TIME_BYTES = 3
_TIME_BIAS = 1 << 23


def decode_date(cursor: Cursor, _column: Column, _options: ValueOptions) -> Date:
    """Decode DATE: 3 bytes, little-endian.

    bits    field
    0-4     day
    5-8     month
    9-23    year
    """
    start = cursor.offset
    packed = cursor.uint("value", 3)
    return checked_date(packed >> 9, packed >> 5 & 15, packed & 31, start)


def decode_datetime2(cursor: Cursor, column: Column, _options: ValueOptions) -> DateTime:
    """Decode DATETIME: 5 bytes, then the fraction.

    bits    field
    0-5     second
    6-11    minute
    12-16   hour
    17-21   day
    22-38   year * 13 + month
    39      always 1
    """
    start = cursor.offset
    packed = cursor.uint_be("value", _DATETIME_BYTES) - _DATETIME_BIAS
    fraction = _read_fraction(cursor, column.scale)
    if packed < 0:
        raise Malformed("DATETIME is before the year 0", Position(offset=start))
    year, month = divmod(packed >> 22, 13)
    day = checked_date(year, month, packed >> 17 & 31, start)
    hour, minute, second = packed >> 12 & 31, packed >> 6 & 63, packed & 63
    check_clock(hour, minute, second, 23, start)
    return DateTime(day, hour, minute, second, _microsecond(fraction, column.scale, start), column.scale)


def decode_timestamp2(cursor: Cursor, column: Column, _options: ValueOptions) -> Timestamp:
    """Decode TIMESTAMP: 4 bytes of seconds since 1970 in UTC, then the fraction.

    The seconds are unsigned: MariaDB has timestamps after 2038, since 11.5.
    """
    start = cursor.offset
    seconds = cursor.uint_be("seconds", 4)
    fraction = _read_fraction(cursor, column.scale)
    return Timestamp(seconds, _microsecond(fraction, column.scale, start), column.scale)


def decode_time2(cursor: Cursor, column: Column, _options: ValueOptions) -> Time:
    """Decode TIME: 3 bytes and the fraction as one number, minus the number that has only its top bit set.

    Servers add that number so that the order of the bytes is the order of the times, negative ones included.

    The difference has the sign of the time. Its absolute value is:

    bits above the fraction   field
    0-5                       second
    6-11                      minute
    12-21                     hour
    """
    start = cursor.offset
    fraction_bits = 8 * fraction_bytes(column.scale)
    biased = cursor.uint_be("value", _TIME_BYTES + fraction_bytes(column.scale))
    signed = biased - (_TIME_BIAS << fraction_bits)
    magnitude = abs(signed)
    clock = magnitude >> fraction_bits
    hour, minute, second = clock >> 12, clock >> 6 & 63, clock & 63
    check_clock(hour, minute, second, MAX_HOUR, start)
    microsecond = _microsecond(magnitude & ((1 << fraction_bits) - 1), column.scale, start)
    span = ((hour * 60 + minute) * 60 + second) * MICROSECONDS + microsecond
    return Time(-span if signed < 0 else span, column.scale)


def fraction_bytes(digits: int) -> int:
    """Return the number of bytes of a fraction with this number of digits."""
    return (digits + 1) // 2


def checked_date(year: int, month: int, day: int, offset: int) -> Date:
    """Return a date; raise `Malformed` for one that a server cannot store."""
    if year > 9999 or month > 12 or day > 31:
        raise Malformed(f"invalid date {year:04d}-{month:02d}-{day:02d}", Position(offset=offset))
    return Date(year, month, day)


def check_clock(hour: int, minute: int, second: int, max_hour: int, offset: int) -> None:
    """Raise `Malformed` for a time of day or a TIME that a server cannot store."""
    if hour > max_hour or minute > 59 or second > 59:
        raise Malformed(f"invalid time {hour:02d}:{minute:02d}:{second:02d}", Position(offset=offset))


def _read_fraction(cursor: Cursor, digits: int) -> int:
    return cursor.uint_be("fraction", fraction_bytes(digits)) if digits else 0


def _microsecond(stored: int, digits: int, offset: int) -> int:
    microsecond: int = stored * 10 ** (6 - 2 * fraction_bytes(digits))
    if microsecond >= MICROSECONDS or microsecond % 10 ** (6 - digits):
        raise Malformed(f"fractional seconds {stored} have more than {digits} digits", Position(offset=offset))
    return microsecond
