"""The schema of a table from its TABLE_MAP alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from binspark.errors import DecodeError, Malformed, SchemaError, Unsupported
from binspark.event.column_types import (
    CHARACTER_TYPES,
    COUNTED_FOR_COLLATIONS_BY_MARIADB,
    COUNTED_FOR_COLLATIONS_BY_MYSQL,
    MEMBER_TYPES,
    NUMERIC_TYPES,
    ColumnType,
    TypeMetadata,
    column_type_name,
    type_metadata,
)
from binspark.event.table_map import TableMap
from binspark.event.table_metadata import DefaultCharset, MetadataKind
from binspark.schema.table import TableSchema
from binspark.schema.text import member_text
from binspark.values.column import Column, check_column
from binspark.wire.bitmap import bitmap_length

_MAX_LENGTH_BYTES = 4
_LENGTH_BITS = 0x30
_BYTE = 0xFF


def column_of(type_code: int, metadata: int, nullable: bool) -> Column:
    """Return the column of a type code and its metadata (the bytes in the log as a little-endian integer)."""
    if type_code not in ColumnType._value2member_map_:
        raise Unsupported(f"unknown column type {column_type_name(type_code)}")
    column = _READERS[type_metadata(type_code)](ColumnType(type_code), metadata, nullable)
    try:
        check_column(column)
    except SchemaError as error:
        raise Malformed(f"type metadata is 0x{metadata:x}: {error.message}") from None
    return column


def _plain(kind: ColumnType, _metadata: int, nullable: bool) -> Column:
    return Column(kind, nullable=nullable)


def _length(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """Read VARCHAR: maximum bytes of a value; BLOB and others: bytes of the length field."""
    return Column(kind, length=metadata, nullable=nullable)


def _fraction(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    return Column(kind, scale=metadata, nullable=nullable)


def _floating(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    size = 4 if kind is ColumnType.FLOAT else 8
    if metadata != size:
        raise Malformed(f"type metadata of a {kind.name} is {metadata}, expected {size}")
    return Column(kind, length=size, nullable=nullable)


def _bit_width(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """Read BIT: bits beyond the full bytes, then full bytes."""
    return Column(kind, length=(metadata & _BYTE) + 8 * (metadata >> 8), nullable=nullable)


def _decimal(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """Read DECIMAL: precision, then scale."""
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
    raise Malformed(f"real type of a STRING is {column_type_name(real_type)}, expected STRING, VAR_STRING, ENUM or SET")


def _typed_array(kind: ColumnType, _metadata: int, nullable: bool) -> Column:
    """Read TYPED_ARRAY: values are stored like JSON, whatever the type of the elements."""
    return Column(kind, length=_MAX_LENGTH_BYTES, nullable=nullable)


_READERS: dict[TypeMetadata, Callable[[ColumnType, int, bool], Column]] = {
    TypeMetadata.NONE: _plain,
    TypeMetadata.VALUE_SIZE: _floating,
    TypeMetadata.MAX_LENGTH: _length,
    TypeMetadata.LENGTH_BYTES: _length,
    TypeMetadata.FRACTION: _fraction,
    TypeMetadata.BITS: _bit_width,
    TypeMetadata.DECIMAL: _decimal,
    TypeMetadata.STRING: _string,
    TypeMetadata.ELEMENT: _typed_array,
}


_Fields = dict[str, Any]


def spread_metadata(table_map: TableMap, columns: list[Column], *, mariadb: bool) -> list[_Fields]:
    """Return for each column the fields of `Column` that the optional metadata contains.

    Each list of the metadata has values for the columns of a class only, such as all numeric columns in their order.
    """
    fields: list[_Fields] = [{} for _ in columns]
    for index, (key, value) in _logged_fields(table_map, columns, mariadb):
        fields[index][key] = value
    for column, known in zip(columns, fields, strict=True):
        if column.type not in CHARACTER_TYPES | MEMBER_TYPES:
            known.pop("collation", None)
        if "members" in known:
            collation = known.get("collation")
            known["members"] = tuple(member_text(raw, collation, mariadb=mariadb) for raw in known["members"])
    return fields


def _logged_fields(table_map: TableMap, columns: list[Column], mariadb: bool) -> Iterator[tuple[int, tuple[str, Any]]]:
    counted = _counted(table_map, columns)
    text = _indexes(counted, COUNTED_FOR_COLLATIONS_BY_MARIADB if mariadb else COUNTED_FOR_COLLATIONS_BY_MYSQL)
    choices = _indexes(columns, MEMBER_TYPES)
    everything = range(len(columns))
    numeric = _indexes(counted, NUMERIC_TYPES)
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


def _counted(table_map: TableMap, columns: list[Column]) -> list[Column]:
    """Return the columns as servers count them for signs and collations: arrays as columns of their elements."""
    return [
        replace(column, type=element) if (element := _element_type(column, metadata)) is not None else column
        for column, metadata in zip(columns, table_map.column_metadata, strict=True)
    ]


def _element_type(column: Column, metadata: int) -> ColumnType | None:
    is_known = column.type is ColumnType.TYPED_ARRAY and metadata & 0xFF in ColumnType._value2member_map_
    return ColumnType(metadata & 0xFF) if is_known else None


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
            raise Malformed(f"{kind.name} names column {ordinal} of {len(indexes)}")
        yield indexes[ordinal], ("collation", collation)


def from_table_map(table_map: TableMap, *, mariadb: bool = False) -> TableSchema:
    """Return the schema of a table as the log describes it. What the server did not write is None.

    The families count columns with a collation by different rules, so the family must be known.
    """
    if not table_map.has_type_metadata:
        name = f"{table_map.schema}.{table_map.table}"
        raise Unsupported(f"the TABLE_MAP of {name} has no type metadata, as those of servers up to MySQL 5.1.17")
    columns = [_column(table_map, index) for index in range(table_map.column_count)]
    fields = spread_metadata(table_map, columns, mariadb=mariadb)
    described = tuple(replace(column, **known) for column, known in zip(columns, fields, strict=True))
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
    """Return the columns and prefixes of the key. A server that writes names also writes the key, if there is one."""
    simple: tuple[int, ...] | None = table_map.optional(MetadataKind.SIMPLE_PRIMARY_KEY)
    with_prefix: tuple[tuple[int, int], ...] | None = table_map.optional(MetadataKind.PRIMARY_KEY_WITH_PREFIX)
    parts = with_prefix or tuple((index, 0) for index in simple or ())
    if not parts:
        return (None if table_map.column_names is None else ()), ()
    beyond = [index for index, _ in parts if index >= table_map.column_count]
    if beyond:
        raise Malformed(f"primary key has column {beyond[0]}, but the table has {table_map.column_count} columns")
    return tuple(index for index, _ in parts), tuple(prefix for _, prefix in parts)
