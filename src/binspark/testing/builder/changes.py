"""What a transaction does, for a builder: rows that are inserted, updated, deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from binspark.event.rows import RowOperation, Rows, RowsFlag
from binspark.frames import EventCode as E
from binspark.testing.builder.tables import Row, Table


@dataclass(frozen=True)
class Change:
    """Rows of one table that one statement changed: stored rows, and for an update before and after in turn."""

    operation: RowOperation
    table: Table
    images: bytes

    def rows(self, table_id: int) -> Rows:
        """Return the rows event."""
        columns = self.table.all_columns
        after = columns if self.operation is RowOperation.UPDATE else None
        count = len(self.table.columns)
        return Rows(self.operation, table_id, RowsFlag.STMT_END, (), count, columns, after, self.images)


def insert(table: Table, *rows: Row) -> Change:
    """Say that rows came."""
    return Change(RowOperation.INSERT, table, b"".join(map(table.image, rows)))


def delete(table: Table, *rows: Row) -> Change:
    """Say that rows went."""
    return Change(RowOperation.DELETE, table, b"".join(map(table.image, rows)))


def update(table: Table, *pairs: tuple[Row, Row]) -> Change:
    """Say that rows changed: pairs of how they were and how they are."""
    images = b"".join(table.image(row) for pair in pairs for row in pair)
    return Change(RowOperation.UPDATE, table, images)


class RowsCodes(NamedTuple):
    """The type codes of one kind of rows events."""

    insert: int
    update: int
    delete: int

    def of(self, operation: RowOperation) -> int:
        """Return the type code for an operation."""
        code: int = getattr(self, operation.value)
        return code


PRE_GA = RowsCodes(E.PRE_GA_WRITE_ROWS, E.PRE_GA_UPDATE_ROWS, E.PRE_GA_DELETE_ROWS)
V1 = RowsCodes(E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1)
V2 = RowsCodes(E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS)
PARTIAL = RowsCodes(E.WRITE_ROWS, E.PARTIAL_UPDATE_ROWS, E.DELETE_ROWS)
COMPRESSED_V1 = RowsCodes(E.WRITE_ROWS_COMPRESSED_V1, E.UPDATE_ROWS_COMPRESSED_V1, E.DELETE_ROWS_COMPRESSED_V1)
COMPRESSED_V2 = RowsCodes(E.WRITE_ROWS_COMPRESSED, E.UPDATE_ROWS_COMPRESSED, E.DELETE_ROWS_COMPRESSED)
