"""Which rows a condition selects, in step with the events that have them."""

from __future__ import annotations

from dataclasses import replace

from binspark.columns.selection import Selection
from binspark.errors import Unsupported
from binspark.event import Event, Rows, TableMap
from binspark.event.rows import ROWS_KINDS, unknown_table_id
from binspark.files.condition_rows import ConditionRows
from binspark.schema.history import SchemaHistory
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import decode_change
from binspark.wire import Cursor

_ANY_TEXT = ValueOptions(undecodable=Undecodable.BINARY)


class PickedRows(ConditionRows):
    """Follows the events of logs, and the rows that are selected in them, which are in the same order."""

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        super().__init__(selection, history)
        self._history = history
        self._maps: dict[int, TableMap] = {}

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
        spans = self._spans(event, rows)
        kept = [spans[number - first] for number in self.numbers(offset, first + len(spans))]
        if not kept:
            return None
        if len(kept) == len(spans):
            return rows
        return replace(rows, rows=b"".join(rows.rows[start:end] for start, end in kept), compressed=None)

    def _spans(self, event: Event, rows: Rows) -> list[tuple[int, int]]:
        """Return where each row is in the rows of an event."""
        kind = ROWS_KINDS[event.type_code]
        if kind.partial:
            raise Unsupported("partial updates of JSON documents cannot be cut by a condition", event.position)
        table_map = self._maps.get(rows.table_id)
        if table_map is None:
            raise unknown_table_id(rows, event.position)
        columns = self._history.table_schema(table_map, event.position).columns
        cursor, spans = Cursor(rows.rows), []
        while cursor.remaining:
            start = cursor.offset
            decode_change(cursor, rows, kind, columns, _ANY_TEXT)
            spans.append((start, cursor.offset))
        return spans
