"""Rows of Arrow arrays as VARIANT: an object for each row, or the one document in it.

Writers of values take a column, a row, where to write and the limit of that.
"""

from __future__ import annotations

from collections.abc import Callable

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import (
    call_writer,
    get,
    load8s,
    load16s,
    load32,
    load32s,
    load64,
    move_bytes,
    put,
    store8,
    store32,
    store64,
    store_unsigned,
    unsigned_width,
)
from binspark.kernels.objects.layout import (
    Field,
    Outcome,
    Rows,
    Source,
    Work,
    has_object,
    has_value,
    image_of,
    is_present,
)
from binspark.kernels.printing.temporal import write_time
from binspark.kernels.text import is_utf8
from binspark.kernels.variant.encoding import (
    DATE,
    DATETIME,
    DOUBLE,
    FLOAT,
    NULL,
    TIMESTAMP,
    begin_container,
    entry_of,
    header_size,
    string_size,
    write_binary,
    write_decimal,
    write_half_word,
    write_header,
    write_integer,
    write_string,
    write_string_header,
    write_word,
)
from binspark.kernels.words import ZERO

_FIELD = 8 * int(Field.WIDTH)
_DONE, _NO_ROOM = int(Outcome.DONE), int(Outcome.NO_ROOM)
_ONE = ZERO + 1
_MAX_CHARACTER_BYTES = ZERO + 4
_FLOAT_SIZE = 5
_SMALL_PARTS = 16  # bytes of a geometry, besides its WKB and the header of that


@kernel
def write_variant_rows(rows: int) -> int:
    """Write an object for each row from the next one on; return why it stopped."""
    for row in range(get(rows, Rows.ROW), get(rows, Rows.ROWS)):
        at = get(rows, Rows.AT)
        if has_object(rows, row):
            at = write_object(rows, row, at)
            if at < 0:
                return at
        outcome = end_row(rows, row, at)
        if outcome < 0:
            return outcome
    return _DONE


@kernel
def write_documents(rows: int) -> int:
    """Write the document of each row from the next one on; return why it stopped."""
    field, limit = get(rows, Rows.FIELDS), get(rows, Rows.LIMIT)
    for row in range(get(rows, Rows.ROW), get(rows, Rows.ROWS)):
        at = get(rows, Rows.AT)
        if has_value(field, row):
            at = call_writer(get(field, Field.WRITER), field, row, at, limit)
            if at < 0:
                return at
        outcome = end_row(rows, row, at)
        if outcome < 0:
            return outcome
    return _DONE


@kernel
def end_row(rows: int, row: int, at: int) -> int:
    """Note where a row ends, and let its dictionary be written if it has one of its own."""
    work = get(rows, Rows.WORKSPACE)
    if work:
        outcome = call_writer(get(work, Work.DICTIONARY_WRITER), rows, row, at - get(rows, Rows.AT), work)
        if outcome < 0:
            return outcome
    store32(get(rows, Rows.OFFSETS) + 4 * (row + 1), at - get(rows, Rows.START))
    put(rows, Rows.AT, at)
    put(rows, Rows.ROW, row + 1)
    return _DONE


@kernel
def write_object(rows: int, row: int, start: int) -> int:
    """Write a row as an object. Its columns come in the order of their names, so their numbers are those of the keys.

    Room for offsets of one byte is left before the values; if offsets need more, the values move.
    """
    limit = get(rows, Rows.LIMIT)
    if start > limit:
        return _NO_ROOM
    field, entries, key_bytes = get(rows, Rows.FIELDS), get(rows, Rows.ENTRIES), get(rows, Rows.KEY_BYTES)
    image = image_of(rows, row)
    values = start + header_size(get(rows, Rows.FIELD_COUNT), key_bytes, _ONE)
    at, count = values, ZERO
    for index in range(get(rows, Rows.FIELD_COUNT)):
        if is_present(image, index):
            store64(entries + 8 * count, entry_of(index, at - values))
            count += 1
            if has_value(field, row):
                at = call_writer(get(field, Field.WRITER), field, row, at, limit)
                if at < 0:
                    return at
            else:
                store8(at, NULL)
                at += 1
        field += _FIELD
    size = at - values
    offset_bytes = unsigned_width(size)
    header = header_size(count, key_bytes, offset_bytes)
    if start + header != values:
        move_bytes(start + header, values, size)
    write_header(start, entries, count, size, key_bytes, offset_bytes)
    return start + header + size


def write_int8(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of one byte."""
    return write_integer(at, load8s(get(field, Field.VALUES) + row))


def write_int16(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of two bytes."""
    return write_integer(at, load16s(get(field, Field.VALUES) + 2 * row))


def write_int32(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of four bytes."""
    return write_integer(at, load32s(get(field, Field.VALUES) + 4 * row))


def write_int64(field: int, row: int, at: int, _limit: int) -> int:
    """Write an integer of eight bytes."""
    return write_integer(at, load64(get(field, Field.VALUES) + 8 * row))


def write_unsigned(field: int, row: int, at: int, _limit: int) -> int:
    """Write an unsigned word: an integer where it is one for VARIANT, else a decimal."""
    word = load64(get(field, Field.VALUES) + 16 * row)
    return write_integer(at, word) if word >= 0 else write_decimal(at, word, ZERO, ZERO)


def write_exact(field: int, row: int, at: int, _limit: int) -> int:
    """Write a decimal with its column's scale."""
    value = get(field, Field.VALUES) + 16 * row
    return write_decimal(at, load64(value), load64(value + 8), get(field, Field.DIGITS))


def write_float(field: int, row: int, at: int, _limit: int) -> int:
    """Write a float of four bytes."""
    return write_half_word(at, FLOAT, load32(get(field, Field.VALUES) + 4 * row))


def write_double(field: int, row: int, at: int, _limit: int) -> int:
    """Write a float of eight bytes."""
    return write_word(at, DOUBLE, load64(get(field, Field.VALUES) + 8 * row))


def write_date(field: int, row: int, at: int, _limit: int) -> int:
    """Write a date."""
    return write_half_word(at, DATE, load32(get(field, Field.VALUES) + 4 * row))


def write_datetime(field: int, row: int, at: int, _limit: int) -> int:
    """Write a date and time of day."""
    return write_word(at, DATETIME, load64(get(field, Field.VALUES) + 8 * row))


def write_timestamp(field: int, row: int, at: int, _limit: int) -> int:
    """Write a point in time."""
    return write_word(at, TIMESTAMP, load64(get(field, Field.VALUES) + 8 * row))


def write_span(field: int, row: int, at: int, _limit: int) -> int:
    """Write a TIME as text."""
    end = write_time(at + 1, load64(get(field, Field.VALUES) + 8 * row), get(field, Field.DIGITS))
    write_string_header(at, end - at - 1)
    return end


def write_text(field: int, row: int, at: int, limit: int) -> int:
    """Write text."""
    offset = get(field, Field.OFFSETS) + 4 * row
    start, end = load32(offset), load32(offset + 4)
    return _NO_ROOM if at + end - start > limit else write_string(at, get(field, Field.DATA) + start, end - start)


def write_bytes(field: int, row: int, at: int, limit: int) -> int:
    """Write bytes."""
    offset = get(field, Field.OFFSETS) + 4 * row
    start, end = load32(offset), load32(offset + 4)
    return _NO_ROOM if at + end - start > limit else write_binary(at, get(field, Field.DATA) + start, end - start)


def write_text_or_bytes(field: int, row: int, at: int, limit: int) -> int:
    """Write bytes as text where they can be."""
    offset = get(field, Field.OFFSETS) + 4 * row
    data, length = get(field, Field.DATA) + load32(offset), load32(offset + 4) - load32(offset)
    if at + length > limit:
        return _NO_ROOM
    is_text = is_utf8(data, length, _MAX_CHARACTER_BYTES)
    return write_string(at, data, length) if is_text else write_binary(at, data, length)


def write_document(field: int, row: int, at: int, _limit: int) -> int:
    """Write a document, whose keys the dictionary of the row gets."""
    offset, work = get(field, Field.OFFSETS) + 4 * row, get(field, Field.WORKSPACE)
    start, end = load32(offset), load32(offset + 4)
    return call_writer(get(work, Work.DOCUMENT_WRITER), work, at, get(field, Field.DATA) + start, end - start)


def write_texts(field: int, row: int, at: int, limit: int) -> int:
    """Write texts as an array."""
    offset, texts, offsets = get(field, Field.OFFSETS) + 4 * row, get(field, Field.DATA), get(field, Field.ITEM_OFFSETS)
    first, last = load32(offset), load32(offset + 4)
    size = ZERO
    for item in range(first, last):
        size += string_size(load32(offsets + 4 * item + 4) - load32(offsets + 4 * item))
    offset_bytes = unsigned_width(size)
    header = header_size(last - first, ZERO, offset_bytes)
    if at + header + size > limit:
        return _NO_ROOM
    offsets_at = begin_container(at, last - first, ZERO, offset_bytes)
    at += header
    end = at
    for item in range(first, last):
        store_unsigned(offsets_at, end - at, offset_bytes)
        offsets_at += offset_bytes
        start = load32(offsets + 4 * item)
        end = write_string(end, texts + start, load32(offsets + 4 * item + 4) - start)
    store_unsigned(offsets_at, size, offset_bytes)
    return end


def write_floats(field: int, row: int, at: int, limit: int) -> int:
    """Write floats as an array."""
    offset, floats = get(field, Field.OFFSETS) + 4 * row, get(field, Field.DATA)
    first, last = load32(offset), load32(offset + 4)
    size = _FLOAT_SIZE * (last - first)
    offset_bytes = unsigned_width(size)
    header = header_size(last - first, ZERO, offset_bytes)
    if at + header + size > limit:
        return _NO_ROOM
    offsets_at = begin_container(at, last - first, ZERO, offset_bytes)
    start = at + header
    end = start
    for item in range(first, last):
        store_unsigned(offsets_at, end - start, offset_bytes)
        offsets_at += offset_bytes
        store8(end, FLOAT)
        store32(end + 1, load32(floats + 4 * item))
        end += _FLOAT_SIZE
    store_unsigned(offsets_at, size, offset_bytes)
    return end


def write_geometry(field: int, row: int, at: int, limit: int) -> int:
    """Write a geometry as an object of a number and bytes."""
    offset = get(field, Field.OFFSETS) + 4 * row
    length = load32(offset + 4) - load32(offset)
    if at + length > limit:
        return _NO_ROOM
    key_bytes, offset_bytes = get(field, Field.KEY_BYTES), unsigned_width(length + _SMALL_PARTS)
    count = ZERO + 2
    start = at + header_size(count, key_bytes, offset_bytes)
    middle = write_integer(start, load32(get(field, Field.VALUES) + 4 * row))
    end = write_binary(middle, get(field, Field.DATA) + load32(offset), length)
    at = begin_container(at, count, key_bytes, offset_bytes)
    store_unsigned(at, get(field, Field.SRID_KEY), key_bytes)
    store_unsigned(at + key_bytes, get(field, Field.WKB_KEY), key_bytes)
    at += 2 * key_bytes
    store_unsigned(at, ZERO, offset_bytes)
    store_unsigned(at + offset_bytes, middle - start, offset_bytes)
    store_unsigned(at + 2 * offset_bytes, end - start, offset_bytes)
    return end


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
    Source.TIMESTAMP: write_timestamp,
    Source.TIME: write_span,
    Source.TEXT: write_text,
    Source.BINARY: write_bytes,
    Source.TEXT_OR_BINARY: write_text_or_bytes,
    Source.DOCUMENT: write_document,
    Source.TEXTS: write_texts,
    Source.FLOATS: write_floats,
    Source.GEOMETRY: write_geometry,
}
