"""The optional metadata at the end of a TABLE_MAP: signs, character sets, names, keys and others.

Each field is one byte for its kind, a packed length, and a value. The value of an unknown kind is kept as bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

from binspark.wire import Cursor, Writer
from binspark.wire.bitmap import encode_high_bits_first, high_bits_first
from binspark.wire.meaning import as_text, bits_high_first, code


class MetadataKind(IntEnum):
    """The kinds of optional metadata."""

    SIGNEDNESS = 1
    DEFAULT_CHARSET = 2
    COLUMN_CHARSET = 3
    COLUMN_NAME = 4
    SET_STR_VALUE = 5
    ENUM_STR_VALUE = 6
    GEOMETRY_TYPE = 7
    SIMPLE_PRIMARY_KEY = 8
    PRIMARY_KEY_WITH_PREFIX = 9
    ENUM_AND_SET_DEFAULT_CHARSET = 10
    ENUM_AND_SET_COLUMN_CHARSET = 11
    COLUMN_VISIBILITY = 12
    VECTOR_DIMENSIONALITY = 13


class DefaultCharset(NamedTuple):
    """The collation of most columns of a class, and the exceptions: index within the class, collation."""

    collation: int
    exceptions: tuple[tuple[int, int], ...]


class MetadataField(NamedTuple):
    """One field of optional metadata. The type of `value` follows from its kind.

    SIGNEDNESS (true: unsigned) and COLUMN_VISIBILITY are bits, padded to full bytes as in the log. ENUM and SET members
    are bytes in the character set of the column.
    """

    kind: int
    value: Any

    @property
    def name(self) -> str:
        """The name of its kind in lower case, `unknown_N` for a kind that is not known."""
        known = self.kind in MetadataKind._value2member_map_
        return MetadataKind(self.kind).name.lower() if known else f"unknown_{self.kind}"


def decode_table_metadata(body: Cursor) -> tuple[MetadataField, ...]:
    """Decode optional metadata to the end of the event."""
    fields: list[MetadataField] = []
    while body.remaining:
        body.enter("metadata", len(fields))
        kind = body.u8("kind", code(MetadataKind))
        part = body.sub("value", body.packed("length"))
        reader = _READERS.get(kind)
        fields.append(MetadataField(kind, part.rest("unknown") if reader is None else reader(part)))
        part.expect_end()
        body.leave()
    return tuple(fields)


def encode_table_metadata(fields: tuple[MetadataField, ...], writer: Writer) -> None:
    """Write optional metadata."""
    for field in fields:
        value = Writer(writer.encoding)
        _WRITERS.get(field.kind, Writer.raw)(value, field.value)
        writer.u8(field.kind)
        writer.packed(len(value))
        writer.raw(value.take())


def _read_bits(part: Cursor) -> tuple[bool, ...]:
    bitmap = part.rest("bits", bits_high_first)
    return high_bits_first(bitmap, 8 * len(bitmap))


def _write_bits(writer: Writer, value: tuple[bool, ...]) -> None:
    writer.raw(encode_high_bits_first(value))


def _read_default_charset(part: Cursor) -> DefaultCharset:
    return DefaultCharset(part.packed("collation"), _read_pairs(part))


def _write_default_charset(writer: Writer, value: DefaultCharset) -> None:
    writer.packed(value.collation)
    _write_pairs(writer, value.exceptions)


def _read_numbers(part: Cursor) -> tuple[int, ...]:
    numbers: list[int] = []
    while part.remaining:
        numbers.append(part.packed("number"))
    return tuple(numbers)


def _write_numbers(writer: Writer, value: tuple[int, ...]) -> None:
    for number in value:
        writer.packed(number)


def _read_pairs(part: Cursor) -> tuple[tuple[int, int], ...]:
    pairs: list[tuple[int, int]] = []
    while part.remaining:
        pairs.append((part.packed("column"), part.packed("number")))
    return tuple(pairs)


def _write_pairs(writer: Writer, value: tuple[tuple[int, int], ...]) -> None:
    for column, number in value:
        writer.packed(column)
        writer.packed(number)


def _read_names(part: Cursor) -> tuple[str, ...]:
    names: list[str] = []
    while part.remaining:
        names.append(part.text("column_name", part.packed("name_length")))
    return tuple(names)


def _write_names(writer: Writer, value: tuple[str, ...]) -> None:
    for name in value:
        raw = writer.encode_text(name)
        writer.packed(len(raw))
        writer.raw(raw)


def _read_members(part: Cursor) -> tuple[tuple[bytes, ...], ...]:
    columns: list[tuple[bytes, ...]] = []
    while part.remaining:
        part.enter("column", len(columns))
        members: list[bytes] = []
        for _ in range(part.packed("count")):
            members.append(part.raw("member", part.packed("member_length"), as_text))  # noqa: PERF401 (stops at the first error)
        columns.append(tuple(members))
        part.leave()
    return tuple(columns)


def _write_members(writer: Writer, value: tuple[tuple[bytes, ...], ...]) -> None:
    for members in value:
        writer.packed(len(members))
        for member in members:
            writer.packed(len(member))
            writer.raw(member)


_READERS: dict[int, Callable[[Cursor], Any]] = {
    MetadataKind.SIGNEDNESS: _read_bits,
    MetadataKind.DEFAULT_CHARSET: _read_default_charset,
    MetadataKind.COLUMN_CHARSET: _read_numbers,
    MetadataKind.COLUMN_NAME: _read_names,
    MetadataKind.SET_STR_VALUE: _read_members,
    MetadataKind.ENUM_STR_VALUE: _read_members,
    MetadataKind.GEOMETRY_TYPE: _read_numbers,
    MetadataKind.SIMPLE_PRIMARY_KEY: _read_numbers,
    MetadataKind.PRIMARY_KEY_WITH_PREFIX: _read_pairs,
    MetadataKind.ENUM_AND_SET_DEFAULT_CHARSET: _read_default_charset,
    MetadataKind.ENUM_AND_SET_COLUMN_CHARSET: _read_numbers,
    MetadataKind.COLUMN_VISIBILITY: _read_bits,
    MetadataKind.VECTOR_DIMENSIONALITY: _read_numbers,
}

_WRITERS: dict[int, Callable[[Writer, Any], None]] = {
    MetadataKind.SIGNEDNESS: _write_bits,
    MetadataKind.DEFAULT_CHARSET: _write_default_charset,
    MetadataKind.COLUMN_CHARSET: _write_numbers,
    MetadataKind.COLUMN_NAME: _write_names,
    MetadataKind.SET_STR_VALUE: _write_members,
    MetadataKind.ENUM_STR_VALUE: _write_members,
    MetadataKind.GEOMETRY_TYPE: _write_numbers,
    MetadataKind.SIMPLE_PRIMARY_KEY: _write_numbers,
    MetadataKind.PRIMARY_KEY_WITH_PREFIX: _write_pairs,
    MetadataKind.ENUM_AND_SET_DEFAULT_CHARSET: _write_default_charset,
    MetadataKind.ENUM_AND_SET_COLUMN_CHARSET: _write_numbers,
    MetadataKind.COLUMN_VISIBILITY: _write_bits,
    MetadataKind.VECTOR_DIMENSIONALITY: _write_numbers,
}
