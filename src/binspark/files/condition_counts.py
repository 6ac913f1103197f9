"""How many rows of each rows event a condition selects, while the events of logs are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from binspark.columns.row_counts import count_rows
from binspark.columns.selection import Selection
from binspark.errors import Unsupported
from binspark.event import Event, Rows, TableMap
from binspark.event.table_map import TableMaps
from binspark.files.condition_rows import ConditionRows
from binspark.schema.history import SchemaHistory

_ALL = 1 << 62


class ConditionCounts(ConditionRows):
    """Follows the events of logs, and counts the rows that are selected in each.

    count    how many rows of the last event are selected
    """

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        super().__init__(selection, history)
        self.count = 0
        self._maps: TableMaps[TableMap] = TableMaps()

    def follow(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield events as they are; `count` is about the one that was yielded last."""
        for event in events:
            self.feed(event)
            yield event

    def feed(self, event: Event) -> None:
        """Take an event, which must be one of the log that has begun."""
        self.count = 0
        if isinstance(event.body, TableMap):
            self._maps[event.body.table_id] = event.body
        elif isinstance(event.body, Rows):
            self.count = self._count_inside(event) if event.inner is not None else self._count(event)

    def is_selected(self, _event: Event) -> bool:
        """Return whether rows of the last event are selected."""
        return self.count > 0

    def _count(self, event: Event) -> int:
        return len(self.numbers(event.offset, _ALL)) if self.has_any(event.offset) else 0

    def _count_inside(self, event: Event) -> int:
        """Count the rows of an event inside a payload."""
        first = self.first_number(event)
        table_map = self._maps.get(event.body.table_id)
        rows = None if table_map is None else count_rows(event, table_map)
        if rows is None:
            raise Unsupported("cannot count the rows of a compressed transaction, for the condition", event.position)
        self.has_any(event.offset, first)
        return len(self.numbers(event.offset, first + rows))
