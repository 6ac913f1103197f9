"""Single values: which bytes are which value, and which bytes are refused how."""

from __future__ import annotations

import zlib
from decimal import Decimal

import pytest

from binspark.errors import BinlogError, Malformed, SchemaError, Truncated, Unsupported
from binspark.event.column_types import ColumnType as T
from binspark.values import (
    BINARY_COLLATION,
    Column,
    Date,
    DateTime,
    Geometry,
    Time,
    Timestamp,
    Undecodable,
    Value,
    ValueOptions,
)
from binspark.values.decoders import DECODERS
from tests.support.values.value_columns import LATIN1, SJIS, UTF8MB3, UTF8MB4, UTF16, decode

VALUES: list[tuple[Column, str, Value]] = [
    (Column(T.TINY), "80", -128),
    (Column(T.TINY, unsigned=True), "80", 128),
    (Column(T.SHORT, unsigned=False), "ffff", -1),
    (Column(T.INT24), "000080", -8388608),
    (Column(T.INT24, unsigned=True), "ffffff", 16777215),
    (Column(T.LONG), "ffffff7f", 2147483647),
    (Column(T.LONGLONG), "0000000000000080", -9223372036854775808),
    (Column(T.LONGLONG, unsigned=True), "ffffffffffffffff", 18446744073709551615),
    (Column(T.YEAR), "00", 0),
    (Column(T.YEAR), "ff", 2155),
    (Column(T.NULL), "", None),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "83e763", Decimal("999.99")),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "7c189c", Decimal("-999.99")),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "800000", Decimal("0.00")),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "7fffff", Decimal("0.00")),
    (Column(T.DECIMAL, length=6), "202d312e3530", Decimal("-1.50")),
    (Column(T.DECIMAL, length=4), "2d302e30", Decimal("0.0")),
    (Column(T.FLOAT, length=4), "cdcccc3d", 0.10000000149011612),
    (Column(T.DOUBLE, length=8), "9a9999999999b93f", 0.1),
    (Column(T.BIT, length=9), "0101", 257),
    (Column(T.BIT, length=64), "ffffffffffffffff", 18446744073709551615),
    (Column(T.DATE), "000000", Date(0, 0, 0)),
    (Column(T.NEWDATE), "0fd00f", Date(2024, 0, 15)),
    (Column(T.DATE), "9f1f4e", Date(9999, 12, 31)),
    (Column(T.TIME2), "800000", Time(0)),
    (Column(T.TIME2, scale=1), "7fffffce", Time(-500_000, 1)),
    (Column(T.TIME2, scale=6), "7fffff000000", Time(-1_000_000, 6)),
    (Column(T.TIME2, scale=6), "7fffffffffff", Time(-1, 6)),
    (Column(T.TIME2), "4b9105", Time(-3020399_000_000)),
    (Column(T.DATETIME2), "8000000000", DateTime(Date(0, 0, 0))),
    (Column(T.DATETIME2), "fef3ff7efb", DateTime(Date(9999, 12, 31), 23, 59, 59)),
    (Column(T.DATETIME2, scale=3), "80000000001388", DateTime(Date(0, 0, 0), microsecond=500_000, digits=3)),
    (Column(T.TIMESTAMP2), "00000000", Timestamp(0)),
    (Column(T.TIMESTAMP2), "ffffffff", Timestamp(4294967295)),
    (Column(T.TIMESTAMP2, scale=2), "000000010a", Timestamp(1, 100_000, 2)),
    (Column(T.TIME), "590a80", Time(-3020399_000_000)),
    (Column(T.TIME), "010000", Time(1_000_000)),
    (Column(T.DATETIME), "7787d105f15a0000", DateTime(Date(9999, 12, 31), 23, 59, 59)),
    (Column(T.TIMESTAMP), "ffffff7f", Timestamp(2147483647)),
    (Column(T.TIMESTAMP, scale=6), "69a3817e0f1206", Timestamp(1772323198, 987654, 6)),
    (Column(T.STRING, length=4, collation=BINARY_COLLATION), "0101", b"\1\0\0\0"),
    (Column(T.VARCHAR, length=4, collation=BINARY_COLLATION), "0101", b"\1"),
    (Column(T.STRING, length=4, collation=LATIN1), "01e4", "ä"),
    (Column(T.STRING, length=4), "02c3a4", "ä"),
    (Column(T.STRING, length=1020, collation=UTF8MB4), "0200c3a4", "ä"),
    (Column(T.VARCHAR, length=255, collation=UTF8MB4), "02c3a4", "ä"),
    (Column(T.VARCHAR, length=256, collation=UTF8MB4), "0200c3a4", "ä"),
    (Column(T.BLOB, length=3, collation=UTF16), "02000000e4", "ä"),
    (Column(T.ENUM, length=1, members=("a", "b")), "02", "b"),
    (Column(T.ENUM, length=1, members=("a", "b")), "00", ""),
    (Column(T.ENUM, length=2), "0201", 258),
    (Column(T.SET, length=1, members=("a", "b", "c")), "05", ("a", "c")),
    (Column(T.SET, length=1, members=("a", "b", "c")), "00", ()),
    (Column(T.SET, length=8), "0000000000000080", 1 << 63),
    (Column(T.JSON, length=4), "0200000004" + "01", "true"),
    (Column(T.GEOMETRY, length=4), "00000000", Geometry(0, b"")),
    (Column(T.GEOMETRY, length=4), "05000000e6100000ff", Geometry(4326, b"\xff")),
    (Column(T.VECTOR, length=4), "080000000000803f0000c0bf", (1.0, -1.5)),
    (Column(T.BLOB_COMPRESSED, length=2, collation=LATIN1), "0000", ""),
    (Column(T.BLOB_COMPRESSED, length=2, collation=BINARY_COLLATION), "06000073686f7274", b"short"),
    (Column(T.VARCHAR_COMPRESSED, length=256, collation=LATIN1), "080089ff4b4c1cd10000", "a" * 255),
]


@pytest.mark.parametrize(("column", "stored", "value"), VALUES)
def test_bytes_are_this_value(column: Column, stored: str, value: Value) -> None:
    assert repr(decode(column, stored)) == repr(value)


REFUSALS: list[tuple[Column, str, type[BinlogError]]] = [
    (Column(T.LONG), "ffffff", Truncated),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "83e7", Truncated),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "83e863", Malformed),
    (Column(T.NEWDECIMAL, precision=5, scale=2), "83e764", Malformed),
    (Column(T.DECIMAL), "", Unsupported),
    (Column(T.DECIMAL, length=2), "2e2e", Malformed),
    (Column(T.BIT, length=9), "0201", Malformed),
    (Column(T.DATE), "a00100", Malformed),
    (Column(T.DATE), "00204e", Malformed),
    (Column(T.TIME2), "7fffc4", Malformed),
    (Column(T.TIME2), "b47000", Malformed),
    (Column(T.TIME2, scale=1), "80000001", Malformed),
    (Column(T.TIME2, scale=2), "80000064", Malformed),
    (Column(T.DATETIME2), "7fffffffff", Malformed),
    (Column(T.DATETIME2), "8000018000", Malformed),
    (Column(T.DATETIME2), "800000003c", Malformed),
    (Column(T.DATETIME2, scale=3), "ffffffffff", Truncated),
    (Column(T.TIMESTAMP2, scale=6), "000000000f4240", Malformed),
    (Column(T.TIME), "3c0000", Malformed),
    (Column(T.DATETIME), "ffffffffffffffff", Malformed),
    (Column(T.TIME, scale=1), "00000000", Malformed),
    (Column(T.TIMESTAMP, scale=1), "000000000a", Malformed),
    (Column(T.STRING, length=2, collation=LATIN1), "03616161", Malformed),
    (Column(T.STRING, length=2, collation=LATIN1), "036161", Truncated),
    (Column(T.VARCHAR, length=2, collation=UTF8MB4), "01e4", Malformed),
    (Column(T.VARCHAR, length=2), "01e4", Malformed),
    (Column(T.VARCHAR, length=2, collation=9999), "01e4", Unsupported),
    (Column(T.BLOB, length=4, collation=LATIN1), "ffffffff61", Truncated),
    (Column(T.ENUM, length=1, members=("a", "b")), "03", Malformed),
    (Column(T.SET, length=1, members=("a", "b", "c")), "08", Malformed),
    (Column(T.JSON, length=4), "01000000ff", Malformed),
    (Column(T.GEOMETRY, length=4), "03000000000000", Truncated),
    (Column(T.VECTOR, length=4), "050000000000803f00", Malformed),
    (Column(T.BLOB_COMPRESSED, length=1), "0190", Unsupported),
    (Column(T.BLOB_COMPRESSED, length=1), "0182", Truncated),
    (Column(T.BLOB_COMPRESSED, length=1), "038103ff", Malformed),
    (Column(T.TYPED_ARRAY, length=4), "01000000ff", Malformed),
    (Column(T.INVALID), "00", Unsupported),
    (Column(T.BOOL), "00", Unsupported),
    (Column(T.ENUM, length=3), "000000", SchemaError),
    (Column(T.NEWDECIMAL, precision=66), "00", SchemaError),
    (Column(T.NEWDECIMAL, precision=2, scale=3), "00", SchemaError),
    (Column(T.TIME2, scale=7), "00", SchemaError),
    (Column(T.BLOB, length=5), "00", SchemaError),
]


@pytest.mark.parametrize(("column", "stored", "error"), REFUSALS)
def test_bytes_are_refused(column: Column, stored: str, error: type[BinlogError]) -> None:
    with pytest.raises(BinlogError) as raised:
        decode(column, stored)
    assert type(raised.value) is error


def test_every_type_has_a_decoder() -> None:
    assert set(DECODERS) == set(T)


def test_an_error_has_the_offset_of_the_value() -> None:
    with pytest.raises(Malformed) as raised:
        decode(Column(T.BIT, length=1), "02")
    assert raised.value.position.offset == 0


UNDECODABLE = [
    (UTF8MB4, b"a\xffb", "a�b"),
    (None, b"a\xe2\x82", "a�"),
    (SJIS, b"\x93\xfa\x81", "日�"),
    (UTF16, b"\x00a\xdc\x00\x00b", "a�b"),
    (UTF8MB4, b"\xff" * 3 + b"x", "���x"),
    (UTF8MB3, b"a\xf0\x9f\x98\x80b\xffc", "a�b�c"),
]


@pytest.mark.parametrize(("collation", "raw", "replaced"), UNDECODABLE)
def test_undecodable_text_follows_the_policy(collation: int | None, raw: bytes, replaced: str) -> None:
    column = Column(T.VARCHAR, length=100, collation=collation)
    stored = bytes((len(raw),)) + raw
    with pytest.raises(Malformed, match="text is not valid"):
        decode(column, stored)
    assert decode(column, stored, ValueOptions(Undecodable.BINARY)) == raw
    assert decode(column, stored, ValueOptions(Undecodable.REPLACE)) == replaced


def test_what_may_be_text_or_blob_is_bytes_if_it_is_not_valid_text() -> None:
    column = Column(T.BLOB, length=1)
    assert decode(column, b"\x01\xff") == b"\xff"
    assert decode(column, b"\x01a") == "a"
    assert decode(column, b"\x01\xff", ValueOptions(Undecodable.REPLACE)) == "\ufffd"


def test_replacing_text_is_the_same_whatever_the_length() -> None:
    raw = ("é" * 5000).encode() + b"\xff" + ("é" * 5000).encode()
    column = Column(T.BLOB, length=2, collation=UTF8MB4)
    value = decode(column, len(raw).to_bytes(2, "little") + raw, ValueOptions(Undecodable.REPLACE))
    assert value == raw.decode(errors="replace")


def test_a_compressed_value_cannot_expand_beyond_the_limit() -> None:
    bomb = b"\x84" + (1 << 20).to_bytes(4, "big") + zlib.compress(bytes(1 << 20))
    column = Column(T.BLOB_COMPRESSED, length=4, collation=BINARY_COLLATION)
    stored = len(bomb).to_bytes(4, "little") + bomb
    assert decode(column, stored) == bytes(1 << 20)
    with pytest.raises(Unsupported, match="decompresses to 1048576 bytes, more than the limit of 1000;"):
        decode(column, stored, ValueOptions(expanded_bytes=1000))


def test_a_compressed_value_has_its_uncompressed_size() -> None:
    liar = b"\x81\x02" + zlib.compress(b"abc")
    column = Column(T.BLOB_COMPRESSED, length=1, collation=BINARY_COLLATION)
    with pytest.raises(Malformed, match="its uncompressed size of 2 bytes"):
        decode(column, bytes((len(liar),)) + liar)


TEXTS = [
    (Date(0, 0, 0), "0000-00-00"),
    (Time(-3020399_000_000, 6), "-838:59:59.000000"),
    (Time(-500_000, 1), "-00:00:00.5"),
    (Time(0), "00:00:00"),
    (DateTime(Date(0, 0, 0)), "0000-00-00 00:00:00"),
    (DateTime(Date(2024, 0, 15), 1, 2, 3, 120_000, 2), "2024-00-15 01:02:03.12"),
    (Timestamp(0, 0, 3), "0000-00-00 00:00:00.000"),
    (Timestamp(4294967295), "2106-02-07 06:28:15+00:00"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_times_are_written_as_the_server_writes_them(value: Date | Time | DateTime | Timestamp, text: str) -> None:
    assert value.text() == text


def test_dates_of_the_calendar_have_numbers() -> None:
    assert Date(1970, 1, 1).days == 0
    assert Date(1969, 12, 31).days == -1
    assert Date(9999, 12, 31).days == 2932896
    assert DateTime(Date(1970, 1, 2), 1, 2, 3, 4).microseconds == 90_123_000_004
    assert Timestamp(1, 5).microseconds == 1_000_005


@pytest.mark.parametrize("date", [Date(0, 0, 0), Date(2024, 0, 15), Date(2024, 5, 0), Date(2024, 2, 31), Date(0, 1, 1)])
def test_other_dates_have_none(date: Date) -> None:
    assert date.days is None
    assert DateTime(date, 1).microseconds is None


def test_the_zero_timestamp_has_no_number() -> None:
    assert Timestamp(0).microseconds is None
