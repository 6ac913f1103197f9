"""Rows as commented SQL: `### INSERT INTO`, `### SET`, `###   @1=…`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from binspark.dump.mysql.json_diffs import print_diffs
from binspark.dump.mysql.row_values import ColumnPrinter, column_printer
from binspark.dump.mysql.statements import quoted_identifier
from binspark.errors import DecodeError
from binspark.event import RowOperation
from binspark.event.column_types import ColumnType
from binspark.event.rows import NdbInfo, PartitionInfo
from binspark.event.table_metadata import MetadataKind
from binspark.wire import Cursor
from binspark.wire.bitmap import bitmap_length, low_bits_first

if TYPE_CHECKING:
    from binspark.event import Rows, TableMap

_COMMANDS = {
    RowOperation.INSERT: (b"INSERT INTO", b"### SET\n", b""),
    RowOperation.DELETE: (b"DELETE FROM", b"### WHERE\n", b""),
    RowOperation.UPDATE: (b"UPDATE", b"### WHERE\n", b"### SET\n"),
}
_PARTIAL_JSON = 1
_LEFT = (
    b"***Corrupted replication event was detected: %b there are only %d bytes left of the event. "
    b"Not printing the value***\n"
)


class _EndOfRow(Exception):
    """The rest of the rows event cannot be printed; the message is part of the text."""

    def __init__(self, message: bytes) -> None:
        super().__init__()
        self.message = message


class RowComments:
    """Prints the rows of one table.

    with_types   whether the types of columns are printed, too
    """

    def __init__(self, table: TableMap, encoding: str, *, with_types: bool) -> None:
        names = (table.schema.encode(encoding), table.table.encode(encoding))
        self._name = b".".join(map(quoted_identifier, names))
        self._plain_name = b"`%b`.`%b`" % names
        self._with_types = with_types
        self._columns = table_printers(table)
        self._nullable = table.nullable
        self._json_count = sum(column.is_json for column in self._columns)

    def print(self, rows: Rows, *, is_partial: bool) -> Iterator[bytes]:
        """Yield the text of the rows, one row at a time."""
        yield from _extra_info(rows)
        command, first, second = _COMMANDS[rows.operation]
        if rows.operation is RowOperation.INSERT and not rows.rows:
            yield b"### INSERT INTO %b VALUES ()\n" % self._plain_name
            return
        present = low_bits_first(rows.columns, rows.column_count)
        present_after = low_bits_first(rows.columns_after or rows.columns, rows.column_count)
        offset = 0
        while offset < len(rows.rows):
            lines = [b"### %b %b\n" % (command, self._name)]
            try:
                offset = self._image(lines, first, present, rows.rows, offset, is_partial=False)
                if second:
                    offset = self._image(lines, second, present_after, rows.rows, offset, is_partial=is_partial)
            except _EndOfRow as ended:
                yield b"".join(lines) + ended.message
                return
            yield b"".join(lines)

    def _image(
        self, lines: list[bytes], title: bytes, present: tuple[bool, ...], data: bytes, offset: int, *, is_partial: bool
    ) -> int:
        """Add the lines of a row image; return the offset after it."""
        partial: tuple[bool, ...] = ()
        start = offset
        if is_partial:
            options, offset = _packed(data, offset)
            if options & _PARTIAL_JSON:
                partial, offset = _bitmap(data, offset, self._json_count, b"partial update bitmap")
        nulls, offset = _bitmap(data, offset, sum(present), b"NULL bitmap")
        lines.append(title)
        json_number = null_number = 0
        for number, column in enumerate(self._columns):
            is_diff = column.is_json and bool(partial) and partial[json_number]
            json_number += column.is_json
            if number >= len(present) or not present[number]:
                continue
            is_null = nulls[null_number]
            null_number += 1
            lines.append(b"###   @%d=" % (number + 1))
            if is_null:
                text = b"NULL" if column.print is not None else _unknown(column)
            else:
                text, offset = _value(column, data, offset, number + 1 if is_diff else 0)
            lines.append(text)
            if column.print is None:
                raise _EndOfRow(b"")
            if self._with_types:
                lines.append(column.comment(nullable=self._nullable[number], is_null=is_null))
            lines.append(b"\n")
        if offset == start:  # an image without columns; there would be any number of them
            raise _EndOfRow(b"")
        return offset


def row_headings(table: TableMap, encoding: str) -> tuple[bytes, bytes, bytes]:
    """Return what is printed before the first image of an insert, an update and a delete."""
    name = b".".join(quoted_identifier(name.encode(encoding)) for name in (table.schema, table.table))
    operations = (RowOperation.INSERT, RowOperation.UPDATE, RowOperation.DELETE)
    insert, update, delete = (
        b"### %b %b\n%b" % (*_COMMANDS[kind][:1], name, _COMMANDS[kind][1]) for kind in operations
    )
    return insert, update, delete


def table_printers(table: TableMap) -> tuple[ColumnPrinter, ...]:
    """Return how the columns of a table are printed."""
    dimensions = iter(table.optional(MetadataKind.VECTOR_DIMENSIONALITY) or ())
    return tuple(
        _printer(type_code, metadata, next(dimensions, 0) if type_code == ColumnType.VECTOR else 0)
        for type_code, metadata in zip(table.column_types, table.column_metadata, strict=True)
    )


@lru_cache(maxsize=4096)
def _printer(type_code: int, metadata: int, dimensions: int) -> ColumnPrinter:
    return column_printer(type_code, metadata, dimensions)


def _unknown(column: ColumnPrinter) -> bytes:
    return b"!! Don't know how to handle column type=%d meta=%d (%04x)\n" % (
        column.type_code,
        column.metadata,
        column.metadata,
    )


def _value(column: ColumnPrinter, data: bytes, offset: int, diff_column: int) -> tuple[bytes, int]:
    """Return the text of a value and the offset after it; `diff_column` is the number of a column with diffs, or 0."""
    left = len(data) - offset
    if column.type_code not in ColumnType._value2member_map_:  # the size of its values is not known
        raise _EndOfRow(_LEFT % (b"field data is truncated;", left))
    if column.print is None:
        return _unknown(column), offset
    start = offset + column.length_bytes
    size = int.from_bytes(data[offset:start], "little") if column.length_bytes else column.size
    if column.length_bytes + size > left:
        raise _EndOfRow(_LEFT % (b"field data is truncated;", left))
    value = data[start : start + size]
    text = print_diffs(value, b"@%d" % diff_column) if diff_column else column.print(value)
    return text, start + size


def _packed(data: bytes, offset: int) -> tuple[int, int]:
    cursor = Cursor(data, offset, len(data))
    try:
        return cursor.packed("value_options"), cursor.offset
    except DecodeError:
        message = b"*** Error reading binlog_row_value_options from Partial_update_rows_log_event\n"
        raise _EndOfRow(message) from None


def _bitmap(data: bytes, offset: int, count: int, name: bytes) -> tuple[tuple[bool, ...], int]:
    size, left = bitmap_length(count), len(data) - offset
    if size > left:
        raise _EndOfRow(_LEFT % (b"%b size is set to %d, but" % (name, size), left))
    return low_bits_first(data[offset : offset + size], count), offset + size


def _extra_info(rows: Rows) -> Iterator[bytes]:
    for info in rows.extra_info:
        match info:
            case NdbInfo():
                hexed = b"0x%b" % info.data.hex().upper().encode()
                head = b"### Extra row ndb info: data_format: %d, len: %d, " % (info.format, len(info.data))
                yield b"%bdata: %b\n" % (head, hexed)
            case PartitionInfo() if info.source_partition_id is not None:
                yield b"### Extra row info for partitioning: source_partition: %d target_partition: %d\n" % (
                    info.source_partition_id,
                    info.partition_id,
                )
            case PartitionInfo():
                yield b"### Extra row info for partitioning: partition: %d\n" % info.partition_id
