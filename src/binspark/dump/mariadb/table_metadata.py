"""The columns and the key of a table map (`--print-table-metadata`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from binspark.event import TableMap
from binspark.event.column_types import ColumnType as T
from binspark.event.column_types import type_metadata
from binspark.event.table_metadata import DefaultCharset, MetadataKind
from binspark.schema.collation_rows import CHARSET_ROWS
from binspark.schema.collations import collation_name

_BINARY = 63
_NUMERIC = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.NEWDECIMAL, T.FLOAT, T.DOUBLE})
_CHARACTER = frozenset({T.STRING, T.VAR_STRING, T.VARCHAR, T.BLOB, T.GEOMETRY})
_CHOICES = (T.ENUM, T.SET)
_GEOMETRIES = (
    b"GEOMETRY", b"POINT", b"LINESTRING", b"POLYGON", b"MULTIPOINT", b"MULTILINESTRING", b"MULTIPOLYGON",
    b"GEOMETRYCOLLECTION",
)  # fmt: skip
_BLOBS = ((b"TINYBLOB", b"TINYTEXT"), (b"BLOB", b"TEXT"), (b"MEDIUMBLOB", b"MEDIUMTEXT"), (b"LONGBLOB", b"LONGTEXT"))
_SEPARATOR = b",\n#         "
_ESCAPES = {
    ord("\n"): b"\\n", ord("\r"): b"\\r", ord("\\"): b"\\\\", ord("\b"): b"\\b", ord("\t"): b"\\t", ord("'"): b"\\'",
    0: b"\\0",
}  # fmt: skip


def table_metadata(table_map: TableMap) -> bytes:
    """Return the columns and the primary key of a table map, as comments."""
    return _columns(table_map) + _primary_key(table_map)


def escaped(text: bytes) -> bytes:
    """Return text with backslashes before quotes and control characters, as in a string literal."""
    return b"".join(_ESCAPES.get(byte) or bytes((byte,)) for byte in text)


class _Optional:
    """The optional metadata, handed out column by column."""

    def __init__(self, table_map: TableMap) -> None:
        get = table_map.optional
        self.names: Iterator[str] = iter(get(MetadataKind.COLUMN_NAME) or ())
        self.signs: Iterator[bool] = iter(get(MetadataKind.SIGNEDNESS) or ())
        self.enums: Iterator[tuple[bytes, ...]] = iter(get(MetadataKind.ENUM_STR_VALUE) or ())
        self.sets: Iterator[tuple[bytes, ...]] = iter(get(MetadataKind.SET_STR_VALUE) or ())
        self.geometries: Iterator[int] = iter(get(MetadataKind.GEOMETRY_TYPE) or ())
        self.charsets = _collations(get(MetadataKind.DEFAULT_CHARSET), get(MetadataKind.COLUMN_CHARSET))
        self.choice_charsets = _collations(
            get(MetadataKind.ENUM_AND_SET_DEFAULT_CHARSET), get(MetadataKind.ENUM_AND_SET_COLUMN_CHARSET)
        )


def _collations(default: DefaultCharset | None, listed: tuple[int, ...] | None) -> Iterator[int | None]:
    """Yield the collations of the columns of a class, in their order; None where they are not known."""
    if default is not None:
        exceptions = dict(default.exceptions)
        index = 0
        while True:
            yield exceptions.get(index, default.collation)
            index += 1
    yield from listed or ()
    while True:
        yield None


def _columns(table_map: TableMap) -> bytes:
    """Return the columns. The tool does not skip the metadata of types that it does not know, nor does this."""
    optional = _Optional(table_map)
    text = b"# Columns("
    last = table_map.column_count - 1
    metadata_bytes = b"".join(
        number.to_bytes(type_metadata(code).length, "little")
        for code, number in zip(table_map.column_types, table_map.column_metadata, strict=True)
    )
    for index, code in enumerate(table_map.column_types):
        if code == T.STRING and metadata_bytes[:1] and metadata_bytes[0] in _CHOICES:
            code = metadata_bytes[0]
        length = type_metadata(code).length if code in _WITH_METADATA else 0
        metadata, metadata_bytes = int.from_bytes(metadata_bytes[:length], "little"), metadata_bytes[length:]
        column = _column(optional, code, metadata, nullable=table_map.nullable[index])
        text += column
        if index != last and not column.endswith(_invalid(code)):
            text += _SEPARATOR
    return text + b")\n"


def _column(optional: _Optional, code: int, metadata: int, *, nullable: bool) -> bytes:
    collation = None
    if code in _CHARACTER:
        collation = next(optional.charsets)
    elif code in _CHOICES:
        collation = next(optional.choice_charsets)
    collation_text = "" if collation is None else collation_name(collation, mariadb=True)
    charset = collation_text.partition("_")[0]
    name = next(optional.names, None)
    text = b"" if name is None else b"`%b` " % escaped(name.encode(errors="surrogateescape"))
    geometry = next(optional.geometries, 0) if code == T.GEOMETRY else 0
    is_text = charset != "" and collation != _BINARY
    width = CHARSET_ROWS[charset].max_bytes if is_text else 0
    type_name = _type_name(code, metadata, width, geometry)
    if not type_name:
        return text + _invalid(code)
    text += type_name
    if code in _NUMERIC and next(optional.signs, False):
        text += b" UNSIGNED"
    if not nullable:
        text += b" NOT NULL"
    members = next(optional.enums, None) if code == T.ENUM else next(optional.sets, None) if code == T.SET else None
    if members is not None:
        text += b"(%b)" % b",".join(b"'%b'" % escaped(member) for member in members) if members else b")"
    if charset and (code in _CHOICES or is_text):
        text += b" CHARSET %b COLLATE %b" % (charset.encode(), collation_text.encode())
    return text


def _invalid(code: int) -> bytes:
    return b"INVALID_TYPE(%d)" % code


def _with_digits(name: bytes) -> Callable[[int], bytes]:
    return lambda digits: b"%b(%d)" % (name, digits) if digits else name


_FIXED: dict[int, bytes] = {
    T.LONG: b"INT",
    T.TINY: b"TINYINT",
    T.SHORT: b"SMALLINT",
    T.INT24: b"MEDIUMINT",
    T.LONGLONG: b"BIGINT",
    T.FLOAT: b"FLOAT",
    T.DOUBLE: b"DOUBLE",
    T.NEWDATE: b"DATE",
    T.DATE: b"DATE",
    T.YEAR: b"YEAR",
    T.ENUM: b"ENUM",
    T.SET: b"SET",
}
_BY_METADATA: dict[int, Callable[[int], bytes]] = {
    T.NEWDECIMAL: lambda metadata: b"DECIMAL(%d,%d)" % (metadata & 0xFF, metadata >> 8),
    T.BIT: lambda metadata: b"BIT(%d)" % ((metadata & 0xFF) + (metadata >> 8) * 8),
    T.TIMESTAMP2: _with_digits(b"TIMESTAMP"),
    T.DATETIME2: _with_digits(b"DATETIME"),
    T.TIME2: _with_digits(b"TIME"),
}


_WITH_METADATA = frozenset(
    {*_BY_METADATA, *_CHOICES, T.FLOAT, T.DOUBLE, T.BLOB, T.VARCHAR, T.VAR_STRING, T.STRING, T.GEOMETRY}
)


def _type_name(code: int, metadata: int, width: int, geometry: int) -> bytes:
    """Return the name of a type; `width` is the length of a character of text, 0 for bytes."""
    if code in _FIXED:
        return _FIXED[code]
    if code in _BY_METADATA:
        return _BY_METADATA[code](metadata)
    if code == T.BLOB:
        if not 1 <= metadata <= len(_BLOBS):
            return b"INVALID_%b(%d)" % (b"TEXT" if width else b"BLOB", metadata)
        return _BLOBS[metadata - 1][bool(width)]
    if code in (T.VARCHAR, T.VAR_STRING):
        return b"VARCHAR(%d)" % (metadata // width) if width else b"VARBINARY(%d)" % metadata
    if code == T.STRING:
        length = (metadata & 0x30 ^ 0x30) << 4 | metadata >> 8
        return b"CHAR(%d)" % (length // width) if width else b"BINARY(%d)" % length
    if code == T.GEOMETRY:
        return _GEOMETRIES[geometry] if geometry < len(_GEOMETRIES) else b"INVALID_GEOMETRY_TYPE(%d)" % geometry
    return b""


def _primary_key(table_map: TableMap) -> bytes:
    key: list[tuple[int, int]] = list(table_map.optional(MetadataKind.PRIMARY_KEY_WITH_PREFIX) or ())
    key = key or [(index, 0) for index in table_map.optional(MetadataKind.SIMPLE_PRIMARY_KEY) or ()]
    if not key:
        return b""
    names = table_map.column_names or ()
    parts = []
    for index, prefix in key:
        name = names[index].encode(errors="surrogateescape") if index < len(names) else b"%d" % index
        parts.append(name + (b"(%d)" % prefix if prefix else b""))
    return b"# Primary Key(%b)\n" % b", ".join(parts)
