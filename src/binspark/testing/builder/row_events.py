"""A builder's events of tables and rows."""

from __future__ import annotations

from dataclasses import replace

from binspark.frames import EventCode as E
from binspark.testing.builder.changes import PRE_GA, V1, V2, Change, RowsCodes
from binspark.testing.builder.core import BuilderCore, Part
from binspark.testing.builder.tables import Table

_FIRST_TABLE_ID = 106
_PRE_RELEASE_TYPES = 22


class RowEvents(BuilderCore):
    """TABLE_MAP, and the rows events of every version."""

    full_metadata = True

    def table_map(self, table: Table, table_id: int = _FIRST_TABLE_ID) -> None:
        """Write TABLE_MAP."""
        self.event(E.TABLE_MAP, table.table_map(table_id, full_metadata=self.full_metadata))

    def rows(self, change: Change, table_id: int = _FIRST_TABLE_ID, codes: RowsCodes | None = None) -> None:
        """Write a rows event, of the version that the server writes unless `codes` names another."""
        self.event(*self._rows_part(change, table_id, codes or self.usual_rows()))

    def usual_rows(self) -> RowsCodes:
        """Return the version of rows events that the server writes."""
        if len(self.server.post_header_lengths) == _PRE_RELEASE_TYPES:
            return PRE_GA
        return V2 if self.server.writes_rows_v2 else V1

    def change_parts(self, changes: tuple[Change, ...], codes: RowsCodes) -> list[Part]:
        """Return the table maps and rows of some changes. Each table keeps its number."""
        tables = list(dict.fromkeys(change.table for change in changes))
        parts: list[Part] = []
        for change in changes:
            table_id = _FIRST_TABLE_ID + tables.index(change.table)
            parts.append(Part(E.TABLE_MAP, change.table.table_map(table_id, full_metadata=self.full_metadata)))
            parts.append(self._rows_part(change, table_id, codes))
        return parts

    def _rows_part(self, change: Change, table_id: int, codes: RowsCodes) -> Part:
        rows = change.rows(table_id)
        if codes is PRE_GA:
            rows = replace(rows, columns_after=None)
        return Part(codes.of(change.operation), rows)
