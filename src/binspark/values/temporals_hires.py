"""TIME, DATETIME and TIMESTAMP with a fraction as MariaDB stored them before it took MySQL's form.

MariaDB 5.3 to 10.0, later with mysql56_temporal_format=OFF, and in tables made then. All big-endian; a unit is the
last digit of the fraction.

digits      1  2  3  4  5  6   value
TIME        4  4  5  5  5  6   units since -839:00:00
DATETIME    6  6  7  7  7  8   units in mixed radix: ((((year*13+month)*32+day)*24+hour)*60+minute)*60+second
TIMESTAMP   4                  seconds since 1970 in UTC, and then
            1  1  2  2  3  3   the fraction in units
"""

from __future__ import annotations

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.temporals import MICROSECONDS, DateTime, Time, Timestamp
from binspark.values.temporals_new import checked_date, fraction_bytes
from binspark.wire import Cursor

_TIME_BYTES = (3, 4, 4, 5, 5, 5, 6)
_DATETIME_BYTES = (5, 6, 6, 7, 7, 7, 8)
_TIME_ZERO_SECONDS = 839 * 3600


def decode_time_hires(cursor: Cursor, column: Column) -> Time:
    """Decode TIME with a fraction."""
    start = cursor.offset
    unit = 10 ** (6 - column.scale)
    zero = _TIME_ZERO_SECONDS * MICROSECONDS // unit
    units = cursor.uint_be("value", _TIME_BYTES[column.scale]) - zero
    if abs(units) >= zero:
        raise Malformed("a TIME beyond 838:59:59", Position(offset=start))
    return Time(units * unit, column.scale)


def decode_datetime_hires(cursor: Cursor, column: Column) -> DateTime:
    """Decode DATETIME with a fraction."""
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
    """Decode TIMESTAMP with a fraction."""
    start = cursor.offset
    seconds = cursor.uint_be("seconds", 4)
    fraction = cursor.uint_be("fraction", fraction_bytes(column.scale))
    if fraction >= 10**column.scale:
        raise Malformed(f"{fraction} is not a fraction of {column.scale} digits", Position(offset=start))
    return Timestamp(seconds, fraction * 10 ** (6 - column.scale), column.scale)
