"""The schema of a TABLE_MAP alone, and table maps that are refused."""

from __future__ import annotations

import pytest

from binspark.errors import DecodeError, Malformed, Unsupported
from binspark.event.column_types import ColumnType
from binspark.event.table_metadata import DefaultCharset, MetadataField, MetadataKind
from binspark.schema import from_table_map
from binspark.values.column import Column
from tests.support.schema.schema_events import INT, table_map, text

TYPES = [
    ((ColumnType.STRING, 0x0AFE), Column(ColumnType.STRING, length=10)),
    ((ColumnType.STRING, 0xFCCE), Column(ColumnType.STRING, length=1020)),
    ((ColumnType.STRING, 0x00EE), Column(ColumnType.STRING, length=256)),
    ((ColumnType.STRING, 0x0A00), Column(ColumnType.STRING, length=10)),
    ((ColumnType.VAR_STRING, 0x0AFE), Column(ColumnType.STRING, length=10)),
    ((ColumnType.STRING, 0x02F7), Column(ColumnType.ENUM, length=2)),
    ((ColumnType.STRING, 0x08F8), Column(ColumnType.SET, length=8)),
    ((ColumnType.VARCHAR, 65535), Column(ColumnType.VARCHAR, length=65535)),
    ((ColumnType.VARCHAR_COMPRESSED, 101), Column(ColumnType.VARCHAR_COMPRESSED, length=101)),
    ((ColumnType.BLOB, 3), Column(ColumnType.BLOB, length=3)),
    ((ColumnType.BLOB_COMPRESSED, 2), Column(ColumnType.BLOB_COMPRESSED, length=2)),
    ((ColumnType.JSON, 4), Column(ColumnType.JSON, length=4)),
    ((ColumnType.GEOMETRY, 4), Column(ColumnType.GEOMETRY, length=4)),
    ((ColumnType.VECTOR, 4), Column(ColumnType.VECTOR, length=4)),
    ((ColumnType.BIT, 0x0107), Column(ColumnType.BIT, length=15)),
    ((ColumnType.BIT, 0x0800), Column(ColumnType.BIT, length=64)),
    ((ColumnType.NEWDECIMAL, 0x0205), Column(ColumnType.NEWDECIMAL, precision=5, scale=2)),
    ((ColumnType.FLOAT, 4), Column(ColumnType.FLOAT, length=4)),
    ((ColumnType.DOUBLE, 8), Column(ColumnType.DOUBLE, length=8)),
    ((ColumnType.DATETIME2, 6), Column(ColumnType.DATETIME2, scale=6)),
    ((ColumnType.TIMESTAMP, 0), Column(ColumnType.TIMESTAMP)),
    ((ColumnType.TYPED_ARRAY, 0x08), Column(ColumnType.TYPED_ARRAY, length=4)),
]

REFUSED_TYPES = [
    (ColumnType.STRING, 0x0103, "real type of a STRING is UNKNOWN_51"),
    (ColumnType.FLOAT, 8, "type metadata of a FLOAT is 8, expected 4"),
    (ColumnType.BLOB, 5, "invalid length 5 of type BLOB"),
    (ColumnType.BIT, 0x0801, "invalid length 65 of type BIT"),
    (ColumnType.NEWDECIMAL, 0x0605, "DECIMAL(5,6)"),
    (ColumnType.TIME2, 7, "fractional seconds of 7 digits"),
    (ColumnType.STRING, 0x03F7, "invalid length 3 of type ENUM"),
    (139, 0, "UNKNOWN_139"),
]


@pytest.mark.parametrize(("written", "column"), TYPES)
def test_type_and_metadata_make_the_real_type(written: tuple[int, int], column: Column) -> None:
    assert from_table_map(table_map("shop.t", written)).columns == (column,)


@pytest.mark.parametrize(("code", "metadata", "reason"), REFUSED_TYPES)
def test_type_metadata_that_no_server_writes_is_refused(code: int, metadata: int, reason: str) -> None:
    with pytest.raises(DecodeError) as refused:
        from_table_map(table_map("shop.t", INT, (code, metadata)))
    assert reason in refused.value.message
    assert "column 2 of shop.t" in refused.value.message


def test_an_unknown_type_is_unsupported_and_not_malformed() -> None:
    with pytest.raises(Unsupported):
        from_table_map(table_map("shop.t", (139, 0)))


def test_without_metadata_everything_is_unknown() -> None:
    schema = from_table_map(table_map("shop.t", INT, text(20)))
    assert [(c.name, c.unsigned, c.collation, c.members) for c in schema.columns] == [(None,) * 4] * 2
    assert (schema.primary_key, schema.column_names) == (None, ("@1", "@2"))


def test_signs_are_given_to_numbers_and_years_but_not_to_bits() -> None:
    bits = MetadataField(MetadataKind.SIGNEDNESS, (True, False, True, True, False, False, False, False))
    types = (
        (ColumnType.YEAR, 0),
        (ColumnType.BIT, 0x0100),
        INT,
        (ColumnType.NEWDECIMAL, 5),
        text(1),
        (ColumnType.TINY, 0),
    )
    schema = from_table_map(table_map("shop.t", *types, metadata=(bits,)))
    assert [column.unsigned for column in schema.columns] == [True, None, False, True, None, True]


def test_only_mariadb_counts_a_geometry_among_the_texts() -> None:
    types = (text(5), (ColumnType.GEOMETRY, 4), text(5), text(20))
    default = (MetadataField(MetadataKind.DEFAULT_CHARSET, DefaultCharset(8, ((1, 63), (3, 45)))),)
    mariadb = from_table_map(table_map("shop.t", *types, metadata=default), mariadb=True)
    assert [column.collation for column in mariadb.columns] == [8, None, 8, 45]
    default = (MetadataField(MetadataKind.DEFAULT_CHARSET, DefaultCharset(8, ((2, 45),))),)
    mysql = from_table_map(table_map("shop.t", *types, metadata=default))
    assert [column.collation for column in mysql.columns] == [8, None, 8, 45]


def test_only_mysql_counts_a_vector_among_the_texts() -> None:
    charsets = (MetadataField(MetadataKind.COLUMN_CHARSET, (63, 255)),)
    schema = from_table_map(table_map("shop.t", (ColumnType.VECTOR, 4), text(5), metadata=charsets))
    assert [column.collation for column in schema.columns] == [None, 255]


def test_members_are_decoded_with_the_collation_of_their_column() -> None:
    fields = (
        MetadataField(MetadataKind.ENUM_AND_SET_COLUMN_CHARSET, (8, 45, 63)),
        MetadataField(MetadataKind.ENUM_STR_VALUE, ((b"\xe4",), (b"x\xff",))),
        MetadataField(MetadataKind.SET_STR_VALUE, (("ä".encode(), b"b"),)),
    )
    enum, set_ = (ColumnType.STRING, 0x01F7), (ColumnType.STRING, 0x01F8)
    schema = from_table_map(table_map("shop.t", enum, set_, enum, metadata=fields))
    assert [column.members for column in schema.columns] == [("ä",), ("ä", "b"), ("x\\xff",)]


def test_a_key_has_its_prefixes_and_names_without_a_key_mean_none() -> None:
    names = MetadataField(MetadataKind.COLUMN_NAME, ("a", "b"))
    prefixed = MetadataField(MetadataKind.PRIMARY_KEY_WITH_PREFIX, ((1, 10), (0, 0)))
    with_key = from_table_map(table_map("shop.t", INT, text(20), metadata=(names, prefixed)))
    without = from_table_map(table_map("shop.t", INT, text(20), metadata=(names,)))
    assert (with_key.primary_key, with_key.prefixes) == ((1, 0), (10, 0))
    assert (without.primary_key, without.prefixes) == ((), ())


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        (MetadataKind.SIGNEDNESS, (), "SIGNEDNESS has 0 bits for 1 columns"),
        (MetadataKind.SIGNEDNESS, (False,) * 16, "SIGNEDNESS has 16 bits for 1 columns"),
        (MetadataKind.COLUMN_NAME, ("a",), "COLUMN_NAME has 1 values for 2 columns"),
        (MetadataKind.COLUMN_CHARSET, (8, 8), "COLUMN_CHARSET has 2 values for 1 columns"),
        (MetadataKind.DEFAULT_CHARSET, DefaultCharset(8, ((1, 45),)), "DEFAULT_CHARSET names column 1 of 1"),
        (MetadataKind.SIMPLE_PRIMARY_KEY, (2,), "primary key has column 2, but the table has 2 columns"),
        (MetadataKind.ENUM_STR_VALUE, ((b"a",),), "ENUM_STR_VALUE has 1 values for 0 columns"),
        (MetadataKind.COLUMN_VISIBILITY, (True,) * 16, "COLUMN_VISIBILITY has 16 bits for 2 columns"),
    ],
)
def test_metadata_for_other_columns_than_there_are_is_refused_with_both_numbers(
    kind: MetadataKind, value: object, reason: str
) -> None:
    with pytest.raises(Malformed, match=reason):
        from_table_map(table_map("shop.t", INT, text(20), metadata=(MetadataField(kind, value),)))
