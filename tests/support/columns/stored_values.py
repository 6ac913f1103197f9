"""Values as they are in a log, at random."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from hypothesis import strategies as st

from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import TypeMetadata, type_metadata
from binspark.values.charsets import CODECS, Codec, charset_of
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.decoders import decode_value
from binspark.wire import Cursor

Bytes = st.SearchStrategy[bytes]
_GROUP_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
_MAX_FIXED_SIZE = 16
_YEARS = st.sampled_from((0, 1, 4, 100, 400, 1899, 1900, 1970, 1999, 2000, 2023, 2024, 2100, 9999)) | st.integers(
    0, 9999
)
_MONTHS, _DAYS = st.integers(0, 12), st.integers(0, 31) | st.sampled_from((28, 29, 30, 31))
_CLOCKS = st.tuples(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
_TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.text("abcdefghij", max_size=40)
_SCALAR_DOCUMENTS = (b"\x04\x00", b"\x04\x01", b"\x04\x02", b"\x05\xff\xff", b"\x0c\x03abc", b"\x0b" + bytes(8), b"")


def stored_value(column: Column) -> Bytes:
    """Return bytes that a value of a column takes in a row image."""
    is_counted = type_metadata(column.type) is TypeMetadata.LENGTH_BYTES
    return _STORED.get(column.type, _counted if is_counted else _fixed)(column)


def sized(raw: bytes, length_bytes: int) -> bytes:
    """Put a length before bytes, and drop those that it cannot count."""
    kept = raw[: (1 << 8 * length_bytes) - 1]
    return len(kept).to_bytes(length_bytes, "little") + kept


def _fixed(column: Column) -> Bytes:
    """Any bytes of a type of a fixed size: as many as the reference decoder reads."""
    cursor = Cursor(bytes(_MAX_FIXED_SIZE))
    decode_value(cursor, column)
    return st.binary(min_size=cursor.offset, max_size=cursor.offset)


def _counted(column: Column) -> Bytes:
    return st.binary(max_size=40).map(lambda raw: sized(raw, column.length))


def _old_decimal(column: Column) -> Bytes:
    return st.integers(0, 10 ** max(column.length - 1, 0)).map(
        lambda n: str(n)[: column.length].rjust(column.length).encode()
    )


def _decimal(column: Column) -> Bytes:
    """Groups of nine digits, the odd ones outside; all inverted if negative; the top bit inverted."""
    head, tail = (column.precision - column.scale) % 9, column.scale % 9
    groups = [head, *[9] * ((column.precision - column.scale) // 9), *[9] * (column.scale // 9), tail]
    numbers = st.tuples(*(st.integers(0, 10**digits - 1) | st.just(10**digits - 1) for digits in groups if digits))

    def pack(values: tuple[int, ...], negative: bool) -> bytes:
        widths = [_GROUP_BYTES[digits] for digits in groups if digits]
        packed = bytearray(b"".join(v.to_bytes(w, "big") for v, w in zip(values, widths, strict=True)))
        packed[0] ^= 0x80
        return bytes(byte ^ 0xFF for byte in packed) if negative else bytes(packed)

    return st.builds(pack, numbers, st.booleans())


def _fraction(digits: int) -> Bytes:
    """A fraction with a number of digits: hundredths, then hundredths of those."""
    size = (digits + 1) // 2
    unit = 10 if digits % 2 else 1
    return st.integers(0, 10**digits - 1).map(lambda value: (value * unit).to_bytes(size, "big"))


def _date(_column: Column) -> Bytes:
    return st.builds(lambda y, m, d: (y << 9 | m << 5 | d).to_bytes(3, "little"), _YEARS, _MONTHS, _DAYS)


def _datetime2(column: Column) -> Bytes:
    def pack(year: int, month: int, day: int, clock: tuple[int, int, int], fraction: bytes) -> bytes:
        date = (year * 13 + month) << 5 | day
        return (1 << 39 | date << 17 | clock[0] << 12 | clock[1] << 6 | clock[2]).to_bytes(5, "big") + fraction

    return st.builds(pack, _YEARS, _MONTHS, _DAYS, _CLOCKS, _fraction(column.scale))


def _time2(column: Column) -> Bytes:
    size = (column.scale + 1) // 2

    def pack(hour: int, minute: int, second: int, fraction: bytes, negative: bool) -> bytes:
        clock = hour << 12 | minute << 6 | second
        span = clock << 8 * size | int.from_bytes(fraction, "big")
        return ((0x800000 << 8 * size) + (-span if negative else span)).to_bytes(3 + size, "big")

    sixty = st.integers(0, 59)
    return st.builds(pack, st.integers(0, 838), sixty, sixty, _fraction(column.scale), st.booleans())


def _timestamp2(column: Column) -> Bytes:
    seconds = st.just(bytes(4)) | st.binary(min_size=4, max_size=4)
    return st.builds(bytes.__add__, seconds, _fraction(column.scale))


def _old_date_and_time(column: Column) -> Bytes:
    """TIME, DATETIME and TIMESTAMP in decimal digits, or in MariaDB's form with a fraction."""
    size = {T.TIME: (3, 4, 4, 5, 5, 5, 6), T.DATETIME: (8, 6, 6, 7, 7, 7, 8), T.TIMESTAMP: (4, 5, 5, 6, 6, 7, 7)}
    width = size[column.type][column.scale]
    if column.scale and column.type != T.TIMESTAMP:
        most = (
            2 * 838 * 3600 * 10**column.scale if column.type == T.TIME else 9999 * 13 * 32 * 86_400 * 10**column.scale
        )
        return st.integers(1, most).map(lambda units: units.to_bytes(width, "big"))
    if column.type == T.TIMESTAMP and column.scale:
        fractions = st.integers(0, 10**column.scale - 1).map(lambda units: units.to_bytes(width - 4, "big"))
        return st.builds(bytes.__add__, st.binary(min_size=4, max_size=4), fractions)
    if column.type == T.TIMESTAMP:
        return st.binary(min_size=width, max_size=width)
    clock = _CLOCKS.map(lambda parts: parts[0] * 10000 + parts[1] * 100 + parts[2])
    if column.type == T.TIME:
        return clock.flatmap(lambda v: st.sampled_from((v, -v))).map(lambda v: v.to_bytes(3, "little", signed=True))
    date = st.builds(lambda y, m, d: y * 10000 + m * 100 + d, _YEARS, _MONTHS, _DAYS)
    return st.builds(lambda d, c: (d * 1_000_000 + c).to_bytes(8, "little"), date, clock)


def _bit(column: Column) -> Bytes:
    return st.integers(0, (1 << column.length) - 1).map(lambda v: v.to_bytes((column.length + 7) // 8, "big"))


def _enum(column: Column) -> Bytes:
    most = (1 << 8 * column.length) - 1
    most = most if column.members is None else min(most, len(column.members))
    return st.integers(0, most).map(lambda v: v.to_bytes(column.length, "little"))


def _set(column: Column) -> Bytes:
    bits = 8 * column.length if column.members is None else min(8 * column.length, len(column.members))
    return st.integers(0, (1 << bits) - 1).map(lambda v: v.to_bytes(column.length, "little"))


def text_bytes(column: Column, max_length: int = 400) -> Bytes:
    """Text in the column's character set; bytes of a binary column."""
    if column.collation == BINARY_COLLATION:
        return st.binary(max_size=30).map(lambda raw: raw[:max_length])
    charset = "utf8mb4" if column.collation is None else charset_of(column.collation)
    return _TEXT.map(lambda text: _encoded(text, CODECS[charset], max_length))


def _encoded(text: str, codec: Codec, max_length: int) -> bytes:
    """Encode as many characters as fit; one that the character set does not have becomes a question mark."""
    raw = b""
    for character in text:
        try:
            encoded = codec.encode(character)
        except UnicodeEncodeError:
            encoded = codec.encode("?")
        if len(raw) + len(encoded) > max_length:
            break
        raw += encoded
    return raw


def _limited(column: Column) -> Bytes:
    return text_bytes(column, column.length).map(lambda raw: sized(raw, 1 if column.length <= 255 else 2))


def _blob(column: Column) -> Bytes:
    return text_bytes(column, 250).map(lambda raw: sized(raw, column.length))


def _compressed(raw: bytes) -> bytes:
    return b"\x82" + len(raw).to_bytes(2, "big") + zlib.compress(raw)


def _compressed_varchar(column: Column) -> Bytes:
    forms = text_bytes(column, 200).flatmap(lambda text: st.sampled_from((b"\0" + text, _compressed(text))))
    fitting = forms.map(lambda stored: stored if len(stored) <= column.length else b"")
    return fitting.map(lambda stored: sized(stored, 1 if column.length <= 255 else 2))


def _compressed_blob(column: Column) -> Bytes:
    forms = text_bytes(column, 200).flatmap(lambda text: st.sampled_from((b"", b"\0" + text, _compressed(text))))
    return forms.map(lambda stored: sized(stored, column.length))


def _json(column: Column) -> Bytes:
    return st.sampled_from(_SCALAR_DOCUMENTS).map(lambda raw: sized(raw, column.length))


def _geometry(column: Column) -> Bytes:
    geometries = st.just(b"") | st.builds(bytes.__add__, st.binary(min_size=4, max_size=4), st.binary(max_size=25))
    return geometries.map(lambda raw: sized(raw, column.length))


def _vector(column: Column) -> Bytes:
    floats = st.lists(st.floats(width=32), max_size=6)
    return floats.map(lambda values: sized(struct.pack(f"<{len(values)}f", *values), column.length))


_STORED: dict[int, Callable[[Column], Bytes]] = {
    T.DECIMAL: _old_decimal,
    T.NEWDECIMAL: _decimal,
    T.DATE: _date,
    T.NEWDATE: _date,
    T.DATETIME2: _datetime2,
    T.TIME2: _time2,
    T.TIMESTAMP2: _timestamp2,
    T.TIME: _old_date_and_time,
    T.DATETIME: _old_date_and_time,
    T.TIMESTAMP: _old_date_and_time,
    T.BIT: _bit,
    T.ENUM: _enum,
    T.SET: _set,
    T.STRING: _limited,
    T.VARCHAR: _limited,
    T.VAR_STRING: _limited,
    T.TINY_BLOB: _blob,
    T.BLOB: _blob,
    T.MEDIUM_BLOB: _blob,
    T.LONG_BLOB: _blob,
    T.BLOB_COMPRESSED: _compressed_blob,
    T.VARCHAR_COMPRESSED: _compressed_varchar,
    T.JSON: _json,
    T.GEOMETRY: _geometry,
    T.VECTOR: _vector,
}
