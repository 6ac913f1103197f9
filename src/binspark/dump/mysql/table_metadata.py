"""The columns and keys of table maps, which `--print-table-metadata` prints as comments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from binspark.dump.mysql.page import Page
from binspark.dump.mysql.statements import quoted_identifier
from binspark.event.column_types import ColumnType as T
from binspark.event.table_map import TableMapFlag
from binspark.event.table_metadata import DefaultCharset, MetadataKind
from binspark.schema.collations import collation_name, known_charset, max_character_bytes
from binspark.values.column import BINARY_COLLATION

if TYPE_CHECKING:
    from binspark.event import TableMap

_Item = TypeVar("_Item")
_CHARACTER = frozenset({T.STRING, T.VAR_STRING, T.VARCHAR, T.BLOB, T.VECTOR})
_NUMERIC = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.NEWDECIMAL, T.FLOAT, T.DOUBLE, T.YEAR, T.DECIMAL})
_FIXED = {
    T.LONG: "INT", T.BOOL: "BOOLEAN", T.TINY: "TINYINT", T.SHORT: "SMALLINT", T.INT24: "MEDIUMINT",
    T.LONGLONG: "BIGINT", T.FLOAT: "FLOAT", T.DOUBLE: "DOUBLE", T.NEWDATE: "DATE", T.DATE: "DATE", T.YEAR: "YEAR",
    T.ENUM: "ENUM", T.SET: "SET", T.JSON: "JSON", T.VECTOR: "VECTOR",
}  # fmt: skip
_ESCAPES = (
    (b"\\", rb"\\"),
    (b"\n", rb"\n"),
    (b"\r", rb"\r"),
    (b"\b", rb"\b"),
    (b"\t", rb"\t"),
    (b"'", rb"\'"),
    (b"\0", rb"\0"),
)
_TEMPORAL = {T.TIMESTAMP2: "TIMESTAMP", T.DATETIME2: "DATETIME", T.TIME2: "TIME"}
_BLOBS = {
    1: ("TINYBLOB", "TINYTEXT"),
    2: ("BLOB", "TEXT"),
    3: ("MEDIUMBLOB", "MEDIUMTEXT"),
    4: ("LONGBLOB", "LONGTEXT"),
}
_GEOMETRIES = (
    "GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMCOLLECTION",
)  # fmt: skip


def print_table_metadata(table: TableMap, page: Page, encoding: str) -> None:
    """Print the columns of a table and its primary key."""
    columns = b",\n#         ".join(_Columns(table, encoding).texts())
    page.head.append(b"# Columns(%b)\n" % columns)
    key = _primary_key(table, encoding)
    if key:
        page.head.append(b"# Primary Key(%b)\n" % key)


def _has_invisible_key(table: TableMap) -> bool:
    return bool(table.flags & TableMapFlag.HAS_GENERATED_INVISIBLE_PRIMARY_KEY)


class _Columns:
    """Goes over the columns of a table map, and over the lists of its optional metadata at the same time."""

    def __init__(self, table: TableMap, encoding: str) -> None:
        self._table = table
        self._encoding = encoding
        self._names = iter(table.column_names or ())
        self._unsigned = iter(table.optional(MetadataKind.SIGNEDNESS) or ())
        self._visible = iter(table.optional(MetadataKind.COLUMN_VISIBILITY) or ())
        self._geometries = iter(table.optional(MetadataKind.GEOMETRY_TYPE) or ())
        self._dimensions = iter(table.optional(MetadataKind.VECTOR_DIMENSIONALITY) or ())
        self._members = {
            T.ENUM: iter(table.optional(MetadataKind.ENUM_STR_VALUE) or ()),
            T.SET: iter(table.optional(MetadataKind.SET_STR_VALUE) or ()),
        }
        self._collations = _collations(
            table.optional(MetadataKind.DEFAULT_CHARSET), table.optional(MetadataKind.COLUMN_CHARSET)
        )
        self._member_collations = _collations(
            table.optional(MetadataKind.ENUM_AND_SET_DEFAULT_CHARSET),
            table.optional(MetadataKind.ENUM_AND_SET_COLUMN_CHARSET),
        )

    def texts(self) -> Iterator[bytes]:
        """Yield the text of each column."""
        table = self._table
        for number, (type_code, metadata) in enumerate(zip(table.column_types, table.column_metadata, strict=True)):
            real_type = type_code
            if type_code == T.STRING and metadata & 0xFF in (T.ENUM, T.SET):
                real_type = metadata & 0xFF
            yield self._text(number, real_type, metadata)

    def _text(self, number: int, real_type: int, metadata: int) -> bytes:
        is_key = number == 0 and _has_invisible_key(self._table)
        is_member = real_type in (T.ENUM, T.SET)
        collation = (
            next(self._member_collations if is_member else self._collations)
            if (is_member or real_type in _CHARACTER)
            else None
        )
        parts = [self._name(is_key=is_key)]
        name = self._type_name(real_type, metadata, collation)
        if not name:
            return parts[0] + b"INVALID_TYPE(%d)" % real_type
        parts.append(name.encode())
        parts.append(self._attributes(number, real_type, is_key=is_key))
        if is_member:
            parts.append(self._member_text(real_type))
        if collation is not None and (is_member or collation != BINARY_COLLATION):
            charset = known_charset(collation)
            parts.append(f" CHARSET {charset} COLLATE {collation_name(collation)}".encode())
        visible = next(self._visible, None)
        if visible is False or (visible is None and is_key):
            parts.append(b" INVISIBLE")
        if is_key:
            parts.append(b" AUTO_INCREMENT")
        return b"".join(parts)

    def _name(self, *, is_key: bool) -> bytes:
        name = next(self._names, None)
        if name is not None:
            return quoted_identifier(_escaped(name.encode(self._encoding))) + b" "
        return b"`my_row_id` " if is_key else b""

    def _attributes(self, number: int, real_type: int, *, is_key: bool) -> bytes:
        text = b""
        unsigned = next(self._unsigned, None) if real_type in _NUMERIC else None
        if (unsigned and real_type != T.YEAR) or (unsigned is None and is_key):
            text += b" UNSIGNED"
        if not self._table.nullable[number] or is_key:
            text += b" NOT NULL"
        return text

    def _member_text(self, real_type: int) -> bytes:
        members = next(self._members[T(real_type)], None)
        if members is None:
            return b""
        return b"(%b)" % b", ".join(map(_quoted_member, members)) if members else b")"

    def _type_name(self, real_type: int, metadata: int, collation: int | None) -> str:
        first, second = metadata & 0xFF, metadata >> 8
        is_text = collation is not None and collation != BINARY_COLLATION
        width = max_character_bytes(collation) or 1
        match real_type:
            case T.NEWDECIMAL:
                return f"DECIMAL({first},{second})"
            case T.BIT:
                return f"BIT({first + second * 8})"
            case T.TIMESTAMP2 | T.DATETIME2 | T.TIME2:
                return f"{_TEMPORAL[T(real_type)]}({metadata})" if metadata else _TEMPORAL[T(real_type)]
            case T.BLOB:
                invalid = (f"INVALID_BLOB({metadata})", f"INVALID_TEXT({metadata})")
                return _BLOBS.get(metadata, invalid)[is_text]
            case T.VARCHAR | T.VAR_STRING:
                return f"VARCHAR({metadata // width})" if is_text else f"VARBINARY({metadata})"
            case T.STRING:
                length = ((first & 0x30) ^ 0x30) << 4 | second
                return f"CHAR({length // width})" if is_text else f"BINARY({length})"
        return self._other_name(real_type)

    def _other_name(self, real_type: int) -> str:
        if real_type == T.GEOMETRY:
            kind = next(self._geometries, 0)
            return _GEOMETRIES[kind] if kind < len(_GEOMETRIES) else f"INVALID_GEOMETRY_TYPE({kind})"
        if real_type == T.VECTOR:
            return f"VECTOR({next(self._dimensions, 0)})"
        return _FIXED.get(T(real_type), "") if real_type in T._value2member_map_ else ""


def _collations(default: DefaultCharset | None, listed: tuple[int, ...] | None) -> Iterator[int | None]:
    """Yield the collation of each column of a class, None if it is not known."""
    if default is None:
        yield from listed or ()
        while True:
            yield None
    exceptions = dict(default.exceptions)
    index = 0
    while True:
        yield exceptions.get(index, default.collation)
        index += 1


def _escaped(text: bytes) -> bytes:
    for special, escape in _ESCAPES:
        text = text.replace(special, escape)
    return text


def _quoted_member(member: bytes) -> bytes:
    return b"'%b'" % _escaped(member)


def _primary_key(table: TableMap, encoding: str) -> bytes:
    if _has_invisible_key(table):
        return b"my_row_id"
    pairs = table.optional(MetadataKind.PRIMARY_KEY_WITH_PREFIX)
    if pairs is None:
        pairs = [(column, 0) for column in table.optional(MetadataKind.SIMPLE_PRIMARY_KEY) or ()]
    names = table.column_names or ()
    return b", ".join(
        (names[column].encode(encoding) if column < len(names) else b"%d" % column)
        + (b"(%d)" % prefix if prefix else b"")
        for column, prefix in pairs
    )
