"""TABLE_MAP: the table of a table id, and its columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from binspark.errors import DecodeError
from binspark.event.column_types import (
    MAX_COLUMNS,
    ColumnType,
    TypeMetadata,
    column_type_name,
    element_metadata_length,
    type_metadata,
)
from binspark.event.context import Context
from binspark.event.table_metadata import MetadataField, MetadataKind, decode_table_metadata, encode_table_metadata
from binspark.frames import EventCode
from binspark.wire import Cursor, Writer
from binspark.wire.bitmap import bitmap_length, low_bits_first
from binspark.wire.meaning import flags, note

SHORT_TABLE_ID = 4
TABLE_ID = 6
_SHORT_POST_HEADER = 6
_MAX_TABLE_MAPS = 4096
_TABLE_ID_MEANING = note("the id of the table in the rows events that follow")


class TableMapFlag(IntFlag):
    """Flags of a TABLE_MAP."""

    BIT_LENGTHS_EXACT = 0x0001
    REFERRED_FK_DB = 0x0002
    HAS_GENERATED_INVISIBLE_PRIMARY_KEY = 0x0004
    HAS_TRIGGERS = 0x4000


@dataclass(frozen=True, slots=True)
class TableMap:
    """TABLE_MAP: until the end of the statement, `table_id` in rows events means this table.

    `column_types` are type codes. `column_metadata` has a number for each column (0 if its type has no metadata): the
    bytes in the log, read as a little-endian integer. `null_bits` has a bit for each column, the lowest of each byte
    first. `metadata_rest` is type metadata that belongs to columns of unknown types.

    Up to 5.1.17 and 5.2.2 the event ends after the column types: `has_type_metadata` is False then, all numbers are 0
    and there are no null bits. Such rows cannot be decoded.
    """

    table_id: int
    flags: int
    schema: str
    table: str
    column_types: tuple[int, ...]
    column_metadata: tuple[int, ...]
    null_bits: bytes
    metadata: tuple[MetadataField, ...]
    metadata_rest: bytes = b""
    has_type_metadata: bool = True

    @property
    def column_count(self) -> int:
        """The number of columns of the table."""
        return len(self.column_types)

    @property
    def nullable(self) -> tuple[bool, ...]:
        """For each column, whether it may be NULL; all may if the event does not contain it."""
        if not self.has_type_metadata:
            return (True,) * self.column_count
        return low_bits_first(self.null_bits, self.column_count)

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """The names of the columns, if the server wrote them (binlog_row_metadata=FULL); else None."""
        names: tuple[str, ...] | None = self.optional(MetadataKind.COLUMN_NAME)
        return names

    def optional(self, kind: MetadataKind) -> Any:
        """Return the value of an optional metadata field, or None if the event does not contain it."""
        return next((field.value for field in self.metadata if field.kind == kind), None)


def decode_table_map(body: Cursor, context: Context) -> TableMap:
    """Decode TABLE_MAP.

    offset  bytes   field
    0       6       table id (4 bytes in pre-releases of 5.1, whose post-header has 6 bytes)
    6       2       flags
    8       1+n+1   length, schema, zero byte
            1+m+1   length, table, zero byte
            packed  number of columns c
            c       type codes
            packed  length of the type metadata (it and all that follows: not before 5.1.18)
            ...     type metadata: for each column the bytes that its type has (see `TypeMetadata`)
            (c+7)/8 which columns can be NULL
            rest    optional metadata

    Every statement maps its tables again with the same bytes, so results are cached.
    """
    form = _form(context)
    if type(body) is not Cursor:
        return _read(body, form)
    start = body.offset
    try:
        return _cached(body.rest("table_map"), form, body.encoding)
    except DecodeError:  # read again: the offset of the error is that of the event
        body.offset = start
        return _read(body, form)


Mapped = TypeVar("Mapped")


class TableMaps(dict[int, Mapped]):
    """What is known of the tables of table ids. Of too many, the ones that were mapped first are forgotten.

    Rows belong to the last TABLE_MAP with their table id, which is of the same statement. Memory is bounded: no
    statement has that many tables.
    """

    def __setitem__(self, table_id: int, mapped: Mapped) -> None:
        self.pop(table_id, None)
        super().__setitem__(table_id, mapped)
        if len(self) > _MAX_TABLE_MAPS:
            del self[next(iter(self))]


def decode_without_metadata(body: Cursor, context: Context) -> TableMap:
    """Decode TABLE_MAP without its optional metadata, which may be damaged."""
    return _read(body, _form(context), with_metadata=False)


def encode_table_map(event: TableMap, writer: Writer, context: Context) -> None:
    """Encode TABLE_MAP: the inverse of `decode_table_map`."""
    short = context.post_header_length == _SHORT_POST_HEADER
    writer.uint(event.table_id, SHORT_TABLE_ID if short else TABLE_ID)
    writer.u16(event.flags)
    for name in (writer.encode_text(event.schema), writer.encode_text(event.table)):
        writer.packed(len(name))
        writer.raw(name)
        writer.zero()
    writer.packed(event.column_count)
    writer.raw(bytes(event.column_types))
    if not event.has_type_metadata:
        return
    type_metadata = _encode_type_metadata(event)
    writer.packed(len(type_metadata))
    writer.raw(type_metadata)
    writer.raw(event.null_bits)
    encode_table_metadata(event.metadata, writer)


class _Form(NamedTuple):
    """What depends on the version of the server. Those whose format lists no WRITE_ROWS_V1 wrote no type metadata."""

    id_length: int
    may_end_after_types: bool


def _form(context: Context) -> _Form:
    return _Form(
        SHORT_TABLE_ID if context.post_header_length == _SHORT_POST_HEADER else TABLE_ID,
        may_end_after_types=len(context.format.post_header_lengths) < EventCode.WRITE_ROWS_V1,
    )


@lru_cache(maxsize=1024)
def _cached(raw: bytes, form: _Form, encoding: str) -> TableMap:
    return _read(Cursor(raw, encoding=encoding), form)


def _read(body: Cursor, form: _Form, *, with_metadata: bool = True) -> TableMap:
    table_id = body.uint("table_id", form.id_length, _TABLE_ID_MEANING)
    table_flags = body.u16("flags", flags(TableMapFlag))
    schema = _name(body, "schema")
    table = _name(body, "table")
    types = body.raw("column_types", read_column_count(body), _types_meaning)
    if form.may_end_after_types and not body.remaining:
        zeros = (0,) * len(types)
        return TableMap(table_id, table_flags, schema, table, tuple(types), zeros, b"", (), has_type_metadata=False)
    metadata, rest = _read_type_metadata(body, types)
    null_bits = body.raw("null_bits", bitmap_length(len(types)), lambda bits: _nullable_meaning(bits, len(types)))
    optional = decode_table_metadata(body) if with_metadata else ()
    return TableMap(table_id, table_flags, schema, table, tuple(types), metadata, null_bits, optional, rest)


def read_column_count(body: Cursor) -> int:
    """Read how many columns a table has. No server has tables with more than MAX_COLUMNS."""
    count = body.packed("column_count")
    if count > MAX_COLUMNS:
        raise body.malformed(f"column_count is {count}, expected at most {MAX_COLUMNS}, the most that a server allows")
    return count


def _name(body: Cursor, name: str) -> str:
    text = body.text(name, body.packed(f"{name}_length"))
    body.zero(f"{name}_end")
    return text


def _read_type_metadata(body: Cursor, types: bytes) -> tuple[tuple[int, ...], bytes]:
    """Read the metadata of each column. Remaining bytes are valid only if there is a column of an unknown type."""
    part = body.sub("type_metadata", body.packed("type_metadata_length"))
    values: list[int] = []
    for index, type_code in enumerate(types):
        part.enter("type_metadata", index)
        values.append(_read_one(part, type_code))
        part.leave()
    rest = part.rest("unclaimed")
    if rest and all(type_code in ColumnType._value2member_map_ for type_code in types):
        raise part.malformed(f"type metadata has {len(rest)} bytes more than its columns need")
    return tuple(values), rest


def _read_one(part: Cursor, type_code: int) -> int:
    metadata = type_metadata(type_code)
    if metadata is TypeMetadata.ELEMENT:
        element = part.u8("element_type", column_type_name)
        return element | part.uint("element_metadata", element_metadata_length(element)) << 8
    return part.uint(column_type_name(type_code), metadata.length, metadata.meaning) if metadata.length else 0


def _encode_type_metadata(event: TableMap) -> bytes:
    writer = Writer()
    for type_code, value in zip(event.column_types, event.column_metadata, strict=True):
        metadata = type_metadata(type_code)
        of_element = element_metadata_length(value & 0xFF) if metadata is TypeMetadata.ELEMENT else 0
        writer.uint(value, metadata.length + of_element)
    writer.raw(event.metadata_rest)
    return writer.take()


def _types_meaning(types: bytes) -> str:
    return ", ".join(column_type_name(type_code) for type_code in types)


def _nullable_meaning(null_bits: bytes, count: int) -> str:
    nullable = [str(index + 1) for index, bit in enumerate(low_bits_first(null_bits, count)) if bit]
    return f"columns that can be NULL: {', '.join(nullable)}" if nullable else "no column can be NULL"
