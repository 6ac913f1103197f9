"""Table maps and rows events: what each type of column and each kind of metadata looks like."""

from __future__ import annotations

from typing import Any

import pytest

from binspark.errors import DecodeError, Malformed, Truncated
from binspark.event import RowOperation, Rows, TableMap, column_types
from binspark.event.column_types import MAX_COLUMNS, ColumnType
from binspark.event.rows import NdbInfo, PartitionInfo, UnknownInfo
from binspark.event.table_map import TableMaps
from binspark.event.table_metadata import DefaultCharset, MetadataField, MetadataKind
from binspark.frames import EventCode
from binspark.testing.builder import MARIADB_10_11, MYSQL_5_1_17, MYSQL_9_7, BinlogBuilder, integer, table
from tests.support.event.decoding import decode, decode_body_of, encode, read_log

E = EventCode
K = MetadataKind
NO_BITS = (False,) * 8

TYPE_METADATA: list[tuple[ColumnType, str, int]] = [
    (ColumnType.LONG, "", 0),
    (ColumnType.FLOAT, "04", 4),
    (ColumnType.DOUBLE, "08", 8),
    (ColumnType.VARCHAR, "2c01", 300),
    (ColumnType.BIT, "0201", 0x0102),
    (ColumnType.TIMESTAMP2, "06", 6),
    (ColumnType.DATETIME2, "03", 3),
    (ColumnType.TIME2, "00", 0),
    (ColumnType.NEWDECIMAL, "0e04", 0x040E),
    (ColumnType.ENUM, "f701", 0x01F7),
    (ColumnType.SET, "f808", 0x08F8),
    (ColumnType.TINY_BLOB, "01", 1),
    (ColumnType.MEDIUM_BLOB, "03", 3),
    (ColumnType.LONG_BLOB, "04", 4),
    (ColumnType.BLOB, "02", 2),
    (ColumnType.VAR_STRING, "fd20", 0x20FD),
    (ColumnType.STRING, "fe28", 0x28FE),
    (ColumnType.JSON, "04", 4),
    (ColumnType.GEOMETRY, "04", 4),
    (ColumnType.VECTOR, "04", 4),
    (ColumnType.BLOB_COMPRESSED, "02", 2),
    (ColumnType.VARCHAR_COMPRESSED, "2c01", 300),
    (ColumnType.TYPED_ARRAY, "03", 0x03),
    (ColumnType.TYPED_ARRAY, "0f2c0100", 0x012C0F),
]

OPTIONAL_METADATA: list[tuple[str, MetadataKind, Any]] = [
    ("0101a0", K.SIGNEDNESS, (True, False, True, *NO_BITS[3:])),
    ("0205fcff00033f", K.DEFAULT_CHARSET, DefaultCharset(255, ((3, 63),))),
    ("0302213f", K.COLUMN_CHARSET, (33, 63)),
    ("0405026964016e", K.COLUMN_NAME, ("id", "n")),
    ("05050201610162", K.SET_STR_VALUE, ((b"a", b"b"),)),
    ("06060201610162" + "00", K.ENUM_STR_VALUE, ((b"a", b"b"), ())),
    ("07020100", K.GEOMETRY_TYPE, (1, 0)),
    ("08020002", K.SIMPLE_PRIMARY_KEY, (0, 2)),
    ("09020005", K.PRIMARY_KEY_WITH_PREFIX, ((0, 5),)),
    ("0a0121", K.ENUM_AND_SET_DEFAULT_CHARSET, DefaultCharset(33, ())),
    ("0b022108", K.ENUM_AND_SET_COLUMN_CHARSET, (33, 8)),
    ("0c01c0", K.COLUMN_VISIBILITY, (True, True, *NO_BITS[2:])),
    ("0d03fc0010", K.VECTOR_DIMENSIONALITY, (4096,)),
]


def table_map_of(types: str, type_metadata: str, null_bits: str, optional: str = "") -> str:
    head = "6a0000000000" + "0100" + "04" + b"shop\0".hex() + "01" + b"t\0".hex()
    return f"{head}{len(types) // 2:02x}{types}{len(type_metadata) // 2:02x}{type_metadata}{null_bits}{optional}"


def test_a_table_map_gives_a_table_an_id() -> None:
    body = table_map_of("030f", "5000", "02")
    event = decode_body_of(E.TABLE_MAP, body)
    assert event == TableMap(106, 1, "shop", "t", (3, 15), (0, 80), b"\x02", ())
    assert (event.column_count, event.nullable, event.column_names) == (2, (False, True), None)
    assert encode(E.TABLE_MAP, event).hex() == body


def test_a_table_map_of_5_1_17_ends_after_the_column_types() -> None:
    """Taken from a log of that server: `test.t2`, an INT and a CHAR."""
    body = "0d0000000000" + "0000" + "04" + b"test\0".hex() + "02" + b"t2\0".hex() + "0203fe"
    event = decode(E.TABLE_MAP, body, MYSQL_5_1_17).body
    assert (event.schema, event.table, event.column_types, event.has_type_metadata) == ("test", "t2", (3, 254), False)
    assert event.nullable == (True, True)
    assert encode(E.TABLE_MAP, event, MYSQL_5_1_17).hex() == body


def test_a_table_map_of_a_later_server_must_not_end_there() -> None:
    with pytest.raises(Truncated, match="type_metadata_length needs"):
        decode(E.TABLE_MAP, "0d0000000000" + "0000" + "04" + b"test\0".hex() + "02" + b"t2\0".hex() + "0203fe")


@pytest.mark.parametrize(("type_code", "metadata", "value"), TYPE_METADATA)
def test_the_metadata_of_each_type(type_code: ColumnType, metadata: str, value: int) -> None:
    body = table_map_of(f"{type_code:02x}", metadata, "01")
    event = decode_body_of(E.TABLE_MAP, body)
    assert (event.column_types, event.column_metadata) == ((type_code,), (value,))
    assert encode(E.TABLE_MAP, event).hex() == body


def test_every_type_with_metadata_is_tested() -> None:
    assert {row[0] for row in TYPE_METADATA} >= set(column_types.TYPE_METADATA)


@pytest.mark.parametrize(("optional", "kind", "value"), OPTIONAL_METADATA)
def test_each_kind_of_optional_metadata(optional: str, kind: MetadataKind, value: Any) -> None:
    body = table_map_of("0303", "", "00", optional)
    event = decode_body_of(E.TABLE_MAP, body)
    assert event.metadata == (MetadataField(kind, value),)
    assert (event.optional(kind), event.metadata[0].name) == (value, kind.name.lower())
    assert encode(E.TABLE_MAP, event).hex() == body


def test_every_kind_of_optional_metadata_is_tested() -> None:
    assert [row[1] for row in OPTIONAL_METADATA] == list(MetadataKind)


def test_unknown_metadata_and_unknown_types_are_kept() -> None:
    body = table_map_of("c803", "abcd", "00", "6302beef" + "0405026964016e")
    event = decode_body_of(E.TABLE_MAP, body)
    assert (event.column_types, event.column_metadata, event.metadata_rest) == ((200, 3), (0, 0), b"\xab\xcd")
    assert event.metadata[0] == MetadataField(99, b"\xbe\xef")
    assert (event.metadata[0].name, event.column_names) == ("unknown_99", ("id", "n"))
    assert encode(E.TABLE_MAP, event).hex() == body


def test_the_same_bytes_give_the_same_table_map_again() -> None:
    body = table_map_of("030f", "5000", "02")
    assert decode(E.TABLE_MAP, body).body == decode(E.TABLE_MAP, body).body


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (table_map_of("0303", "aa", "00"), "type metadata has 1 bytes more than its columns need"),
        (table_map_of("0f", "50", "00"), "VARCHAR needs 2 bytes, only 1 remain"),
        (table_map_of("0303", "", ""), "null_bits needs 1 byte, only 0 remain"),
        (table_map_of("03", "", "00", "04"), "length needs 1 byte, only 0 remain"),
        (table_map_of("03", "", "00", "0405026964"), "needs 5 bytes, only 3 remain"),
        (table_map_of("03", "", "00", "0402056e"), "column_name needs 5 bytes, only 1 remain"),
        (table_map_of("03", "", "00", "0403" + "02" + "fffe"), "column_name is not valid utf-8: 0xfffe"),
        (table_map_of("03", "", "00", "0609" + "fe" + "ff" * 8), "member_length needs 1 byte"),
        (
            table_map_of("03", "", "00", "08" + "01" + "fb"),
            "begins with 0xfb, expected a packed integer",
        ),
        (
            table_map_of("03", "", "00", "08" + "01" + "ff"),
            "begins with 0xff, expected a packed integer",
        ),
        (table_map_of("03", "", "00", "08" + "02" + "fc01"), "number needs 3 bytes, only 2 remain"),
        ("6a0000000000010004" + b"shop\1".hex(), "schema_end is 0x01"),
        ("6a00000000000100fe" + "00" * 7 + "80", "schema needs 9223372036854775808 bytes"),
        (
            "6a00000000000100" + "0473686f7000" + "017400" + "fe" + "00" * 7 + "10",
            "column_count is 1152921504606846976, expected at most 4096",
        ),
        ("6a00000000000100" + "0473686f7000" + "017400" + "01" + "03" + "fe" + "ff" * 8, "type_metadata needs"),
        ("6a0000000000010002c3", "schema needs 2 bytes, only 1 remain"),
        ("6a0000000000010002c328" + "00", "schema is not valid utf-8: 0xc328"),
        ("6a00", "table_id needs 6 bytes, only 2 remain"),
    ],
)
def test_a_malformed_table_map_is_an_error_with_its_position(body: str, message: str) -> None:
    with pytest.raises(DecodeError, match=message) as caught:
        decode(E.TABLE_MAP, body)
    position = caught.value.position
    assert (position.file, position.offset, position.event) == ("binlog.000001", 4, "TABLE_MAP")


# Rows ----------------------------------------------------------------------------------------------------------------


def test_an_update_of_version_2_has_two_bitmaps() -> None:
    body = "6a0000000000" + "0100" + "0200" + "02" + "ff" + "fe" + "0001"
    event = decode_body_of(E.UPDATE_ROWS, body)
    assert event == Rows(RowOperation.UPDATE, 106, 1, (), 2, b"\xff", b"\xfe", b"\x00\x01")
    assert (event.ends_statement, event.present(event.columns_after or b"")) == (True, (False, True))
    assert encode(E.UPDATE_ROWS, event).hex() == body


def test_rows_of_version_1_have_no_extra_information() -> None:
    body = "6a0000000000" + "0000" + "02" + "ff" + "0001"
    event = decode_body_of(E.WRITE_ROWS_V1, body)
    assert event == Rows(RowOperation.INSERT, 106, 0, (), 2, b"\xff", None, b"\x00\x01")
    assert not event.ends_statement


@pytest.mark.parametrize(
    ("code", "extra", "expected"),
    [
        (E.WRITE_ROWS, "0005" + "01" + "aabbcc", (NdbInfo(1, b"\xaa\xbb\xcc"),)),
        (E.WRITE_ROWS, "01" + "0700", (PartitionInfo(7, None),)),
        (E.UPDATE_ROWS, "01" + "0700" + "0300", (PartitionInfo(7, 3),)),
        (E.DELETE_ROWS, "01" + "0700" + "0002" + "09", (PartitionInfo(7, None), NdbInfo(9, b""))),
        (E.WRITE_ROWS, "05" + "beef", (UnknownInfo(b"\x05\xbe\xef"),)),
    ],
)
def test_extra_information_of_each_kind(code: int, extra: str, expected: tuple[object, ...]) -> None:
    after = "ff" if code == E.UPDATE_ROWS else ""
    length = (len(extra) // 2 + 2).to_bytes(2, "little").hex()
    body = "6a0000000000" + "0100" + length + extra + "01" + "ff" + after + "0001"
    event = decode_body_of(code, body)
    assert event.extra_info == expected
    assert encode(code, event).hex() == body


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("0000", "extra_length is 0, expected at least 2"),
        ("0100", "extra_length is 1, expected at least 2"),
        ("ffff", "extra_info needs 65533 bytes"),
        ("0400" + "0000", "length of NDB information is 0"),
        ("0400" + "00ff", "format needs 1 byte, only 0 remain"),
        ("0400" + "0101", "partition_id needs 2 bytes, only 1 remain"),
    ],
)
def test_malformed_extra_information_is_refused(extra: str, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode(E.WRITE_ROWS, "6a0000000000" + "0100" + extra + "01ff0001")


@pytest.mark.parametrize("count", ["fc0110", "fd000010", "fe" + "ff" * 8, "fe" + "00" * 7 + "10"])
def test_rows_of_more_columns_than_a_table_can_have_are_malformed(count: str) -> None:
    with pytest.raises(Malformed, match=r"column_count is \d+, expected at most 4096"):
        decode(E.WRITE_ROWS, "6a0000000000" + "0100" + "0200" + count + "ff")


def test_a_table_map_of_more_columns_than_a_table_can_have_is_malformed() -> None:
    columns = table("shop.wide", *(integer(f"c{number}") for number in range(MAX_COLUMNS + 1)))
    log = BinlogBuilder()
    log.table_map(columns)
    with pytest.raises(Malformed, match="column_count is 4097, expected at most 4096"):
        list(read_log(log.content))


def test_the_table_maps_that_came_first_are_forgotten() -> None:
    maps: TableMaps[int] = TableMaps()
    for table_id in range(5000):
        maps[table_id] = maps[0] = table_id
    assert len(maps) == 4096
    assert (maps[0], min(maps.keys() - {0}), max(maps)) == (4999, 905, 4999)


def test_rows_of_as_many_columns_as_a_table_can_have() -> None:
    body = "6a0000000000" + "0100" + "0200" + "fc0010" + "ff" * 512
    event = decode_body_of(E.WRITE_ROWS, body)
    assert (event.column_count, event.rows) == (MAX_COLUMNS, b"")


def test_a_post_header_of_8_bytes_has_no_extra_information() -> None:
    kind = MYSQL_9_7.with_post_header(E.WRITE_ROWS, 8)
    event = decode_body_of(E.WRITE_ROWS, "6a0000000000" + "0100" + "01" + "ff" + "0007", kind)
    assert (event.extra_info, event.column_count, event.rows) == ((), 1, b"\x00\x07")


def test_unknown_flags_survive() -> None:
    body = "6a0000000000" + "00f0" + "02" + "ff" + "0001"
    event = decode_body_of(E.WRITE_ROWS_V1, body, MARIADB_10_11)
    assert event.flags == 0xF000
    assert encode(E.WRITE_ROWS_V1, event, MARIADB_10_11).hex() == body
