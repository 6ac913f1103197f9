"""MySQL's binary JSON: the form in which JSON columns are stored and logged.

A document is one byte of type and a value. An array or object begins with a header that has an entry for each element;
small values are in their entry, others anywhere after the header, at an offset from the start of the array or object.
There may be gaps between them: partial updates leave some.

type        value
0x00, 0x01  small, large object
0x02, 0x03  small, large array
0x04        literal: 0 null, 1 true, 2 false
0x05, 0x06  int16, uint16
0x07, 0x08  int32, uint32
0x09, 0x0a  int64, uint64
0x0b        double
0x0c        length (see `read_length`), text in UTF-8
0x0f        opaque: a value of an SQL type, see `binspark.values.json.opaque`

A document without bytes is null: servers store it when NULL is forced into a NOT NULL column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.json.document import MAX_DEPTH, JsonNode, JsonObject, node_text
from binspark.values.json.opaque import decode_opaque
from binspark.wire import Cursor

ScalarReader: TypeAlias = Callable[[Cursor], JsonNode]
"""Reads a value that is neither an array nor an object, after its type."""

_LITERAL, _INT16, _UINT16, _INT32, _UINT32 = 0x04, 0x05, 0x06, 0x07, 0x08
_KEY_LENGTH_BYTES: Final = 2
_MAX_LENGTH_BYTES: Final = 5
_MAX_LENGTH: Final = (1 << 32) - 1


class _Container(NamedTuple):
    """The layout of an array or object: the width of its numbers, and the types whose values are in the entries."""

    is_object: bool
    width: int
    inlined: frozenset[int]

    @property
    def key_entry(self) -> int:
        return self.width + _KEY_LENGTH_BYTES if self.is_object else 0

    @property
    def value_entry(self) -> int:
        return 1 + self.width


_INLINED_SMALL = frozenset((_LITERAL, _INT16, _UINT16))
_INLINED_LARGE = _INLINED_SMALL | {_INT32, _UINT32}

_CONTAINERS: dict[int, _Container] = {
    0x00: _Container(True, 2, _INLINED_SMALL),
    0x01: _Container(True, 4, _INLINED_LARGE),
    0x02: _Container(False, 2, _INLINED_SMALL),
    0x03: _Container(False, 4, _INLINED_LARGE),
}

_LITERALS: dict[int, bool | None] = {0: None, 1: True, 2: False}


def json_text(document: bytes) -> str:
    """Return a document as the server prints it."""
    return node_text(decode_json(document))


def decode_json(document: bytes, scalars: Mapping[int, ScalarReader] | None = None) -> JsonNode:
    """Decode a document. `scalars` may read values of some types in another way: by type, see above."""
    if not document:
        return None
    cursor = Cursor(document)
    kind = cursor.u8("type")
    decoder = _Decoder(document, _SCALARS if scalars is None else {**_SCALARS, **scalars})
    decoder.claim(cursor.offset, 1)
    return decoder.value(kind, cursor, depth=0)


class _Decoder:
    """A document, and the number of its bytes that do not belong to a value yet.

    Every byte belongs to one value at most. Offsets that use the same bytes for many values are malformed: otherwise a
    small document could decode to one that exhausts memory.
    """

    __slots__ = ("document", "scalars", "unclaimed")

    def __init__(self, document: bytes, scalars: Mapping[int, ScalarReader]) -> None:
        self.document = document
        self.scalars = scalars
        self.unclaimed = len(document)

    def claim(self, offset: int, count: int) -> None:
        self.unclaimed -= count
        if self.unclaimed < 0:
            raise Malformed("values of a JSON document overlap", Position(offset=offset))

    def value(self, kind: int, cursor: Cursor, depth: int) -> JsonNode:
        """Decode the value that begins at the cursor, inside `depth` arrays and objects."""
        container = _CONTAINERS.get(kind)
        if container is None:
            start = cursor.offset
            scalar = self._scalar(kind, cursor)
            self.claim(start, cursor.offset - start)
            return scalar
        if depth >= MAX_DEPTH:
            raise cursor.malformed(f"JSON document has more than {MAX_DEPTH} levels")
        return self._container(container, cursor, depth + 1)

    def _scalar(self, kind: int, cursor: Cursor) -> JsonNode:
        reader = self.scalars.get(kind)
        if reader is None:
            raise cursor.malformed(f"unknown JSON type 0x{kind:02x}")
        return reader(cursor)

    def _container(self, layout: _Container, cursor: Cursor, depth: int) -> JsonNode:
        """Decode an array or object. Numbers take w = 2 bytes in the small format, 4 in the large one.

        bytes    field
        w        number of elements n
        w        bytes in all, from the first field on
        n*(w+2)  key entries: offset (w), length (2)             (objects)
        n*(w+1)  value entries: type (1), value or offset (w)
                 keys and values
        """
        start = cursor.offset
        count = cursor.uint("element_count", layout.width)
        size = cursor.uint("size", layout.width)
        cursor.offset = start
        body = cursor.sub("container", size)
        header = 2 * layout.width + count * (layout.key_entry + layout.value_entry)
        if header > size:
            raise body.malformed(f"{count} elements need a header of {header} bytes, but the size is {size}")
        self.claim(start, header)
        first_value_entry = start + 2 * layout.width + count * layout.key_entry
        value_entries = Cursor(self.document, first_value_entry, start + header)
        if not layout.is_object:
            return [self._element(layout, value_entries, body, header, depth) for _ in range(count)]
        key_entries = Cursor(self.document, start + 2 * layout.width, first_value_entry)
        return JsonObject(
            [
                (
                    self._key(layout, key_entries, body, header),
                    self._element(layout, value_entries, body, header, depth),
                )
                for _ in range(count)
            ]
        )

    def _key(self, layout: _Container, entries: Cursor, body: Cursor, header: int) -> str:
        offset = entries.uint("key_offset", layout.width)
        length = entries.uint("key_length", _KEY_LENGTH_BYTES)
        key = _read_text(_seek(body, offset, header), "key", length)
        self.claim(body.offset + offset, length)
        return key

    def _element(self, layout: _Container, entries: Cursor, body: Cursor, header: int, depth: int) -> JsonNode:
        entry = entries.sub("value_entry", layout.value_entry)
        kind = entry.u8("type")
        if kind in layout.inlined:
            return self._scalar(kind, entry)
        offset = entry.uint("value_offset", layout.width)
        return self.value(kind, _seek(body, offset, header), depth)


def _seek(body: Cursor, offset: int, header: int) -> Cursor:
    """Return a cursor from an offset in an array or object to its end."""
    if not header <= offset <= body.remaining:
        raise body.malformed(f"offset {offset} is not between the header of {header} bytes and the end")
    return Cursor(body.data, body.offset + offset, body.end)


def _read_literal(cursor: Cursor) -> bool | None:
    literal = cursor.u8("literal")
    if literal not in _LITERALS:
        raise cursor.malformed(f"unknown JSON literal {literal}, expected 0 (null), 1 (true) or 2 (false)")
    return _LITERALS[literal]


def _read_signed(cursor: Cursor, length: int) -> int:
    value = cursor.uint("integer", length)
    return value - ((value >> (8 * length - 1)) << (8 * length))


def _read_double(cursor: Cursor) -> float:
    value = cursor.f64("double")
    if not math.isfinite(value):
        raise cursor.malformed("JSON number is not finite")
    return value


def _read_string(cursor: Cursor) -> str:
    return _read_text(cursor, "string", read_length(cursor))


def _read_opaque(cursor: Cursor) -> JsonNode:
    """Decode an opaque value.

    bytes  field
    1      column type
    1-5    length
           data
    """
    type_code = cursor.u8("opaque_type")
    return decode_opaque(type_code, cursor.sub("opaque", read_length(cursor)))


def read_length(cursor: Cursor) -> int:
    """Read a length: seven bits per byte, the lowest first; the top bit is set if another byte follows."""
    length = 0
    for index in range(_MAX_LENGTH_BYTES):
        byte = cursor.u8("length")
        length |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            break
    else:
        raise cursor.malformed(f"length has more than {_MAX_LENGTH_BYTES} bytes")
    if length > _MAX_LENGTH:
        raise cursor.malformed(f"length is {length}, expected at most {_MAX_LENGTH}")
    return length


def _read_text(cursor: Cursor, name: str, length: int) -> str:
    try:
        return cursor.raw(name, length).decode()
    except UnicodeDecodeError as error:
        raise cursor.malformed(f"JSON {name} is not valid UTF-8: {error.reason}") from None


_SCALARS: dict[int, ScalarReader] = {
    _LITERAL: _read_literal,
    _INT16: lambda cursor: _read_signed(cursor, 2),
    _UINT16: lambda cursor: cursor.u16("integer"),
    _INT32: lambda cursor: _read_signed(cursor, 4),
    _UINT32: lambda cursor: cursor.u32("integer"),
    0x09: lambda cursor: cursor.i64("integer"),
    0x0A: lambda cursor: cursor.u64("integer"),
    0x0B: _read_double,
    0x0C: _read_string,
    0x0F: _read_opaque,
}
