"""Columns for tests of values, by hand and at random."""

from __future__ import annotations

from hypothesis import strategies as st

from binspark.event import Event, Rows
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import TypeMetadata, type_metadata
from binspark.event.rows import ROWS_KINDS
from binspark.frames import Frame, Header, LogFormat
from binspark.frames.checksum import ChecksumState
from binspark.values import BINARY_COLLATION, Column, Value, ValueOptions, decode_value
from binspark.wire import Cursor
from binspark.wire.bitmap import encode_low_bits_first

LATIN1, UTF8MB3, UTF8MB4, UTF16, SJIS = 8, 33, 45, 54, 13
_FORMAT = LogFormat(4, "9.7.0", 19, b"")

_collations = st.sampled_from((None, BINARY_COLLATION, LATIN1, UTF8MB3, UTF8MB4, UTF16, SJIS))
_members = st.one_of(st.none(), st.integers(0, 5).map(lambda count: tuple("abcde"[:count])))
_INTEGERS = (T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG)
_TEMPORALS = (T.TIME, T.DATETIME, T.TIMESTAMP, T.TIME2, T.DATETIME2, T.TIMESTAMP2)
_BLOBS = (T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.BLOB_COMPRESSED)
_WITHOUT_BYTES = (T.NULL, T.INVALID, T.BOOL)

PLAIN_TYPES = tuple(
    kind
    for kind in T
    if type_metadata(kind) is TypeMetadata.NONE and kind not in (*_INTEGERS, *_TEMPORALS, *_WITHOUT_BYTES, T.DECIMAL)
)
"""Types of a fixed size without parameters, such as DATE."""

COUNTED_TYPES = tuple(kind for kind in T if type_metadata(kind) is TypeMetadata.LENGTH_BYTES and kind not in _BLOBS)
"""Types with a length before each value that are not text, such as JSON."""


@st.composite
def decimals(draw: st.DrawFn) -> Column:
    precision = draw(st.integers(1, 65))
    return Column(T.NEWDECIMAL, precision=precision, scale=draw(st.integers(0, min(precision, 30))))


columns: st.SearchStrategy[Column] = st.one_of(
    st.builds(Column, st.sampled_from(_INTEGERS), unsigned=st.sampled_from((None, False, True))),
    st.builds(Column, st.sampled_from(_TEMPORALS), scale=st.integers(0, 6)),
    st.builds(Column, st.sampled_from((*PLAIN_TYPES, *_WITHOUT_BYTES))),
    decimals(),
    st.builds(Column, st.just(T.DECIMAL), length=st.integers(0, 5)),
    st.sampled_from((Column(T.FLOAT, length=4), Column(T.DOUBLE, length=8))),
    st.builds(Column, st.just(T.BIT), length=st.integers(1, 64)),
    st.builds(Column, st.just(T.STRING), length=st.integers(0, 1020), collation=_collations),
    st.builds(Column, st.sampled_from((T.VARCHAR, T.VAR_STRING)), length=st.integers(0, 500), collation=_collations),
    st.builds(Column, st.just(T.VARCHAR_COMPRESSED), length=st.integers(0, 500), collation=_collations),
    st.builds(Column, st.sampled_from(_BLOBS), length=st.integers(1, 4), collation=_collations),
    st.builds(Column, st.sampled_from((*COUNTED_TYPES, T.TYPED_ARRAY)), length=st.integers(1, 4)),
    st.builds(Column, st.just(T.ENUM), length=st.integers(1, 2), members=_members),
    st.builds(Column, st.just(T.SET), length=st.sampled_from((1, 2, 3, 4, 8)), members=_members),
)
"""Any column that a table can have."""


def decode(column: Column, stored: bytes | str, options: ValueOptions | None = None) -> Value:
    """Decode one value, given as bytes or in hex, and see that all its bytes are used."""
    cursor = Cursor(bytes.fromhex(stored) if isinstance(stored, str) else stored)
    value = decode_value(cursor, column, options or ValueOptions())
    cursor.expect_end()
    return value


def present(*bits: int) -> bytes:
    """Return the bitmap of the columns in an image."""
    return encode_low_bits_first([bool(bit) for bit in bits])


def rows_event(type_code: int, count: int, bitmaps: tuple[bytes, bytes | None], rows: bytes | str) -> Event:
    """Return a rows event of a table with `count` columns."""
    raw = bytes.fromhex(rows) if isinstance(rows, str) else rows
    body = Rows(ROWS_KINDS[type_code].operation, 1, 0, (), count, bitmaps[0], bitmaps[1], raw)
    header = Header(0, type_code, 1, 0, 0, 0)
    frame = Frame(1234, 5678, header, type_code, b"", 0, 0, ChecksumState.NONE, _FORMAT)
    return Event(frame, body, "binlog.000007")
