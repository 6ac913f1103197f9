"""The optional metadata of a TABLE_MAP, spread over the columns that each field speaks of.

A field lists its values only for the columns of one class, in their order. Which columns count:

field                         columns
SIGNEDNESS                    integers, DECIMAL, FLOAT, DOUBLE, YEAR; not BIT
DEFAULT_CHARSET, COLUMN_...   CHAR, VARCHAR, BLOB, TEXT and their binary kin; VECTOR in MySQL; GEOMETRY in MariaDB
ENUM_AND_SET_..._CHARSET      ENUM and SET together
ENUM_STR_VALUE, SET_STR_VALUE ENUM, SET
GEOMETRY_TYPE, VECTOR_...     GEOMETRY, VECTOR
COLUMN_NAME, ..._VISIBILITY   all columns
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from binspark.errors import Malformed
from binspark.event.column_types import ColumnType
from binspark.event.table_map import TableMap
from binspark.event.table_metadata import DefaultCharset, MetadataKind
from binspark.schema.names_text import member_text
from binspark.values.column import Column
from binspark.wire.bitmap import bitmap_length

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
