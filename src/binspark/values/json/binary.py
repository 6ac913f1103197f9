"""MySQL's binary JSON: the form in which JSON columns are stored and logged.

A document is one byte of type and a value. An array or object begins with a header in which every element has an
entry; small values stand in their entry, others anywhere behind the header, at an offset from the start of the array
or object. Between them may be holes: partial updates leave them.

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

A document of no bytes is null: servers store it where NULL was forced into a NOT NULL column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.json.document import MAX_DEPTH, JsonNode, JsonObject, node_text
from binspark.values.json.opaque import decode_opaque
from binspark.wire import Cursor

_LITERAL, _INT16, _UINT16, _INT32, _UINT32 = 0x04, 0x05, 0x06, 0x07, 0x08
_KEY_LENGTH_BYTES: Final = 2
_MAX_LENGTH_BYTES: Final = 5
_MAX_LENGTH: Final = (1 << 32) - 1


class _Shape(NamedTuple):
    """How an array or object is laid out: what it is, how wide its numbers are, what stands in the entries."""

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

_SHAPES: dict[int, _Shape] = {
    0x00: _Shape(True, 2, _INLINED_SMALL),
    0x01: _Shape(True, 4, _INLINED_LARGE),
    0x02: _Shape(False, 2, _INLINED_SMALL),
    0x03: _Shape(False, 4, _INLINED_LARGE),
}

_LITERALS: dict[int, bool | None] = {0: None, 1: True, 2: False}


def json_text(document: bytes) -> str:
    """Return a document as the server prints it."""
    return node_text(decode_json(document))


def decode_json(document: bytes) -> JsonNode:
    """Decode a whole document."""
    if not document:
        return None
    cursor = Cursor(document)
    kind = cursor.u8("type")
    decoder = _Decoder(document)
    decoder.claim(cursor.offset, 1)
    return decoder.value(kind, cursor, depth=0)


class _Decoder:
    """A document, and how many of its bytes no value has claimed yet.

    Every byte belongs to one value at most. Offsets that make many values out of the same bytes are refused: the
    decoded document is never larger than its bytes allow.
    """

    __slots__ = ("document", "unclaimed")

    def __init__(self, document: bytes) -> None:
        self.document = document
        self.unclaimed = len(document)

    def claim(self, offset: int, count: int) -> None:
        self.unclaimed -= count
        if self.unclaimed < 0:
            raise Malformed("values of a JSON document lie on top of each other", Position(offset=offset))

    def value(self, kind: int, cursor: Cursor, depth: int) -> JsonNode:
        """Decode the value that begins at the cursor, inside `depth` arrays and objects."""
        shape = _SHAPES.get(kind)
        if shape is None:
            start = cursor.offset
            scalar = _decode_scalar(kind, cursor)
            self.claim(start, cursor.offset - start)
            return scalar
        if depth >= MAX_DEPTH:
            raise cursor.malformed(f"a JSON document of more than {MAX_DEPTH} levels")
        return self._container(shape, cursor, depth + 1)

    def _container(self, shape: _Shape, cursor: Cursor, depth: int) -> JsonNode:
        """Decode an array or object. Numbers take w = 2 bytes in the small format, 4 in the large one.

        bytes    field
        w        number of elements n
        w        bytes in all, from the first field on
        n*(w+2)  key entries: offset (w), length (2)             (objects)
        n*(w+1)  value entries: type (1), value or offset (w)
                 keys and values
        """
        start = cursor.offset
        count = cursor.uint("element_count", shape.width)
        size = cursor.uint("size", shape.width)
        cursor.offset = start
        body = cursor.sub("container", size)
        header = 2 * shape.width + count * (shape.key_entry + shape.value_entry)
        if header > size:
            raise body.malformed(f"{count} elements need {header} bytes of header, the whole has {size}")
        self.claim(start, header)
        first_value_entry = start + 2 * shape.width + count * shape.key_entry
        value_entries = Cursor(self.document, first_value_entry, start + header)
        if not shape.is_object:
            return [self._element(shape, value_entries, body, header, depth) for _ in range(count)]
        key_entries = Cursor(self.document, start + 2 * shape.width, first_value_entry)
        return JsonObject(
            [
                (self._key(shape, key_entries, body, header), self._element(shape, value_entries, body, header, depth))
                for _ in range(count)
            ]
        )

    def _key(self, shape: _Shape, entries: Cursor, body: Cursor, header: int) -> str:
        offset = entries.uint("key_offset", shape.width)
        length = entries.uint("key_length", _KEY_LENGTH_BYTES)
        key = _read_text(_seek(body, offset, header), "key", length)
        self.claim(body.offset + offset, length)
        return key

    def _element(self, shape: _Shape, entries: Cursor, body: Cursor, header: int, depth: int) -> JsonNode:
        entry = entries.sub("value_entry", shape.value_entry)
        kind = entry.u8("type")
        if kind in shape.inlined:
            return _decode_scalar(kind, entry)
        offset = entry.uint("value_offset", shape.width)
        return self.value(kind, _seek(body, offset, header), depth)


def _seek(body: Cursor, offset: int, header: int) -> Cursor:
    """Return a cursor from an offset inside an array or object to its end."""
    if not header <= offset <= body.remaining:
        raise body.malformed(f"offset {offset} is not between the header ({header} bytes) and the end")
    return Cursor(body.data, body.offset + offset, body.end)


def _decode_scalar(kind: int, cursor: Cursor) -> JsonNode:
    reader = _SCALARS.get(kind)
    if reader is None:
        raise cursor.malformed(f"0x{kind:02x} is not a type of JSON value")
    return reader(cursor)


def _read_literal(cursor: Cursor) -> bool | None:
    literal = cursor.u8("literal")
    if literal not in _LITERALS:
        raise cursor.malformed(f"{literal} is none of the literals null, true and false")
    return _LITERALS[literal]


def _read_signed(cursor: Cursor, length: int) -> int:
    value = cursor.uint("integer", length)
    return value - ((value >> (8 * length - 1)) << (8 * length))


def _read_double(cursor: Cursor) -> float:
    value = cursor.f64("double")
    if not math.isfinite(value):
        raise cursor.malformed("a JSON number is not finite")
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
    """Read a length: seven bits a byte, the lowest first; the top bit says that another byte follows."""
    length = 0
    for index in range(_MAX_LENGTH_BYTES):
        byte = cursor.u8("length")
        length |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            break
    else:
        raise cursor.malformed(f"a length of more than {_MAX_LENGTH_BYTES} bytes")
    if length > _MAX_LENGTH:
        raise cursor.malformed(f"a length of {length}, more than 32 bits hold")
    return length


def _read_text(cursor: Cursor, name: str, length: int) -> str:
    try:
        return cursor.raw(name, length).decode()
    except UnicodeDecodeError as error:
        raise cursor.malformed(f"a JSON {name} is not UTF-8: {error.reason}") from None


_SCALARS: dict[int, Callable[[Cursor], JsonNode]] = {
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
