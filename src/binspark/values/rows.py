"""The rows of a rows event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from binspark.errors import BinlogError, SchemaError, Unsupported
from binspark.event import Event, RowOperation, Rows
from binspark.event.column_types import ColumnType
from binspark.event.rows import ROWS_KINDS, RowsKind
from binspark.values.column import Column
from binspark.values.options import DEFAULT_OPTIONS, ValueOptions
from binspark.values.partial_rows import decode_partial_update
from binspark.values.row_image import decode_row
from binspark.values.value import Row
from binspark.wire import Cursor

_WIDTH_NOT_IN_LOG = frozenset((ColumnType.TIME, ColumnType.DATETIME, ColumnType.TIMESTAMP))


class RowChange(NamedTuple):
    """What happened to one row: an insert has no before image, a delete no after image."""

    before: Row | None
    after: Row | None


def rows_of(event: Event, columns: Sequence[Column], options: ValueOptions = DEFAULT_OPTIONS) -> Iterator[RowChange]:
    """Decode the rows of a rows event, whose table has these columns. An error says which byte of the rows it is at."""
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
                raise cursor.malformed("rows without columns")
        except BinlogError as error:
            place = f", at byte {error.position.offset} of the rows, in row {number}"
            raise type(error)(error.message + place + _width_hint(columns), event.position) from error
        yield change
        number += 1


def decode_change(
    cursor: Cursor, rows: Rows, kind: RowsKind, columns: Sequence[Column], options: ValueOptions
) -> RowChange:
    """Decode the next row of a rows event: its one image, or its two."""
    if kind.operation is RowOperation.INSERT:
        return RowChange(None, decode_row(cursor, columns, rows.columns, options))
    if kind.operation is RowOperation.DELETE:
        return RowChange(decode_row(cursor, columns, rows.columns, options), None)
    after_columns = rows.columns_after or b""
    if kind.partial:
        return RowChange(*decode_partial_update(cursor, columns, (rows.columns, after_columns), options))
    before = decode_row(cursor, columns, rows.columns, options)
    return RowChange(before, decode_row(cursor, columns, after_columns, options))


def _check(rows: Rows, kind: RowsKind, columns: Sequence[Column], event: Event) -> None:
    if kind.version == 0:
        raise Unsupported(
            "rows of a pre-release of 5.1: which of them are NULL stands in the table's own record format, "
            "which the log does not describe",
            event.position,
        )
    if rows.column_count != len(columns):
        raise SchemaError(f"rows of {rows.column_count} columns, the table has {len(columns)}", event.position)


def _width_hint(columns: Sequence[Column]) -> str:
    """Say what the cause may be where values have a width that the log does not tell."""
    names = [
        column.name or f"@{number}"
        for number, column in enumerate(columns, 1)
        if column.type in _WIDTH_NOT_IN_LOG and not column.scale
    ]
    if not names:
        return ""
    return f" (MariaDB may have stored {', '.join(names)} with a fraction; only the table's definition tells)"
