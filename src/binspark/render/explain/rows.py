"""Row images, explained down to each value: the decoders run again, over a cursor that records what they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from binspark.errors import BinlogError, DecodeError
from binspark.event import Event, EventDecoder, FormatDescription, Query, Rows, TableMap
from binspark.event.column_types import column_type_name
from binspark.event.rows import ROWS_KINDS, RowOperation
from binspark.event.table_map import TableMaps
from binspark.frames import EventCode, Frame
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.values.as_json import value_json
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import decode_partial_update, decode_row
from binspark.values.value import Absent, Row
from binspark.wire import RecordingCursor, Span
from binspark.wire.bitmap import low_bits_first

VALUE_KIND = "value of "
"""How the kind of a field begins that is a value of a column; the name of its type follows."""

_ROWS = "rows"
_NULL_BITS = "null_bits"
_ANY_TEXT = ValueOptions(undecodable=Undecodable.BINARY)
_READ = frozenset({EventCode.FORMAT_DESCRIPTION, EventCode.QUERY, EventCode.QUERY_COMPRESSED, EventCode.TABLE_MAP})


class KnownTables:
    """The tables that the events so far have described. `history` is what is known before them."""

    def __init__(self, file: str, history: SchemaHistory | None = None) -> None:
        self._decoder = EventDecoder(file)
        self._history = history or SchemaHistory()
        self._maps: TableMaps[tuple[TableMap, Event]] = TableMaps()

    def note(self, frame: Frame) -> None:
        """Take an event that may describe a table; others, and damaged ones, are ignored."""
        if frame.type_code not in _READ:
            return
        try:
            event = self._decoder.decode(frame)
            if isinstance(event.body, TableMap):
                self._maps[event.body.table_id] = event.body, event
            elif isinstance(event.body, FormatDescription | Query):
                self._history.feed(event)
        except BinlogError:
            return

    def table_of(self, rows: Rows) -> TableSchema | None:
        """Return the table of a rows event; None if no event has described it."""
        known = self._maps.get(rows.table_id)
        if known is None:
            return None
        try:
            self._history.feed(known[1])
            return self._history.table_schema(known[0], known[1].position)
        except BinlogError:
            return None


def with_row_images(
    spans: list[Span], frame: Frame, rows: Rows, table: TableSchema | None, max_fields: int | None = None
) -> list[Span]:
    """Return the fields of a rows event with its row images divided into values.

    After `max_fields` of them, the rows that are left are one field.
    """
    if rows.compressed is not None and spans:
        return [*spans, *_decompressed(spans[-1].end, frame, rows, table, max_fields)]
    if not spans or spans[-1].name != _ROWS:
        return spans
    images = spans[-1]
    if ROWS_KINDS[frame.type_code].version == 0:
        meaning = "row images in the record format of the table, which logs of pre-releases of 5.1 do not describe"
        return [*spans[:-1], replace(images, meaning=meaning)]
    if table is None:
        unknown = replace(images, meaning=f"row images; no TABLE_MAP with id {rows.table_id} comes before them")
        return [*spans[:-1], unknown]
    try:
        return [*spans[:-1], *_some(_row_spans(images, frame.data, frame, rows, table), images, max_fields)]
    except DecodeError as error:
        return [*spans[:-1], replace(images, meaning=f"row images that cannot be decoded: {error.message}")]


def _decompressed(
    end: int, frame: Frame, rows: Rows, table: TableSchema | None, max_fields: int | None
) -> Iterator[Span]:
    """Yield the values of rows that are compressed (MariaDB). Their bytes are not in the event."""
    if table is None:
        return
    images = Span(0, len(rows.rows), _ROWS, "bytes", rows.rows, "")
    try:
        for span in islice(_row_spans(images, rows.rows, frame, rows, table), max_fields):
            where = f"bytes {span.offset} to {span.end - 1} of the decompressed rows"
            yield replace(span, offset=end, length=0, meaning=f"{span.meaning}; {where}" if span.meaning else where)
    except DecodeError as error:
        yield Span(end, 0, "rows_rest", "bytes", b"", f"row images that cannot be decoded: {error.message}")


def _some(spans: Iterator[Span], images: Span, max_fields: int | None) -> Iterator[Span]:
    """Yield some fields, and the bytes after them as one."""
    end = images.offset
    for span in islice(spans, max_fields):
        yield span
        end = span.end
    if max_fields is not None and end < images.end:
        left = images.end - end
        data = images.value[-left:] if isinstance(images.value, bytes) else None
        yield Span(end, left, "rows_rest", "bytes", data, f"{left:,} bytes of rows that are not explained here")


def _row_spans(images: Span, data: bytes, frame: Frame, rows: Rows, table: TableSchema) -> Iterator[Span]:
    """Yield the fields of row images, which are in these bytes."""
    if rows.column_count != len(table.columns):
        yield replace(images, meaning=f"row images of {rows.column_count} columns, but {table.name} has another number")
        return
    number, offset = 0, images.offset
    while offset < images.end:
        cursor = RecordingCursor(data, offset, images.end, frame.format.encoding)
        cursor.enter("row", number)
        for name, present, row in _images(cursor, rows, ROWS_KINDS[frame.type_code].partial, table):
            yield from _described(cursor.spans, f"row[{number}].{name}", present, row, table)
            cursor.spans.clear()
        if cursor.offset == offset:
            return
        number, offset = number + 1, cursor.offset


def _images(
    cursor: RecordingCursor, rows: Rows, partial: bool, table: TableSchema
) -> Iterator[tuple[str, bytes, Row | None]]:
    """Decode the images of the next row; yield each with its name and which columns it has."""
    after = rows.columns_after or b""
    if partial:
        _, changed = decode_partial_update(cursor, table.columns, (rows.columns, after), _ANY_TEXT)
        yield "", after, changed
        return
    if rows.operation is not RowOperation.INSERT:
        cursor.enter("before")
        yield "before.", rows.columns, decode_row(cursor, table.columns, rows.columns, _ANY_TEXT)
        cursor.leave()
    if rows.operation is not RowOperation.DELETE:
        present = rows.columns if rows.operation is RowOperation.INSERT else after
        cursor.enter("after")
        yield "after.", present, decode_row(cursor, table.columns, present, _ANY_TEXT)
        cursor.leave()


def _described(spans: list[Span], prefix: str, present: bytes, row: Row | None, table: TableSchema) -> Iterator[Span]:
    """Return the fields of an image with the values that they are, and which of them are NULL."""
    texts = _values(prefix, row, table)
    last = {_column_of(span.name, texts): index for index, span in enumerate(spans)}
    for index, span in enumerate(spans):
        if span.name.endswith(_NULL_BITS):
            yield replace(span, meaning=_null_meaning(span.value, present, table))
            continue
        column = _column_of(span.name, texts)
        if column is None or last[column] != index:
            yield span
            continue
        text, kind = texts[column]
        is_only = sum(_column_of(other.name, texts) == column for other in spans) == 1
        name = column if is_only else span.name
        yield replace(span, name=name, kind=f"{VALUE_KIND}{kind}", value=text, meaning=kind)


def _values(prefix: str, row: Row | None, table: TableSchema) -> dict[str, tuple[str, str]]:
    """Return the values of an image as JSON, and their types, by the names of their fields."""
    if row is None:
        return {}
    return {
        prefix + name: (value_json(value, column), column_type_name(column.type))
        for name, value, column in zip(table.column_names, row, table.columns, strict=True)
        if value is not None and not isinstance(value, Absent)
    }


def _column_of(name: str, texts: dict[str, tuple[str, str]]) -> str | None:
    if name in texts:
        return name
    parent = name.rpartition(".")[0]
    while parent and parent not in texts:
        parent = parent.rpartition(".")[0]
    return parent or None


def _null_meaning(bits: bytes, present: bytes, table: TableSchema) -> str:
    included = [
        name for name, bit in zip(table.column_names, low_bits_first(present, len(table.columns)), strict=True) if bit
    ]
    nulls = [name for name, bit in zip(included, low_bits_first(bits, len(included)), strict=True) if bit]
    return f"NULL: {', '.join(nulls)}" if nulls else "no value is NULL"
