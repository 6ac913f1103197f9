"""MySQL's binary JSON as SQL expressions, as `sql.documents` writes them one at a time.

A document is written as text first: that refuses an invalid one, and most need no more than a cast of the text.
"""

from __future__ import annotations

from typing import Any

from binspark.event.column_types import ColumnType
from binspark.kernels.compiler import kernel
from binspark.kernels.json.document import number_at, read_length, write_document, write_scalar, write_tree
from binspark.kernels.json.opaque import write_opaque
from binspark.kernels.layout import NO_ROOM
from binspark.kernels.memory import (
    copy_bytes,
    get,
    load8,
    load16,
    load32,
    load64,
    store8,
    store16,
    store32,
    store64,
)
from binspark.kernels.printing.digits import write_unsigned
from binspark.kernels.sql.layout import SqlField
from binspark.kernels.sql.literals import write_hexadecimal, write_utf8_literal
from binspark.kernels.words import ZERO, stack_words

_LARGE_OBJECT, _LARGE_ARRAY, _UINT16, _UINT32, _UINT64, _OPAQUE = 1, 3, 6, 8, 10, 15
_SMALL, _LARGE = 2, 4  # bytes of a count, size or offset
_MAX_DEPTH = 100
_LEVEL = 24
_LEVEL_WORDS = 3 * _MAX_DEPTH
_NEWDECIMAL, _VAR_STRING, _VARCHAR = map(int, (ColumnType.NEWDECIMAL, ColumnType.VAR_STRING, ColumnType.VARCHAR))
_DATE, _TIME, _DATETIME, _TIMESTAMP = map(
    int, (ColumnType.DATE, ColumnType.TIME, ColumnType.DATETIME, ColumnType.TIMESTAMP)
)
_MAX_PRECISION = 65
_GAP = 64  # more than what is written around text in hexadecimal
_QUOTE, _CLOSE, _COMMA = (ord(character) for character in "'),")
_SEPARATOR = int.from_bytes(b", ", "little")


def _words(text: bytes) -> tuple[int, ...]:
    """Return text as words of eight bytes, for `store64`; of the last one, only some bytes belong to it."""
    return tuple(int.from_bytes(text[at : at + 8], "little") for at in range(0, len(text), 8))


_CAST, _AS_JSON, _AS_UNSIGNED, _AS_DECIMAL = _words(b"CAST("), _words(b" AS JSON)"), _words(b" AS UNSIGNED)"), _words(
    b"' AS DECIMAL("
)  # fmt: skip
_AS_DATE, _AS_DATETIME, _AS_TIME = _words(b" AS DATE)"), _words(b" AS DATETIME(6))"), _words(b" AS TIME(6))")
_AS_BINARY, _OF_TYPE, _BECOMES = _words(b" AS BINARY)"), _words(b" /* of type "), _words(b", becomes ")
_END_OF_COMMENT, _JSON_OBJECT, _JSON_ARRAY = _words(b" */"), _words(b"JSON_OBJECT("), _words(b"JSON_ARRAY(")


def write_document_value(field: int, row: int, at: int, limit: int) -> int:
    """Write a document of a column."""
    offset = get(field, SqlField.OFFSETS) + 4 * row
    start = load32(offset)
    return write_document_literal(at, limit, get(field, SqlField.DATA) + start, load32(offset + 4) - start)


@kernel
def write_document_literal(at: int, limit: int, source: int, length: int) -> int:
    """Write the expression for a document."""
    end = write_document(at, limit, source, length)
    if end < 0 or length == 0:
        return end if end < 0 else write_cast(at, limit, end)
    kind, stop = load8(source), source + length
    if kind > _LARGE_ARRAY:
        if not is_expression(kind, source + 1):
            return write_cast(at, limit, end)
        store64(at, _CAST[0])
        at = write_expression(at + 5, limit, kind, source + 1, stop)
        if at < 0:
            return at
        return write_as_json(at)
    if has_expression(kind, source + 1):
        return write_built(at, limit, kind, source + 1, stop)
    return write_cast(at, limit, end)


@kernel
def write_cast(at: int, limit: int, end: int) -> int:
    """Write the text of JSON between two addresses as an expression, in its place."""
    length = end - at
    text = at + 2 * length + _GAP
    if text + length > limit:
        return NO_ROOM
    copy_bytes(text, at, length)
    store64(at, _CAST[0])
    at = write_utf8_literal(at + 5, limit, text, length)
    return write_as_json(at)


@kernel
def write_as_json(at: int) -> int:
    """Write the end of a cast to JSON."""
    store64(at, _AS_JSON[0])
    store8(at + 8, _CLOSE)
    return at + 9


@kernel
def is_expression(kind: int, source: int) -> bool:
    """Return whether text of JSON has no such value."""
    if kind == _OPAQUE:
        return load8(source) != _VAR_STRING
    return kind in (_UINT16, _UINT32) or (kind == _UINT64 and load64(source) >= 0)


@kernel
def value_entries(kind: int, start: int, width: int) -> int:
    """Return the address of the first value entry of an array or object."""
    keys = number_at(start, width) * (width + 2) if kind <= _LARGE_OBJECT else 0
    return start + 2 * width + keys


@kernel
def value_of(entry: int, start: int, width: int) -> int:
    """Return the address of the value of an entry. Small ones are in it."""
    kind = load8(entry)
    is_inside = 4 <= kind <= _UINT16 or (width == _LARGE and 7 <= kind <= _UINT32)
    return entry + 1 if is_inside else start + number_at(entry + 1, width)


@kernel
def push_level(level: int, kind: int, start: int, index: int) -> int:
    """Store where an array or object is left for one inside it; return the address of the next level."""
    store64(level, kind)
    store64(level + 8, start)
    store64(level + 16, index)
    return level + _LEVEL


@kernel
def has_expression(kind: int, start: int) -> bool:
    """Return whether an array or object, which is valid, has a value that text of JSON has not."""
    levels = stack_words(_LEVEL_WORDS)
    level = levels
    index: Any = ZERO
    while True:
        width = _LARGE if kind & 1 else _SMALL
        count, entries = number_at(start, width), value_entries(kind, start, width)
        child = ZERO
        while index < count and child == 0:
            entry = entries + index * (width + 1)
            index += 1
            value = value_of(entry, start, width)
            if load8(entry) <= _LARGE_ARRAY:
                child = value
            elif is_expression(load8(entry), value):
                return True
        if child:
            level = push_level(level, kind, start, index)
            kind, start, index = load8(entries + (index - 1) * (width + 1)), child, ZERO
        elif level == levels:
            return False
        else:
            level -= _LEVEL
            kind, start, index = load64(level), load64(level + 8), load64(level + 16)


@kernel
def write_built(at: int, limit: int, kind: int, start: int, stop: int) -> int:
    """Write the functions that build an array or object with values that text of JSON has not."""
    levels = stack_words(_LEVEL_WORDS)
    level = levels
    index: Any = ZERO
    while True:
        if at > limit:
            return NO_ROOM
        width = _LARGE if kind & 1 else _SMALL
        count, entries = number_at(start, width), value_entries(kind, start, width)
        if index == 0:
            at = write_function(at, kind)
        child = ZERO
        while index < count and child == 0:
            if index:
                store16(at, _SEPARATOR)
                at += 2
            if kind <= _LARGE_OBJECT:
                key = start + 2 * width + index * (width + 2)
                at = write_utf8_literal(at, limit, start + number_at(key, width), load16(key + width))
                if at < 0:
                    return at
                store16(at, _SEPARATOR)
                at += 2
            entry = entries + index * (width + 1)
            index += 1
            value = value_of(entry, start, width)
            if load8(entry) <= _LARGE_ARRAY and has_expression(load8(entry), value):
                child = value
            else:
                at = write_member(at, limit, load8(entry), value, stop)
                if at < 0:
                    return at
        if child:
            level = push_level(level, kind, start, index)
            kind, start, index = load8(entries + (index - 1) * (width + 1)), child, ZERO
            continue
        store8(at, _CLOSE)
        at += 1
        if level == levels:
            return at
        level -= _LEVEL
        kind, start, index = load64(level), load64(level + 8), load64(level + 16)


@kernel
def write_function(at: int, kind: int) -> int:
    """Write the name of the function that builds an array or object."""
    if kind <= _LARGE_OBJECT:
        store64(at, _JSON_OBJECT[0])
        store32(at + 8, _JSON_OBJECT[1])
        return at + 12
    store64(at, _JSON_ARRAY[0])
    store32(at + 8, _JSON_ARRAY[1])
    return at + 11


@kernel
def write_member(at: int, limit: int, kind: int, source: int, stop: int) -> int:
    """Write a value of an array or object that is not built itself."""
    if at > limit:
        return NO_ROOM
    if kind <= _LARGE_ARRAY:
        end = write_tree(at, limit, kind, source, stop)
    elif is_expression(kind, source):
        return write_expression(at, limit, kind, source, stop)
    else:
        end, _ = write_scalar(at, limit, kind, source, stop, stop)
    return end if end < 0 else write_cast(at, limit, end)


@kernel
def write_expression(at: int, limit: int, kind: int, source: int, stop: int) -> int:
    """Write a value that text of JSON has not."""
    if at > limit:
        return NO_ROOM
    store64(at, _CAST[0])
    at += 5
    if kind != _OPAQUE:
        number = load16(source) if kind == _UINT16 else (load32(source) if kind == _UINT32 else load64(source))
        at = write_unsigned(at, number)
        store64(at, _AS_UNSIGNED[0])
        store64(at + 8, _AS_UNSIGNED[1])
        return at + 13
    type_code = load8(source)
    length, data = read_length(source + 1, stop)
    if type_code == _NEWDECIMAL:
        return write_decimal_cast(at, limit, data, length)
    if type_code in (_DATE, _TIME, _DATETIME, _TIMESTAMP):
        return write_moment_cast(at, limit, type_code, data, length)
    at = write_hexadecimal(at, limit, data, length, ZERO, ZERO)
    if at < 0:
        return at
    store64(at, _AS_BINARY[0])
    store64(at + 8, _AS_BINARY[1])
    at += 11
    if type_code != _VARCHAR:
        store64(at, _OF_TYPE[0])
        store64(at + 8, _OF_TYPE[1])
        at = write_unsigned(at + 12, type_code)
        store64(at, _BECOMES[0])
        store64(at + 8, _BECOMES[1])
        at = write_unsigned(at + 10, _VARCHAR)
        store32(at, _END_OF_COMMENT[0])
        at += 3
    return at


@kernel
def write_decimal_cast(at: int, limit: int, data: int, length: int) -> int:
    """Write a decimal as text that is cast, from the text on."""
    store8(at, _QUOTE)
    at = write_opaque(at + 1, limit, _NEWDECIMAL, data, length)
    if at < 0:
        return at
    store64(at, _AS_DECIMAL[0])
    store64(at + 8, _AS_DECIMAL[1])
    at = write_unsigned(at + 13, min(load8(data), _MAX_PRECISION))
    store8(at, _COMMA)
    at = write_unsigned(at + 1, load8(data + 1))
    store8(at, _CLOSE)
    store8(at + 1, _CLOSE)
    return at + 2


@kernel
def write_moment_cast(at: int, limit: int, type_code: int, data: int, length: int) -> int:
    """Write a date or time as text that is cast, from the text on."""
    start = at
    at = write_opaque(at, limit, type_code, data, length)
    if at < 0:
        return at
    store8(start, _QUOTE)
    store8(at - 1, _QUOTE)
    if type_code == _DATE:
        store64(at, _AS_DATE[0])
        store64(at + 8, _AS_DATE[1])
        return at + 9
    if type_code == _TIME:
        store64(at, _AS_TIME[0])
        store64(at + 8, _AS_TIME[1])
        return at + 12
    store64(at, _AS_DATETIME[0])
    store64(at + 8, _AS_DATETIME[1])
    return at + 16
