"""Rows of Arrow arrays as JSON text, one object a row, as `values.as_json` writes them.

Writers of values take a column, a row, where to write and the limit of that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.json.strings import QUOTE, write_quoted
from binspark.kernels.memory import (
    call_writer,
    copy_bytes,
    get,
    load8,
    load8s,
    load16s,
    load32,
    load32s,
    load64,
    put,
    store8,
    store16,
    store32,
    store64,
)
from binspark.kernels.objects.layout import Field, Outcome, Rows, Source, has_object, has_value, image_of, is_present
from binspark.kernels.printing.digits import write_signed
from binspark.kernels.printing.digits import write_unsigned as write_word
from binspark.kernels.printing.numbers import write_decimal_digits, write_double_digits, write_single_digits
from binspark.kernels.printing.temporal import write_date_text, write_datetime_text, write_time, write_zone
from binspark.kernels.text import copy_short, is_utf8
from binspark.kernels.words import ZERO

_FIELD = 8 * int(Field.WIDTH)
_DONE, _NO_ROOM = int(Outcome.DONE), int(Outcome.NO_ROOM)
_MAX_CHARACTER_BYTES = ZERO + 4
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY, _SPACE = (ord(character) for character in "{}[] ")
_NULL, _COMMA, _ZERO_X = (int.from_bytes(text, "little") for text in (b"null", b", ", b'"0x'))
_SRID, _WKB = (int.from_bytes(text, "little") for text in (b'{"srid":', b', "wkb":'))
_HEXADECIMAL = np.array([int.from_bytes(b"%02x" % byte, "little") for byte in range(256)], dtype=np.int64)


@kernel
def write_json_rows(rows: int) -> int:
    """Write an object for each row from the next one on; return why it stopped."""
    for row in range(get(rows, Rows.ROW), get(rows, Rows.ROWS)):
        at = get(rows, Rows.AT)
        if has_object(rows, row):
            at = write_object(rows, row, at)
            if at < 0:
                return at
        put(rows, Rows.AT, at)
        put(rows, Rows.ROW, row + 1)
        store32(get(rows, Rows.OFFSETS) + 4 * (row + 1), at - get(rows, Rows.START))
    return _DONE


@kernel
def write_object(rows: int, row: int, at: int) -> int:
    """Write a row as an object, its columns in their order."""
    limit = get(rows, Rows.LIMIT)
    if at > limit:
        return _NO_ROOM
    return write_members(at, limit, get(rows, Rows.FIELDS), get(rows, Rows.FIELD_COUNT), image_of(rows, row), row)


@kernel
def write_members(at: int, limit: int, field: int, count: int, image: int, row: int) -> int:
    """Write an object of `count` columns from `field` on, as far as they are in the image."""
    store8(at, _OPEN_OBJECT)
    at += 1
    is_first = True
    for index in range(count):
        if is_present(image, index):
            name_length = get(field, Field.NAME_LENGTH)
            if at + name_length > limit:
                return _NO_ROOM
            if not is_first:
                store16(at, _COMMA)
                at += 2
            is_first = False
            copy_short(at, get(field, Field.NAME), name_length)
            at += name_length
            if has_value(field, row):
                at = call_writer(get(field, Field.WRITER), field, row, at, limit)
                if at < 0:
                    return at
            else:
                store32(at, _NULL)
                at += 4
        field += _FIELD
    store8(at, _CLOSE_OBJECT)
    return at + 1


def write_int8(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of one byte."""
    return write_signed(at, load8s(get(field, Field.VALUES) + row))


def write_int16(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of two bytes."""
    return write_signed(at, load16s(get(field, Field.VALUES) + 2 * row))


def write_int32(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of four bytes."""
    return write_signed(at, load32s(get(field, Field.VALUES) + 4 * row))


def write_int64(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of eight bytes."""
    return write_signed(at, load64(get(field, Field.VALUES) + 8 * row))


def write_unsigned(field: int, row: int, at: int, _limit: int) -> int:
    """Write an unsigned integer of eight bytes."""
    return write_word(at, load64(get(field, Field.VALUES) + 16 * row))


def write_float(field: int, row: int, at: int, _limit: int) -> int:
    """Write a float of four bytes."""
    return write_single_digits(at, load32(get(field, Field.VALUES) + 4 * row))


def write_double(field: int, row: int, at: int, _limit: int) -> int:
    """Write a float of eight bytes."""
    return write_double_digits(at, load64(get(field, Field.VALUES) + 8 * row))


def write_exact(field: int, row: int, at: int, _limit: int) -> int:
    """Write a decimal, in quotes as all that JSON has no notation for."""
    value = get(field, Field.VALUES) + 16 * row
    store8(at, QUOTE)
    at = write_decimal_digits(at + 1, load64(value), load64(value + 8), get(field, Field.DIGITS))
    store8(at, QUOTE)
    return at + 1


def write_date(field: int, row: int, at: int, _limit: int) -> int:
    """Write a date in quotes."""
    store8(at, QUOTE)
    at = write_date_text(at + 1, load32s(get(field, Field.VALUES) + 4 * row))
    store8(at, QUOTE)
    return at + 1


def write_datetime(field: int, row: int, at: int, _limit: int) -> int:
    """Write a date and time of day in quotes."""
    store8(at, QUOTE)
    at = write_datetime_text(at + 1, load64(get(field, Field.VALUES) + 8 * row), get(field, Field.DIGITS))
    store8(at, QUOTE)
    return at + 1


def write_moment(field: int, row: int, at: int, _limit: int) -> int:
    """Write a point in time in quotes, with its zone."""
    store8(at, QUOTE)
    at = write_datetime_text(at + 1, load64(get(field, Field.VALUES) + 8 * row), get(field, Field.DIGITS))
    at = write_zone(at)
    store8(at, QUOTE)
    return at + 1


def write_span(field: int, row: int, at: int, _limit: int) -> int:
    """Write a TIME."""
    store8(at, QUOTE)
    at = write_time(at + 1, load64(get(field, Field.VALUES) + 8 * row), get(field, Field.DIGITS))
    store8(at, QUOTE)
    return at + 1


def write_text(field: int, row: int, at: int, limit: int) -> int:
    """Write text as a string."""
    offset = get(field, Field.OFFSETS) + 4 * row
    start, end = load32(offset), load32(offset + 4)
    return write_quoted(at, limit, get(field, Field.DATA) + start, end - start)


def write_bytes(field: int, row: int, at: int, limit: int) -> int:
    """Write bytes in hexadecimal."""
    offset = get(field, Field.OFFSETS) + 4 * row
    start, end = load32(offset), load32(offset + 4)
    return write_hexadecimal(get(field, Field.DATA) + start, end - start, at, limit)


def write_text_or_bytes(field: int, row: int, at: int, limit: int) -> int:
    """Write bytes as text where they can be."""
    offset = get(field, Field.OFFSETS) + 4 * row
    data, length = get(field, Field.DATA) + load32(offset), load32(offset + 4) - load32(offset)
    if is_utf8(data, length, _MAX_CHARACTER_BYTES):
        return write_quoted(at, limit, data, length)
    return write_hexadecimal(data, length, at, limit)


def write_document(field: int, row: int, at: int, limit: int) -> int:
    """Write a document as it is."""
    offset = get(field, Field.OFFSETS) + 4 * row
    start, end = load32(offset), load32(offset + 4)
    if at + end - start > limit:
        return _NO_ROOM
    copy_bytes(at, get(field, Field.DATA) + start, end - start)
    return at + end - start


def write_texts(field: int, row: int, at: int, limit: int) -> int:
    """Write texts as an array."""
    offset, texts, offsets = get(field, Field.OFFSETS) + 4 * row, get(field, Field.DATA), get(field, Field.ITEM_OFFSETS)
    first, last = load32(offset), load32(offset + 4)
    store8(at, _OPEN_ARRAY)
    at += 1
    for item in range(first, last):
        if item > first:
            store16(at, _COMMA)
            at += 2
        start = load32(offsets + 4 * item)
        at = write_quoted(at, limit, texts + start, load32(offsets + 4 * item + 4) - start)
        if at < 0:
            return at
    store8(at, _CLOSE_ARRAY)
    return at + 1


def write_floats(field: int, row: int, at: int, limit: int) -> int:
    """Write floats as an array."""
    offset, floats = get(field, Field.OFFSETS) + 4 * row, get(field, Field.DATA)
    first, last = load32(offset), load32(offset + 4)
    store8(at, _OPEN_ARRAY)
    at += 1
    for item in range(first, last):
        if at > limit:
            return _NO_ROOM
        if item > first:
            store16(at, _COMMA)
            at += 2
        at = write_single_digits(at, load32(floats + 4 * item))
    store8(at, _CLOSE_ARRAY)
    return at + 1


def write_geometry(field: int, row: int, at: int, limit: int) -> int:
    """Write a geometry as an object of a number and bytes."""
    offset = get(field, Field.OFFSETS) + 4 * row
    start, end = load32(offset), load32(offset + 4)
    store64(at, _SRID)
    store8(at + 8, _SPACE)
    at = write_word(at + 9, load32(get(field, Field.VALUES) + 4 * row))
    store64(at, _WKB)
    store8(at + 8, _SPACE)
    at = write_hexadecimal(get(field, Field.DATA) + start, end - start, at + 9, limit)
    if at < 0:
        return at
    store8(at, _CLOSE_OBJECT)
    return at + 1


@kernel
def write_hexadecimal(data: int, length: int, at: int, limit: int) -> int:
    """Write bytes as "0x..."."""
    if at + 2 * length > limit:
        return _NO_ROOM
    store32(at, _ZERO_X)
    at += 3
    for index in range(length):
        store16(at, _HEXADECIMAL[load8(data + index)])
        at += 2
    store8(at, QUOTE)
    return at + 1


WRITERS: dict[Source, Callable[[int, int, int, int], int]] = {
    Source.INT8: write_int8,
    Source.INT16: write_int16,
    Source.INT32: write_int32,
    Source.INT64: write_int64,
    Source.UNSIGNED: write_unsigned,
    Source.DECIMAL: write_exact,
    Source.FLOAT: write_float,
    Source.DOUBLE: write_double,
    Source.DATE: write_date,
    Source.DATETIME: write_datetime,
    Source.TIMESTAMP: write_moment,
    Source.TIME: write_span,
    Source.TEXT: write_text,
    Source.BINARY: write_bytes,
    Source.TEXT_OR_BINARY: write_text_or_bytes,
    Source.DOCUMENT: write_document,
    Source.TEXTS: write_texts,
    Source.FLOATS: write_floats,
    Source.GEOMETRY: write_geometry,
}
