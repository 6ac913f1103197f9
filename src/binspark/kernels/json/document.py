"""MySQL's binary JSON as text; `values.json.binary` says how documents are laid out and what is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.json.opaque import write_opaque
from binspark.kernels.json.strings import QUOTE, ROOM, write_quoted, write_short
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import load8, load16, load16s, load32, load32s, load64, store8, store16, store32, store64
from binspark.kernels.printing.digits import write_leading, write_signed, write_unsigned
from binspark.kernels.printing.doubles import write_double
from binspark.kernels.words import stack_words

_LARGE_OBJECT, _LARGE_ARRAY = 1, 3
_LITERAL, _INT16, _UINT16, _INT32, _UINT32, _INT64, _UINT64 = 4, 5, 6, 7, 8, 9, 10
_DOUBLE, _STRING, _OPAQUE = 11, 12, 15
_NULL, _TRUE, _FALSE = (int.from_bytes(word, "little") for word in (b"null", b"true", b"false"))
_EXPONENT = 0x7FF0_0000_0000_0000
_SHORT = 10**8
_MAX_LENGTH_BYTES = 5
_MAX_LENGTH = 0xFFFFFFFF

_SMALL, _LARGE = 2, 4  # bytes of a count, size or offset
_MAX_DEPTH = 100
_LEVEL = 24  # bytes that are kept of an array or object while one inside it is written
_LEVEL_WORDS = 3 * _MAX_DEPTH

_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = (ord(character) for character in "{}[]")
_COMMA, _COLON, _AFTER_KEY = (int.from_bytes(text, "little") for text in (b", ", b": ", b'": '))


class Container(NamedTuple):
    """The addresses of the parts of an array or object. `header` is -1 if it is invalid."""

    start: int
    stop: int
    elements: int
    is_object: bool
    value_entries: int
    header: int


def write_json(target: int, capacity: int, source: int, length: int) -> int:
    """Write a document as text; return its length, REFUSED, or NO_ROOM.

    Up to `ROOM` bytes more than the text may be required. None is written outside the target.
    """
    end = write_document(target, target + capacity - ROOM, source, length)
    return end - target if end > 0 else end


@kernel
def write_document(at: int, limit: int, source: int, length: int) -> int:
    """Write a document as text; return the address after it, REFUSED, or NO_ROOM."""
    if at > limit:
        return NO_ROOM
    if length == 0:
        return write_literal(at, length)
    kind = load8(source)
    if kind <= _LARGE_ARRAY:
        return write_tree(at, limit, kind, source + 1, source + length)
    end, _ = write_scalar(at, limit, kind, source + 1, source + length, source + length)
    return end


@kernel
def write_tree(at: int, limit: int, kind: int, start: int, end: int) -> int:
    """Write an array or object that begins at `start`, and ends at `end` or before.

    Every byte belongs to one value at most, so that the text is never larger than the document allows.
    """
    levels = stack_words(_LEVEL_WORDS)
    level = levels
    unclaimed = end - start
    stop = end
    index: Any = np.int64(0)  # for a literal Numba would compile everything twice
    while True:
        container = open_container(kind, start, stop, _LARGE) if kind & 1 else open_container(kind, start, stop, _SMALL)
        if at > limit:
            return NO_ROOM
        if index == 0:
            unclaimed -= container.header
            if container.header < 0 or unclaimed < 0:
                return REFUSED
            store8(at, _OPEN_OBJECT if container.is_object else _OPEN_ARRAY)
            at += 1
        if kind & 1:
            at, index, unclaimed, child = write_large_elements(at, limit, container, index, unclaimed, end)
        else:
            at, index, unclaimed, child = write_elements(at, limit, container, index, unclaimed, end, _SMALL)
        if at < 0:
            return at
        if child:
            if level == levels + _LEVEL * (_MAX_DEPTH - 1):
                return REFUSED
            store64(level, kind)
            store64(level + 8, start)
            store64(level + 16, index)
            level += _LEVEL
            width = _LARGE if kind & 1 else _SMALL
            kind = load8(container.value_entries + (index - 1) * (width + 1))
            start, stop, index = child, container.stop, 0
            continue
        store8(at, _CLOSE_OBJECT if container.is_object else _CLOSE_ARRAY)
        at += 1
        if level == levels:
            return at
        level -= _LEVEL
        kind, start, stop, index = load64(level), load64(level + 8), end, load64(level + 16)


@inlined
def number_at(address: int, width: int) -> int:
    """Read a count, size or offset of a small or large document."""
    return load16(address) if width == _SMALL else load32(address)


@inlined
def open_container(kind: int, start: int, stop: int, width: int) -> Container:
    """Locate the parts of an array or object that begins at `start` and ends at `stop` or before."""
    is_object = kind <= _LARGE_OBJECT
    if stop - start < 2 * width:
        return Container(start, stop, 0, is_object, start, -1)
    count = number_at(start, width)
    size = number_at(start + width, width)
    key_entries = count * (width + 2) if is_object else 0
    value_entries = start + 2 * width + key_entries
    header = 2 * width + key_entries + count * (width + 1)
    if size > stop - start or header > size:
        header = -1
    return Container(start, start + size, count, is_object, value_entries, header)


@kernel
def write_large_elements(
    at: int, limit: int, container: Container, index: int, unclaimed: int, document_end: int
) -> tuple[int, int, int, int]:
    """Write elements of a large array or object. Few are, so this is not compiled into the loop over containers."""
    return write_elements(at, limit, container, index, unclaimed, document_end, _LARGE)


@inlined
def write_elements(
    at: int, limit: int, container: Container, index: int, unclaimed: int, document_end: int, width: int
) -> tuple[int, int, int, int]:
    """Write elements up to the end, or up to one that is an array or object: the last number is its address.

    `ROOM` bytes are enough for a short key and a short value, so there is one look at the limit for both.
    """
    while index < container.elements:
        if at > limit:
            return NO_ROOM, index, unclaimed, 0
        if index:
            store16(at, _COMMA)
            at += 2
        if container.is_object:
            at, claimed = write_key(at, limit, container, index, document_end, width)
            unclaimed -= claimed
            if at < 0:
                return at, index, unclaimed, 0
        entry = container.value_entries + index * (width + 1)
        index += 1
        kind = load8(entry)
        source, stop = entry + 1, entry + 1 + width
        in_entry = _LITERAL <= kind <= _UINT16 or (width == _LARGE and _INT32 <= kind <= _UINT32)
        if not in_entry:
            offset = number_at(source, width)
            source, stop = container.start + offset, container.stop
            if offset < container.header or source > stop:
                return REFUSED, index, unclaimed, 0
            if kind <= _LARGE_ARRAY:
                return at, index, unclaimed, source
        at, end = write_scalar(at, limit, kind, source, stop, document_end)
        unclaimed -= 0 if in_entry else end - source
        if at < 0 or unclaimed < 0:
            return min(at, REFUSED), index, unclaimed, 0
    return at, index, unclaimed, 0


@inlined
def write_key(at: int, limit: int, container: Container, index: int, document_end: int, width: int) -> tuple[int, int]:
    """Write a key and a colon; return also the length of the key."""
    entry = container.start + 2 * width + index * (width + 2)
    offset, length = number_at(entry, width), load16(entry + width)
    source = container.start + offset
    if offset < container.header or source + length > container.stop:
        return REFUSED, 0
    end = write_short(at, source, length, document_end)
    if end:
        store32(end, _AFTER_KEY)
        return end + 3, length
    at = write_quoted(at, limit, source, length)
    if at < 0:
        return at, 0
    if at > limit:
        return NO_ROOM, 0
    store16(at, _COLON)
    return at + 2, length


@inlined
def write_scalar(at: int, limit: int, kind: int, source: int, stop: int, document_end: int) -> tuple[int, int]:
    """Write a value that is not an array or object; return also the address after its bytes."""
    if kind in (_STRING, _OPAQUE):
        return write_sized(at, limit, kind, source, stop, document_end)
    left = stop - source
    if kind == _LITERAL and left >= 1:
        return write_literal(at, load8(source)), source + 1
    if kind == _DOUBLE and left >= 8:
        bits = load64(source)
        return REFUSED if bits & _EXPONENT == _EXPONENT else write_double(at, bits), source + 8
    size, value = read_integer(kind, source, left)
    if size == 0:
        return REFUSED, source
    if 0 <= value < _SHORT:
        return write_leading(at, value), source + size
    return write_unsigned(at, value) if kind == _UINT64 else write_signed(at, value), source + size


@inlined
def read_integer(kind: int, source: int, left: int) -> tuple[int, int]:
    """Read an integer of two to eight bytes; return its size, 0 if it is none or if fewer bytes are left."""
    size, value = 0, 0
    if kind == _INT16 and left >= 2:
        size, value = 2, load16s(source)
    elif kind == _INT32 and left >= 4:
        size, value = 4, load32s(source)
    elif kind == _UINT16 and left >= 2:
        size, value = 2, load16(source)
    elif kind == _UINT32 and left >= 4:
        size, value = 4, load32(source)
    elif kind in (_INT64, _UINT64) and left >= 8:
        size, value = 8, load64(source)
    return size, value


@inlined
def write_literal(at: int, literal: int) -> int:
    """Write null, true or false."""
    if literal > 2:
        return REFUSED
    store64(at, _NULL if literal == 0 else (_TRUE if literal == 1 else _FALSE))
    return at + 4 + (literal >> 1)


@inlined
def write_sized(at: int, limit: int, kind: int, source: int, stop: int, document_end: int) -> tuple[int, int]:
    """Write a string or an opaque value: (type), length, data."""
    type_code = 0
    if kind == _OPAQUE:
        if source == stop:
            return REFUSED, source
        type_code = load8(source)
        source += 1
    length, source = read_length(source, stop)
    if length < 0 or length > stop - source:
        return REFUSED, source
    if kind == _STRING:
        end = write_short(at, source, length, document_end)
        if end == 0:
            return write_quoted(at, limit, source, length), source + length
        store8(end, QUOTE)
        return end + 1, source + length
    return write_opaque(at, limit, type_code, source, length), source + length


@inlined
def read_length(source: int, stop: int) -> tuple[int, int]:
    """Read a length, seven bits a byte, and return the address after it; -1 if it is invalid."""
    length = 0
    for index in range(_MAX_LENGTH_BYTES):
        if source == stop:
            return -1, source
        byte = load8(source)
        source += 1
        length |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return length if length <= _MAX_LENGTH else -1, source
    return -1, source
