"""Values of SQL types inside JSON documents, as servers print them.

column type                               data                                      printed as
NEWDECIMAL (246)                          precision (1), scale (1), packed decimal  a number
DATE (10)                                 8 bytes, see `_decode_datetime`           "2024-01-31"
DATETIME (12), TIMESTAMP (7)              the same                                  "2024-01-31 12:34:56.000000"
TIME (11)                                 8 bytes, see `_decode_time`               "-12:34:56.000000"
VAR_STRING (253)                          text in UTF-8                             the text
any other (BLOB, VARCHAR, BIT, ...)       any                                       "base64:type252:AAECAw=="
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from decimal import Decimal

from binspark.event.column_types import ColumnType
from binspark.values.json.document import JsonNode
from binspark.wire import Cursor
from binspark.wire.decimals import decode_packed_decimal, packed_decimal_length

_MAX_PRECISION = 81
"""Servers compute with nine groups of nine digits; columns have fewer."""

_BASE64_LINE = 76


def decode_opaque(type_code: int, data: Cursor) -> JsonNode:
    """Decode an opaque value. The cursor is over its data only."""
    decode = _DECODERS.get(type_code)
    if decode is None:
        return _base64_text(type_code, data.rest("data"))
    value = decode(data)
    data.expect_end()
    return value


def _decode_decimal(data: Cursor) -> Decimal:
    precision = data.u8("precision")
    scale = data.u8("scale")
    if not 0 < precision <= _MAX_PRECISION or scale > precision:
        raise data.malformed(f"invalid precision {precision} and scale {scale} of a JSON decimal")
    return decode_packed_decimal(data.raw("decimal", packed_decimal_length(precision, scale)), precision, scale)


def _decode_date(data: Cursor) -> str:
    """Decode a date: a datetime without its time."""
    return _decode_datetime(data)[:10]


def _decode_datetime(data: Cursor) -> str:
    """Decode a datetime from a little-endian integer of 64 bits.

    bits   field
    41-63  year * 13 + month, then the day in the lowest 5 bits; never negative
    36-40  hour
    30-35  minute
    24-29  second
    0-23   microsecond
    """
    packed = data.i64("datetime")
    if packed < 0:
        raise data.malformed(f"JSON datetime is negative: {packed}")
    year, month = divmod(packed >> 46, 13)
    if year > 9999:
        raise data.malformed(f"year of a JSON datetime is {year}, expected at most 9999")
    date = f"{year:04}-{month:02}-{packed >> 41 & 0x1F:02}"
    return f"{date} {_time_of_day(data, packed, packed >> 36 & 0x1F, max_hour=23)}"


def _decode_time(data: Cursor) -> str:
    """Decode a time from a little-endian integer of 64 bits, negative for a negative time.

    bits   field of the absolute value
    36-63  hour, at most 838
    0-35   as in a datetime
    """
    packed = data.i64("time")
    absolute = abs(packed)
    sign = "-" if packed < 0 else ""
    return sign + _time_of_day(data, absolute, absolute >> 36, max_hour=838)


def _time_of_day(data: Cursor, packed: int, hour: int, max_hour: int) -> str:
    minute = packed >> 30 & 0x3F
    second = packed >> 24 & 0x3F
    microsecond = packed & 0xFFFFFF
    time = f"{hour:02}:{minute:02}:{second:02}.{microsecond:06}"
    if hour > max_hour or minute > 59 or second > 59 or microsecond > 999_999:
        raise data.malformed(f"invalid time {time} in JSON")
    return time


def _decode_var_string(data: Cursor) -> str:
    try:
        return data.rest("text").decode()
    except UnicodeDecodeError as error:
        raise data.malformed(f"opaque JSON string is not valid UTF-8: {error.reason}") from None


def _base64_text(type_code: int, raw: bytes) -> str:
    encoded = b64encode(raw).decode()
    lines = [encoded[start : start + _BASE64_LINE] for start in range(0, len(encoded), _BASE64_LINE)]
    return f"base64:type{type_code}:" + "\n".join(lines)


_DECODERS: dict[int, Callable[[Cursor], JsonNode]] = {
    ColumnType.NEWDECIMAL: _decode_decimal,
    ColumnType.DATE: _decode_date,
    ColumnType.DATETIME: _decode_datetime,
    ColumnType.TIMESTAMP: _decode_datetime,
    ColumnType.TIME: _decode_time,
    ColumnType.VAR_STRING: _decode_var_string,
}
