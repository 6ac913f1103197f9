"""The rows of a rows event: row images, partial updates, changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from binspark.errors import BinlogError, DecodeError, SchemaError, Unsupported
from binspark.event.column_types import ColumnType
from binspark.event.event import Event
from binspark.event.rows import ROWS_KINDS, RowOperation, Rows, RowsKind
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.decoders import decode_value
from binspark.values.json.binary import json_text
from binspark.values.json.column import document_text, inside_document
from binspark.values.json.diff import JsonDiff, apply_json_diffs, decode_json_diffs
from binspark.values.options import DEFAULT_OPTIONS, ValueOptions
from binspark.values.strings import read_sized
from binspark.values.value import ABSENT, Absent, BinaryDiffs, DocumentDiff, JsonDiffs, PartialRow, Row, Value
from binspark.wire import Cursor
from binspark.wire.bitmap import bitmap_length, low_bits_first


def decode_row(
    cursor: Cursor, columns: Sequence[Column], present: bytes, options: ValueOptions = DEFAULT_OPTIONS
) -> Row:
    """Decode one row image; a column that is not in it is ABSENT.

    `present` has a bit for each column of the table, the lowest of each byte first.
    """
    return read_image(cursor, columns, present, lambda _, column: decode_value(cursor, column, options))


def read_image(
    cursor: Cursor, columns: Sequence[Column], present: bytes, read_value: Callable[[int, Column], Value]
) -> Row:
    """Read a row image. `read_value` reads a value, given the index of its column and the column.

    bytes    field
    (p+7)/8  which of the p columns in the image are NULL, the lowest bit of each byte first
    ...      values of the columns in the image that are not NULL
    """
    included = [index for index, bit in enumerate(low_bits_first(present, len(columns))) if bit]
    nulls = low_bits_first(cursor.raw("null_bits", bitmap_length(len(included))), len(included))
    row: list[Value | Absent] = [ABSENT] * len(columns)
    for index, is_null in zip(included, nulls, strict=True):
        cursor.enter(columns[index].name or f"@{index + 1}")
        row[index] = None if is_null else read_value(index, columns[index])
        cursor.leave()
    return tuple(row) if len(included) == len(columns) else PartialRow(row)


_PARTIAL_JSON_UPDATES = 1


def decode_partial_update(
    cursor: Cursor, columns: Sequence[Column], present: tuple[bytes, bytes], options: ValueOptions
) -> tuple[Row, Row]:
    """Decode the before and the after image of one row.

    bytes    field
    ...      before image
    packed   options: 1 if documents may be partial, else 0
    (j+7)/8  which of the table's j JSON columns are partial, in the image or not     (option 1)
    ...      after image; a partial document is a length of 4 bytes and its diffs

    Diffs are applied to the document in the before image. If the document is not in it, the diffs are the value.
    """
    documents: dict[int, bytes] = {}

    def read_before(index: int, column: Column) -> Value:
        if column.type != ColumnType.JSON:
            return decode_value(cursor, column, options)
        start = cursor.offset
        documents[index] = read_sized(cursor, column)
        return documents[index] if options.raw_documents else document_text(documents[index], start)

    before = read_image(cursor, columns, present[0], read_before)
    partial_columns = _read_partial_columns(cursor, columns)

    def read_after(index: int, column: Column) -> Value:
        if index not in partial_columns:
            return decode_value(cursor, column, options)
        if before[index] is None:
            raise cursor.malformed("partial update of a JSON document that is NULL in the before image")
        return _read_diffs(cursor, column, documents.get(index), options)

    return before, read_image(cursor, columns, present[1], read_after)


def _read_partial_columns(cursor: Cursor, columns: Sequence[Column]) -> frozenset[int]:
    start = cursor.offset
    value_options = cursor.packed("value_options")
    if value_options & ~_PARTIAL_JSON_UPDATES:
        raise Unsupported(
            f"unsupported value options 0x{value_options:x}, expected 0 or 1 (PARTIAL_JSON)", Position(offset=start)
        )
    if not value_options:
        return frozenset()
    json_columns = [index for index, column in enumerate(columns) if column.type == ColumnType.JSON]
    bitmap = cursor.raw("partial_bits", bitmap_length(len(json_columns)))
    bits = low_bits_first(bitmap, len(json_columns))
    return frozenset(index for index, bit in zip(json_columns, bits, strict=True) if bit)


def _read_diffs(cursor: Cursor, column: Column, before_document: bytes | None, options: ValueOptions) -> Value:
    start = cursor.offset
    vector = read_sized(cursor, column)
    try:
        if options.raw_documents:
            return BinaryDiffs(tuple(decode_json_diffs(vector)))
        if before_document is None:
            return JsonDiffs(tuple(_document_diff(diff) for diff in decode_json_diffs(vector)))
        return apply_json_diffs(before_document, vector)
    except DecodeError as error:
        raise inside_document(error, start) from None


def _document_diff(diff: JsonDiff) -> DocumentDiff:
    return DocumentDiff(diff.operation.name.lower(), diff.path, None if diff.value is None else json_text(diff.value))


_WIDTH_NOT_IN_LOG = frozenset((ColumnType.TIME, ColumnType.DATETIME, ColumnType.TIMESTAMP))


class RowChange(NamedTuple):
    """The change of one row: an insert has no before image, a delete no after image, a truncation neither."""

    before: Row | None
    after: Row | None


def rows_of(event: Event, columns: Sequence[Column], options: ValueOptions = DEFAULT_OPTIONS) -> Iterator[RowChange]:
    """Decode the rows of a rows event whose table has these columns. An error has the row and the byte in the rows."""
    rows: Rows = event.body
    kind = ROWS_KINDS[event.type_code]
    _check(rows, kind, columns, event)
    cursor = Cursor(rows.rows)
    number = 0
    while cursor.remaining:
        start = cursor.offset
        try:
            change = decode_change(cursor, rows, kind, columns, options)
            if cursor.offset == start:
                raise cursor.malformed("rows event without columns")
        except BinlogError as error:
            at = f", at byte {error.position.offset} of the rows, in row {number}"
            raise type(error)(error.message + at + _width_hint(columns), event.position) from error
        yield change
        number += 1


def decode_change(
    cursor: Cursor, rows: Rows, kind: RowsKind, columns: Sequence[Column], options: ValueOptions
) -> RowChange:
    """Decode the next row of a rows event: its image, or both images of an update."""
    if kind.operation is RowOperation.INSERT:
        return RowChange(None, decode_row(cursor, columns, rows.columns, options))
    if kind.operation is RowOperation.DELETE:
        return RowChange(decode_row(cursor, columns, rows.columns, options), None)
    after_columns = rows.columns_after or b""
    if kind.partial:
        return RowChange(*decode_partial_update(cursor, columns, (rows.columns, after_columns), options))
    before = decode_row(cursor, columns, rows.columns, options)
    return RowChange(before, decode_row(cursor, columns, after_columns, options))


def unsupported_rows(event: Event) -> Unsupported:
    """Return the error for rows of a pre-release of 5.1."""
    return Unsupported(
        "rows of a pre-release of 5.1 are not supported: their NULL bits are in the record format of the table, "
        "which the log does not describe",
        event.position,
    )


def _check(rows: Rows, kind: RowsKind, columns: Sequence[Column], event: Event) -> None:
    if kind.version == 0:
        raise unsupported_rows(event)
    if rows.column_count != len(columns):
        raise SchemaError(f"rows have {rows.column_count} columns, but the table has {len(columns)}", event.position)


def _width_hint(columns: Sequence[Column]) -> str:
    """Return a hint for columns whose width is not in the log: a wrong width shifts all values after it."""
    names = [
        column.name or f"@{number}"
        for number, column in enumerate(columns, 1)
        if column.type in _WIDTH_NOT_IN_LOG and not column.scale
    ]
    if not names:
        return ""
    return f" (MariaDB may have stored {', '.join(names)} with fractional seconds: a table schema is needed)"
