"""Which rows a condition selects, in step with the events that have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from binspark.columns.row_counts import row_ends
from binspark.columns.selection import Selection
from binspark.errors import Unsupported
from binspark.event import Event, Rows, TableMap
from binspark.event.rows import ROWS_KINDS, unknown_table_id
from binspark.event.table_map import TableMaps
from binspark.files.condition_rows import ConditionRows, Numbers
from binspark.schema.history import SchemaHistory
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import decode_change
from binspark.wire import Cursor

_ZERO = np.zeros(1, dtype=np.int64)
_ANY_TEXT = ValueOptions(undecodable=Undecodable.BINARY)


class SelectedRows(ConditionRows):
    """Follows the events of logs, and the rows that are selected in them, which are in the same order."""

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        super().__init__(selection, history)
        self._history = history
        self._maps: TableMaps[TableMap] = TableMaps()

    def note(self, event: Event) -> None:
        """Note which tables there are."""
        self._history.feed(event)
        if isinstance(event.body, TableMap):
            self._maps[event.body.table_id] = event.body

    def left_of(self, event: Event, rows: Rows) -> Rows | None:
        """Return a rows event with the rows that are selected; None if there are none."""
        offset, first = event.offset, self.first_number(event)
        if not self.has_any(offset, first) and event.inner is None:
            return None
        ends = self._ends(event, rows)
        numbers = self.numbers(offset, first + len(ends))
        if not len(numbers):
            return None
        if len(numbers) == len(ends):
            return rows
        starts = np.concatenate((_ZERO, ends[:-1]))
        chosen = numbers - first
        # Rows that follow each other are copied at once.
        breaks = np.flatnonzero(np.diff(chosen) != 1)
        begins = starts[chosen[np.concatenate((_ZERO, breaks + 1))]].tolist()
        stops = ends[chosen[np.append(breaks, len(chosen) - 1)]].tolist()
        kept = b"".join(rows.rows[begin:stop] for begin, stop in zip(begins, stops, strict=True))
        return replace(rows, rows=kept, compressed=None)

    def _ends(self, event: Event, rows: Rows) -> Numbers:
        """Return where each row ends in the rows of an event."""
        kind = ROWS_KINDS[event.type_code]
        if kind.partial:
            raise Unsupported("partial updates of JSON documents cannot be cut by a condition", event.position)
        table_map = self._maps.get(rows.table_id)
        if table_map is None:
            raise unknown_table_id(rows, event.position)
        ends = row_ends(event, table_map)
        if ends is not None:
            return ends
        columns = self._history.table_schema(table_map, event.position).columns
        cursor, found = Cursor(rows.rows), []
        while cursor.remaining:
            decode_change(cursor, rows, kind, columns, _ANY_TEXT)
            found.append(cursor.offset)
        return np.array(found, dtype=np.int64)
