"""What a TABLE_MAP alone says about its table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from binspark.errors import DecodeError, Malformed, SchemaError, Unsupported
from binspark.event.column_types import ColumnType, column_type_name
from binspark.event.table_map import TableMap
from binspark.event.table_metadata import DefaultCharset, MetadataKind
from binspark.schema.table import TableSchema
from binspark.schema.text import member_text
from binspark.values.column import Column, check_column
from binspark.wire.bitmap import bitmap_length

_LONGEST_LENGTH_FIELD = 4
_LENGTH_BITS = 0x30
_BYTE = 0xFF


def column_of(type_code: int, metadata: int, nullable: bool) -> Column:
    """Return what a type code and its metadata (little-endian, as it stands in the log) say about a column."""
    if type_code not in ColumnType._value2member_map_:
        raise Unsupported(f"{column_type_name(type_code)} is not a type of column that is known")
    column = _READERS.get(type_code, _plain)(ColumnType(type_code), metadata, nullable)
    try:
        check_column(column)
    except SchemaError as error:
        raise Malformed(f"the type metadata 0x{metadata:x} describes {error.message}") from None
    return column


def _plain(kind: ColumnType, _metadata: int, nullable: bool) -> Column:
    return Column(kind, nullable=nullable)


def _length(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """VARCHAR: the most bytes of a value. BLOB and its kin: bytes of the length field. FLOAT, DOUBLE: bytes."""
    return Column(kind, length=metadata, nullable=nullable)


def _fraction(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    return Column(kind, scale=metadata, nullable=nullable)


def _floating(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    size = 4 if kind is ColumnType.FLOAT else 8
    if metadata != size:
        raise Malformed(f"a {kind.name} of {metadata} bytes instead of {size}")
    return Column(kind, length=size, nullable=nullable)


def _bit_width(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """BIT: bits beyond the whole bytes, then whole bytes."""
    return Column(kind, length=(metadata & _BYTE) + 8 * (metadata >> 8), nullable=nullable)


def _decimal(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """NEWDECIMAL: digits in all, then digits after the point."""
    return Column(kind, precision=metadata & _BYTE, scale=metadata >> 8, nullable=nullable)


def _string(_kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """Read STRING: the real type, then the length, whose bits 8 and 9 are hidden in the type's byte, inverted.

    byte  bits  field
    0     0x30  bits 8 and 9 of the length, inverted: 11 for a length below 256
    0     rest  STRING, ENUM or SET, all of which have both of these bits set
    1     all   bits 0-7 of the length
    """
    first, second = metadata & _BYTE, metadata >> 8
    if not first:  # pre-releases of 5.1 wrote the length alone
        return Column(ColumnType.STRING, length=second, nullable=nullable)
    real_type = first | _LENGTH_BITS
    length = second | (first & _LENGTH_BITS ^ _LENGTH_BITS) << 4
    if real_type in (ColumnType.ENUM, ColumnType.SET):
        return Column(ColumnType(real_type), length=length, nullable=nullable)
    if real_type in (ColumnType.STRING, ColumnType.VAR_STRING):
        return Column(ColumnType.STRING, length=length, nullable=nullable)
    raise Malformed(f"a STRING whose real type is {column_type_name(real_type)}")


def _typed_array(kind: ColumnType, _metadata: int, nullable: bool) -> Column:
    """TYPED_ARRAY: stored as JSON is, whatever its elements are."""
    return Column(kind, length=_LONGEST_LENGTH_FIELD, nullable=nullable)


_READERS: dict[int, Callable[[ColumnType, int, bool], Column]] = {
    ColumnType.FLOAT: _floating,
    ColumnType.DOUBLE: _floating,
    ColumnType.VARCHAR: _length,
    ColumnType.VARCHAR_COMPRESSED: _length,
    ColumnType.BLOB: _length,
    ColumnType.TINY_BLOB: _length,
    ColumnType.MEDIUM_BLOB: _length,
    ColumnType.LONG_BLOB: _length,
    ColumnType.BLOB_COMPRESSED: _length,
    ColumnType.JSON: _length,
    ColumnType.GEOMETRY: _length,
    ColumnType.VECTOR: _length,
    ColumnType.TIME2: _fraction,
    ColumnType.DATETIME2: _fraction,
    ColumnType.TIMESTAMP2: _fraction,
    ColumnType.BIT: _bit_width,
    ColumnType.NEWDECIMAL: _decimal,
    ColumnType.STRING: _string,
    ColumnType.VAR_STRING: _string,
    ColumnType.ENUM: _string,
    ColumnType.SET: _string,
    ColumnType.TYPED_ARRAY: _typed_array,
}


NUMERIC = frozenset(
    {
        ColumnType.TINY,
        ColumnType.SHORT,
        ColumnType.INT24,
        ColumnType.LONG,
        ColumnType.LONGLONG,
        ColumnType.NEWDECIMAL,
        ColumnType.FLOAT,
        ColumnType.DOUBLE,
        ColumnType.YEAR,
    }
)
TEXT = frozenset(
    {
        ColumnType.STRING,
        ColumnType.VARCHAR,
        ColumnType.BLOB,
        ColumnType.TINY_BLOB,
        ColumnType.MEDIUM_BLOB,
        ColumnType.LONG_BLOB,
        ColumnType.VARCHAR_COMPRESSED,
        ColumnType.BLOB_COMPRESSED,
    }
)
CHOICES = frozenset({ColumnType.ENUM, ColumnType.SET})

_COUNTED_AS_TEXT_BY_MYSQL = TEXT | {ColumnType.VECTOR}
_COUNTED_AS_TEXT_BY_MARIADB = TEXT | {ColumnType.GEOMETRY}

_Facts = dict[str, Any]


def spread_metadata(table_map: TableMap, columns: list[Column], *, mariadb: bool) -> list[_Facts]:
    """Return for each column the fields of `Column` that the optional metadata tells."""
    facts: list[_Facts] = [{} for _ in columns]
    for index, (key, value) in _told(table_map, columns, mariadb):
        facts[index][key] = value
    for column, known in zip(columns, facts, strict=True):
        if column.type not in TEXT | CHOICES:
            known.pop("collation", None)
        if "members" in known:
            known["members"] = tuple(member_text(raw, known.get("collation")) for raw in known["members"])
    return facts


def _told(table_map: TableMap, columns: list[Column], mariadb: bool) -> Iterator[tuple[int, tuple[str, Any]]]:
    text = _indexes(columns, _COUNTED_AS_TEXT_BY_MARIADB if mariadb else _COUNTED_AS_TEXT_BY_MYSQL)
    choices = _indexes(columns, CHOICES)
    everything = range(len(columns))
    numeric = _indexes(columns, NUMERIC)
    lists: tuple[tuple[MetadataKind, str, Collection[int]], ...] = (
        (MetadataKind.COLUMN_CHARSET, "collation", text),
        (MetadataKind.ENUM_AND_SET_COLUMN_CHARSET, "collation", choices),
        (MetadataKind.COLUMN_NAME, "name", everything),
        (MetadataKind.ENUM_STR_VALUE, "members", _indexes(columns, {ColumnType.ENUM})),
        (MetadataKind.SET_STR_VALUE, "members", _indexes(columns, {ColumnType.SET})),
        (MetadataKind.GEOMETRY_TYPE, "geometry_type", _indexes(columns, {ColumnType.GEOMETRY})),
        (MetadataKind.VECTOR_DIMENSIONALITY, "dimensions", _indexes(columns, {ColumnType.VECTOR})),
    )
    for kind, key, indexes in lists:
        yield from _one_each(kind, key, indexes, table_map.optional(kind))
    yield from _bits(MetadataKind.SIGNEDNESS, "unsigned", numeric, table_map)
    yield from _bits(MetadataKind.COLUMN_VISIBILITY, "visible", everything, table_map)
    yield from _defaults(MetadataKind.DEFAULT_CHARSET, text, table_map)
    yield from _defaults(MetadataKind.ENUM_AND_SET_DEFAULT_CHARSET, choices, table_map)


def _indexes(columns: Iterable[Column], types: Collection[ColumnType]) -> list[int]:
    return [index for index, column in enumerate(columns) if column.type in types]


def _one_each(
    kind: MetadataKind, key: str, indexes: Collection[int], values: tuple[Any, ...] | None
) -> Iterator[tuple[int, tuple[str, Any]]]:
    if values is None:
        return
    if len(values) != len(indexes):
        raise Malformed(f"{kind.name} has {len(values)} values for {len(indexes)} columns")
    for index, value in zip(indexes, values, strict=True):
        yield index, (key, value)


def _bits(
    kind: MetadataKind, key: str, indexes: Collection[int], table_map: TableMap
) -> Iterator[tuple[int, tuple[str, Any]]]:
    bits: tuple[bool, ...] | None = table_map.optional(kind)
    if bits is None:
        return
    if len(bits) != 8 * bitmap_length(len(indexes)):
        raise Malformed(f"{kind.name} has {len(bits)} bits for {len(indexes)} columns")
    for index, bit in zip(indexes, bits, strict=False):
        yield index, (key, bit)


def _defaults(kind: MetadataKind, indexes: list[int], table_map: TableMap) -> Iterator[tuple[int, tuple[str, Any]]]:
    default: DefaultCharset | None = table_map.optional(kind)
    if default is None:
        return
    for index in indexes:
        yield index, ("collation", default.collation)
    for ordinal, collation in default.exceptions:
        if ordinal >= len(indexes):
            raise Malformed(f"{kind.name} speaks of column {ordinal} of {len(indexes)}")
        yield indexes[ordinal], ("collation", collation)


def from_table_map(table_map: TableMap, *, mariadb: bool = False) -> TableSchema:
    """Return the table as the log describes it. What the server did not write stays None.

    The families count differently which columns have a collation, so the reader must know who wrote the log.
    """
    columns = [_column(table_map, index) for index in range(table_map.column_count)]
    facts = spread_metadata(table_map, columns, mariadb=mariadb)
    described = tuple(replace(column, **known) for column, known in zip(columns, facts, strict=True))
    key, prefixes = _primary_key(table_map)
    return TableSchema(table_map.schema, table_map.table, described, key, prefixes)


def _column(table_map: TableMap, index: int) -> Column:
    nullable = bool(table_map.null_bits[index >> 3] >> (index & 7) & 1)
    try:
        return column_of(table_map.column_types[index], table_map.column_metadata[index], nullable)
    except DecodeError as error:
        name = f"{table_map.schema}.{table_map.table}"
        raise type(error)(f"column {index + 1} of {name}: {error.message}", error.position) from None


def _primary_key(table_map: TableMap) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Return the key's columns and prefixes. A server that writes names also writes the key, if there is one."""
    simple: tuple[int, ...] | None = table_map.optional(MetadataKind.SIMPLE_PRIMARY_KEY)
    with_prefix: tuple[tuple[int, int], ...] | None = table_map.optional(MetadataKind.PRIMARY_KEY_WITH_PREFIX)
    parts = with_prefix or tuple((index, 0) for index in simple or ())
    if not parts:
        return (None if table_map.column_names is None else ()), ()
    beyond = [index for index, _ in parts if index >= table_map.column_count]
    if beyond:
        raise Malformed(f"the primary key has column {beyond[0]}, the table only {table_map.column_count} columns")
    return tuple(index for index, _ in parts), tuple(prefix for _, prefix in parts)
