"""The values of rows as `mariadb-binlog -v` prints them, straight from the bytes of a row image.

The tool does not check values, and prints some that no server would accept; nor does this module.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from binspark.event.column_types import ColumnType as T
from binspark.wire.decimals import packed_decimal_length

Text = Callable[[bytes, int], bytes]
"""Returns the text of the value at an offset."""

Size = Callable[[bytes, int], int]
"""Returns how many bytes the value at an offset has, its length field included."""

_PLAIN = bytes(range(32, 256))
_ESCAPES = {byte: b"\\x%02x" % byte for byte in range(32)}
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_GROUP_DIGITS, _GROUP_BYTES = 9, 4
_PARTIAL_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_FRACTION_BYTES = (0, 1, 1, 2, 2, 3, 3)
_FRACTION_DIGITS = (0, 2, 2, 4, 4, 6, 6)
_DATETIME_BIAS, _TIME_BIAS = 1 << 39, 1 << 23
_LONG_STRING = 256
_UNITS = (1_000_000, 100_000, 10_000, 1_000, 100, 10, 1)
"""Microseconds of the last digit of a fraction, by the number of digits."""

_MAX_DIGITS = 6
_STRING_BITS = 0x30


@dataclass(frozen=True, slots=True)
class ValueForm:
    """How the values of a column are printed.

    type_name   the type, as -vv prints it
    metadata    the number that completes the type, as -vv prints it
    is_counted  whether rows with such values can be counted without -v: the tool stops at the first geometry or
                compressed value
    length_bytes  bytes of the length before a value that is text, 0 for other values
    """

    type_name: bytes
    metadata: int
    size: Size
    text: Text
    is_counted: bool = True
    length_bytes: int = 0


def value_form(type_code: int, metadata: int) -> ValueForm | None:
    """Return how values of a column are printed; None for types that the tool does not know.

    `metadata` is the little-endian number of `TableMap.column_metadata`; that of the tool has some bytes swapped.
    """
    if type_code in _BIG_ENDIAN:
        metadata = (metadata & 0xFF) << 8 | metadata >> 8
    kind = type_code
    if kind == T.STRING and metadata >> 8 in (T.ENUM, T.SET):
        kind = metadata >> 8
    make = _FORMS.get(kind)
    return None if make is None else make(metadata)


_BIG_ENDIAN = frozenset({T.STRING, T.ENUM, T.SET, T.NEWDECIMAL})


def quoted(value: bytes) -> bytes:
    """Return text in quotes. Only control characters are escaped: the tool leaves quotes and backslashes alone."""
    if not value.translate(None, _PLAIN):
        return b"'%b'" % value
    return b"'%b'" % b"".join(_ESCAPES.get(byte) or bytes((byte,)) for byte in value)


def _fixed(length: int) -> Size:
    return lambda _data, _at: length


def _integer(name: bytes, length: int) -> Callable[[int], ValueForm]:
    def text(data: bytes, at: int) -> bytes:
        unsigned = int.from_bytes(data[at : at + length], "little")
        if unsigned >> (8 * length - 1):
            return b"%d (%d)" % (unsigned - (1 << 8 * length), unsigned)
        return b"%d" % unsigned

    return lambda metadata: ValueForm(name, metadata, _fixed(length), text)


def _decimal(metadata: int) -> ValueForm:
    precision, scale = metadata >> 8, metadata & 0xFF
    length = packed_decimal_length(precision, scale) if scale <= precision else 0
    groups = _decimal_groups(precision - scale, scale)

    def text(data: bytes, at: int) -> bytes:
        raw = bytearray(data[at : at + length])
        negative = not raw[0] & 0x80
        if negative:
            raw = bytearray(byte ^ 0xFF for byte in raw)
        raw[0] ^= 0x80
        digits = b""
        start = 0
        for width, count in groups:
            digits += b"%0*d" % (count, int.from_bytes(raw[start : start + width], "big"))
            start += width
        whole = digits[: precision - scale].lstrip(b"0") or b"0"
        fraction = b"." + digits[precision - scale :] if scale else b""
        return (b"-" if negative else b"") + whole + fraction

    return ValueForm(b"DECIMAL(%d,%d)" % (precision, scale), metadata, _fixed(length), text)


@lru_cache(maxsize=1024)
def _decimal_groups(integer_digits: int, fraction_digits: int) -> tuple[tuple[int, int], ...]:
    """Return bytes and digits of each group of a DECIMAL."""
    first, last = integer_digits % _GROUP_DIGITS, fraction_digits % _GROUP_DIGITS
    full = integer_digits // _GROUP_DIGITS + fraction_digits // _GROUP_DIGITS
    groups = [(_PARTIAL_BYTES[first], first), *[(_GROUP_BYTES, _GROUP_DIGITS)] * full, (_PARTIAL_BYTES[last], last)]
    return tuple(group for group in groups if group[1])


def _number(layout: struct.Struct, data: bytes, at: int) -> float:
    number: float = layout.unpack_from(data, at)[0]
    return number


def _float(metadata: int) -> ValueForm:
    return ValueForm(b"FLOAT", metadata, _fixed(4), lambda data, at: b"%-20g" % _number(_FLOAT, data, at))


def _double(metadata: int) -> ValueForm:
    return ValueForm(b"DOUBLE", metadata, _fixed(8), lambda data, at: b"%.20g" % _number(_DOUBLE, data, at))


def _bits(data: bytes, at: int, count: int) -> bytes:
    length = (count + 7) // 8
    number = int.from_bytes(data[at : at + length], "big") & ((1 << count) - 1)
    return b"b'%b'" % (format(number, f"0{count}b").encode() if count else b"")


def _bit(metadata: int) -> ValueForm:
    count = (metadata >> 8) * 8 + (metadata & 0xFF)
    return ValueForm(b"BIT(%d)" % count, metadata, _fixed((count + 7) // 8), lambda data, at: _bits(data, at, count))


def _set(metadata: int) -> ValueForm:
    length = metadata & 0xFF
    return ValueForm(b"SET(%d bytes)" % length, metadata, _fixed(length), lambda data, at: _bits(data, at, 8 * length))


def _enum(metadata: int) -> ValueForm | None:
    length = metadata & 0xFF
    if length not in (1, 2):
        return None
    name = b"ENUM(1 byte)" if length == 1 else b"ENUM(2 bytes)"
    return ValueForm(
        name, metadata, _fixed(length), lambda data, at: b"%d" % int.from_bytes(data[at : at + length], "little")
    )


def _old_timestamp(metadata: int) -> ValueForm:
    def text(data: bytes, at: int) -> bytes:
        return b"%d" % int.from_bytes(data[at : at + 4], "little", signed=True)

    return ValueForm(b"TIMESTAMP", metadata, _fixed(4), text)


def _fraction(data: bytes, at: int, digits: int) -> int:
    """Return the fraction of a second in microseconds."""
    count = _FRACTION_BYTES[digits]
    return int.from_bytes(data[at : at + count], "big") * _UNITS[_FRACTION_DIGITS[digits]]


def _with_fraction(text: bytes, microseconds: int, digits: int) -> bytes:
    return text if not digits else b"%b.%0*d" % (text, digits, microseconds // _UNITS[digits])


def _timestamp(digits: int) -> ValueForm | None:
    if digits > _MAX_DIGITS:
        return None

    def text(data: bytes, at: int) -> bytes:
        seconds = b"%d" % int.from_bytes(data[at : at + 4], "big")
        return _with_fraction(seconds, _fraction(data, at + 4, digits), digits)

    return ValueForm(b"TIMESTAMP(%d)" % digits, digits, _fixed(4 + _FRACTION_BYTES[digits]), text)


def _old_datetime(metadata: int) -> ValueForm:
    def text(data: bytes, at: int) -> bytes:
        day, clock = divmod(int.from_bytes(data[at : at + 8], "little"), 1_000_000)
        date = (day // 10000, day % 10000 // 100, day % 100)
        return b"'%04d-%02d-%02d %02d:%02d:%02d'" % (*date, clock // 10000, clock % 10000 // 100, clock % 100)

    return ValueForm(b"DATETIME", metadata, _fixed(8), text)


def _datetime(digits: int) -> ValueForm | None:
    if digits > _MAX_DIGITS:
        return None

    def text(data: bytes, at: int) -> bytes:
        packed = int.from_bytes(data[at : at + 5], "big") - _DATETIME_BIAS
        year, month = divmod(abs(packed) >> 22, 13)
        packed = abs(packed)
        fields = (year, month, packed >> 17 & 31, packed >> 12 & 31, packed >> 6 & 63, packed & 63)
        shown = b"%04d-%02d-%02d %02d:%02d:%02d" % fields
        return b"'%b'" % _with_fraction(shown, _fraction(data, at + 5, digits), digits)

    return ValueForm(b"DATETIME(%d)" % digits, digits, _fixed(5 + _FRACTION_BYTES[digits]), text)


def _old_time(metadata: int) -> ValueForm:
    def text(data: bytes, at: int) -> bytes:
        number = int.from_bytes(data[at : at + 3], "little", signed=True)
        sign, number = (b"-" if number < 0 else b""), abs(number)
        return b"'%b%02d:%02d:%02d'" % (sign, number // 10000, number % 10000 // 100, number % 100)

    return ValueForm(b"TIME", metadata, _fixed(3), text)


def _time(digits: int) -> ValueForm | None:
    if digits > _MAX_DIGITS:
        return None
    fraction_bytes = _FRACTION_BYTES[digits]
    unit = _UNITS[_FRACTION_DIGITS[digits]]

    def text(data: bytes, at: int) -> bytes:
        length = 3 + fraction_bytes
        number = int.from_bytes(data[at : at + length], "big") - (_TIME_BIAS << 8 * fraction_bytes)
        sign, number = (b"-" if number < 0 else b""), abs(number)
        packed, microseconds = number >> 8 * fraction_bytes, (number & ((1 << 8 * fraction_bytes) - 1)) * unit
        shown = b"%b%02d:%02d:%02d" % (sign, packed >> 12 & 1023, packed >> 6 & 63, packed & 63)
        return b"'%b'" % _with_fraction(shown, microseconds, digits)

    return ValueForm(b"TIME(%d)" % digits, digits, _fixed(3 + fraction_bytes), text)


def _date(metadata: int) -> ValueForm:
    def text(data: bytes, at: int) -> bytes:
        packed = int.from_bytes(data[at : at + 3], "little")
        return b"'%04d:%02d:%02d'" % (packed >> 9, packed >> 5 & 15, packed & 31)

    return ValueForm(b"DATE", metadata, _fixed(3), text)


def _year(metadata: int) -> ValueForm:
    return ValueForm(b"YEAR", metadata, _fixed(1), lambda data, at: b"%04d" % (data[at] + 1900))


def _prefixed(length_bytes: int) -> tuple[Size, Text]:
    def size(data: bytes, at: int) -> int:
        return length_bytes + int.from_bytes(data[at : at + length_bytes], "little")

    def text(data: bytes, at: int) -> bytes:
        return quoted(data[at + length_bytes : at + size(data, at)])

    return size, text


_BLOBS = (b"TINYBLOB/TINYTEXT", b"BLOB/TEXT", b"MEDIUMBLOB/MEDIUMTEXT", b"LONGBLOB/LONGTEXT")


def _blob(suffix: bytes = b"") -> Callable[[int], ValueForm | None]:
    def make(length_bytes: int) -> ValueForm | None:
        if not 1 <= length_bytes <= len(_BLOBS):
            return None
        name = _BLOBS[length_bytes - 1] + suffix
        return ValueForm(name, length_bytes, *_prefixed(length_bytes), not suffix, length_bytes)

    return make


def _varchar(suffix: bytes = b"") -> Callable[[int], ValueForm]:
    def make(length: int) -> ValueForm:
        name = b"VARSTRING(%d)%b" % (length, suffix)
        length_bytes = 1 if length < _LONG_STRING else 2
        return ValueForm(name, length, *_prefixed(length_bytes), not suffix, length_bytes)

    return make


def _string(metadata: int) -> ValueForm | None:
    """Return the form of CHAR. Bits of its length that do not fit into a byte are in the byte of the real type."""
    real_type, length = metadata >> 8, metadata & 0xFF
    if real_type and real_type & _STRING_BITS != _STRING_BITS:
        length |= (real_type & _STRING_BITS ^ _STRING_BITS) << 4
        real_type |= _STRING_BITS
        if real_type != T.STRING:
            make = _FORMS.get(real_type)
            return None if make is None or make is _string else make(metadata)
    length_bytes = 1 if length < _LONG_STRING else 2
    return ValueForm(b"STRING(%d)" % length, metadata, *_prefixed(length_bytes), length_bytes=length_bytes)


def _geometry(length_bytes: int) -> ValueForm:
    """Return the form of a geometry: the length is read from four bytes whatever the metadata says."""

    def size(data: bytes, at: int) -> int:
        return length_bytes + int.from_bytes(data[at : at + 4], "little")

    def text(data: bytes, at: int) -> bytes:
        return quoted(data[at + length_bytes : at + size(data, at)])

    return ValueForm(b"GEOMETRY", length_bytes, size, text, is_counted=False)


_COMPRESSED = b" COMPRESSED"
_FORMS: dict[int, Callable[[int], ValueForm | None]] = {
    T.LONG: _integer(b"INT", 4),
    T.TINY: _integer(b"TINYINT", 1),
    T.SHORT: _integer(b"SHORTINT", 2),
    T.INT24: _integer(b"MEDIUMINT", 3),
    T.LONGLONG: _integer(b"LONGINT", 8),
    T.NEWDECIMAL: _decimal,
    T.FLOAT: _float,
    T.DOUBLE: _double,
    T.BIT: _bit,
    T.TIMESTAMP: _old_timestamp,
    T.TIMESTAMP2: _timestamp,
    T.DATETIME: _old_datetime,
    T.DATETIME2: _datetime,
    T.TIME: _old_time,
    T.TIME2: _time,
    T.NEWDATE: _date,
    T.DATE: _date,
    T.YEAR: _year,
    T.ENUM: _enum,
    T.SET: _set,
    T.BLOB: _blob(),
    T.BLOB_COMPRESSED: _blob(_COMPRESSED),
    T.VARCHAR: _varchar(),
    T.VAR_STRING: _varchar(),
    T.VARCHAR_COMPRESSED: _varchar(_COMPRESSED),
    T.STRING: _string,
    T.GEOMETRY: _geometry,
}
