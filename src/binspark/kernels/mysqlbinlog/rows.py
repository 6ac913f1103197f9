"""The rows of an event as comments."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import call_writer, get, load8, load16, load32, load_packed, store32, store64
from binspark.kernels.mysqlbinlog.layout import COLUMN_FIELDS, ColumnField, Op, TableField
from binspark.kernels.mysqlbinlog.values import write_quoted, write_value
from binspark.kernels.text import copy_short
from binspark.kernels.words import ZERO

_ROOM = 400
_EXPANSION = 4
_COLUMN_BYTES = 8 * COLUMN_FIELDS

_UPDATE, _DELETE = 31, 32
_QUOTE = ord('"')
_SET_LINE = int.from_bytes(b"### SET\n", "little")
_NULL = int.from_bytes(b"NULL", "little")


@kernel
def write_rows(at: int, limit: int, event: int, end: int, kind: int, table: int, json_writer: int) -> int:
    """Write the rows of a rows event, from its post-header on; return the address after them, REFUSED or NO_ROOM."""
    source = event + 8
    extra = load16(source)
    if extra != 2:
        return REFUSED
    count, source = load_packed(source + 2, end)
    if count != get(table, TableField.COLUMN_COUNT) or not get(table, TableField.IS_PRINTABLE):
        return REFUSED
    size = (count + 7) >> 3
    present = source
    after = present + size if kind == _UPDATE else present
    source = after + size
    if source >= end:
        return REFUSED
    heading = TableField.INSERT
    if kind == _UPDATE:
        heading = TableField.UPDATE
    elif kind == _DELETE:
        heading = TableField.DELETE
    title, title_length = get(table, heading), get(table, heading + 1)
    columns = get(table, TableField.COLUMNS)
    while source < end:
        if at + title_length + _ROOM > limit:
            return NO_ROOM
        copy_short(at, title, title_length)
        at, source = write_image(at + title_length, limit, source, end, present, columns, count, json_writer)
        if at < 0:
            return at
        if kind == _UPDATE:
            store64(at, _SET_LINE)
            at, source = write_image(at + 8, limit, source, end, after, columns, count, json_writer)
            if at < 0:
                return at
    return at


@kernel
def write_image(
    at: int, limit: int, source: int, end: int, present: int, columns: int, count: int, json_writer: int
) -> tuple[int, int]:
    """Write the columns of a row image; return the addresses after the text (or why there is none) and the image."""
    in_image = ZERO
    for index in range(count):
        in_image += load8(present + (index >> 3)) >> (index & 7) & 1
    nulls = source
    source += (in_image + 7) >> 3
    if source > end or in_image == 0:
        return REFUSED, source
    number = ZERO
    for index in range(count):
        if not load8(present + (index >> 3)) >> (index & 7) & 1:
            continue
        column = columns + index * _COLUMN_BYTES
        prefix_length, suffix_length = get(column, ColumnField.PREFIX_LENGTH), get(column, ColumnField.SUFFIX_LENGTH)
        if at + prefix_length + suffix_length + _ROOM > limit:
            return NO_ROOM, source
        copy_short(at, get(column, ColumnField.PREFIX), prefix_length)
        at += prefix_length
        is_null = load8(nulls + (number >> 3)) >> (number & 7) & 1
        number += 1
        suffix = get(column, ColumnField.SUFFIX)
        if is_null:
            store32(at, _NULL)
            at += 4
            suffix = get(column, ColumnField.NULL_SUFFIX)
        else:
            at, source = write_column(at, limit - suffix_length - _ROOM, source, end, column, json_writer)
            if at < 0:
                return at, source
        copy_short(at, suffix, suffix_length)
        at += suffix_length
    return at, source


@kernel
def write_column(at: int, limit: int, source: int, end: int, column: int, json_writer: int) -> tuple[int, int]:
    """Write a value that is not NULL; return the addresses after its text and its bytes."""
    op, length = get(column, ColumnField.OP), get(column, ColumnField.SIZE)
    length_bytes = get(column, ColumnField.LENGTH_BYTES)
    if length_bytes:
        if source + length_bytes > end:
            return REFUSED, source
        if length_bytes == 1:
            length = load8(source)
        elif length_bytes == 2:
            length = load16(source)
        elif length_bytes == 3:
            length = load16(source) | load8(source + 2) << 16
        else:
            length = load32(source)
        source += length_bytes
    if source + length > end:
        return REFUSED, source
    if at + _EXPANSION * length > limit:
        return NO_ROOM, source
    if op == Op.JSON:
        return write_document(at, limit, source, length, json_writer), source + length
    return write_value(at, op, get(column, ColumnField.PARAMETER), source, length), source + length


@kernel
def write_document(at: int, limit: int, source: int, length: int, json_writer: int) -> int:
    """Write a JSON document in quotes. Its text is written after the room that it takes with all escapes."""
    room = (limit - at) // 6
    text = at + 5 * room
    written = call_writer(json_writer, text, room, source, length)
    if written == NO_ROOM:
        return NO_ROOM
    if written == REFUSED or load8(text) == _QUOTE:
        return REFUSED
    return write_quoted(at, text, written)
