"""Rows of PARTIAL_UPDATE_ROWS: an after image may hold the diffs of a JSON document in place of the document."""

from __future__ import annotations

from collections.abc import Sequence

from binspark.errors import DecodeError, Unsupported
from binspark.event.column_types import ColumnType
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.decoders import decode_value
from binspark.values.documents import document_text, inside_document
from binspark.values.json_binary import json_text
from binspark.values.json_diff import JsonDiff, apply_json_diffs, decode_json_diffs
from binspark.values.options import ValueOptions
from binspark.values.row_image import read_image
from binspark.values.strings import read_sized
from binspark.values.value import DocumentDiff, JsonDiffs, Row, Value
from binspark.wire import Cursor
from binspark.wire.bitmap import bitmap_length, low_bits_first

_PARTIAL_JSON_UPDATES = 1


def decode_partial_update(
    cursor: Cursor, columns: Sequence[Column], present: tuple[bytes, bytes], options: ValueOptions
) -> tuple[Row, Row]:
    """Decode the before and the after image of one row.

    bytes    field
    ...      before image
    packed   options: 1 if documents may be partial, else 0
    (j+7)/8  which of the table's j JSON columns are partial, present or not     (option 1)
    ...      after image; a partial document is a length of 4 bytes and its diffs

    Diffs are applied to the document in the before image. Where that has none, they are the value.
    """
    documents: dict[int, bytes] = {}

    def read_before(index: int, column: Column) -> Value:
        if column.type != ColumnType.JSON:
            return decode_value(cursor, column, options)
        start = cursor.offset
        documents[index] = read_sized(cursor, column)
        return document_text(documents[index], start)

    before = read_image(cursor, columns, present[0], read_before)
    partial_columns = _read_partial_columns(cursor, columns)

    def read_after(index: int, column: Column) -> Value:
        if index not in partial_columns:
            return decode_value(cursor, column, options)
        if before[index] is None:
            raise cursor.malformed("diffs of a JSON document that was NULL")
        return _read_diffs(cursor, column, documents.get(index))

    return before, read_image(cursor, columns, present[1], read_after)


def _read_partial_columns(cursor: Cursor, columns: Sequence[Column]) -> frozenset[int]:
    start = cursor.offset
    value_options = cursor.packed("value_options")
    if value_options & ~_PARTIAL_JSON_UPDATES:
        raise Unsupported(f"value options 0x{value_options:x}", Position(offset=start))
    if not value_options:
        return frozenset()
    json_columns = [index for index, column in enumerate(columns) if column.type == ColumnType.JSON]
    bitmap = cursor.raw("partial_bits", bitmap_length(len(json_columns)))
    bits = low_bits_first(bitmap, len(json_columns))
    return frozenset(index for index, bit in zip(json_columns, bits, strict=True) if bit)


def _read_diffs(cursor: Cursor, column: Column, before_document: bytes | None) -> Value:
    start = cursor.offset
    vector = read_sized(cursor, column)
    try:
        if before_document is None:
            return JsonDiffs(tuple(_document_diff(diff) for diff in decode_json_diffs(vector)))
        return apply_json_diffs(before_document, vector)
    except DecodeError as error:
        raise inside_document(error, start) from None


def _document_diff(diff: JsonDiff) -> DocumentDiff:
    return DocumentDiff(diff.operation.name.lower(), diff.path, None if diff.value is None else json_text(diff.value))
