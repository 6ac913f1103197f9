"""How many rows transactions change."""

from __future__ import annotations

from collections import Counter

from binspark.changes.reader import ChangeReader
from binspark.event import Event
from binspark.event.rows import RowOperation

RowCounts = Counter[tuple[str, str, RowOperation]]
"""Rows by schema, table and operation."""


class RowCounter:
    """Counts the rows of transactions as their events go by: `Assembler(watcher=counter.watch)`."""

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader
        self._counts: dict[int, RowCounts] = {}

    def watch(self, transaction: int, event: Event) -> None:
        """Take an event of a transaction."""
        for change in self._reader.feed(event):
            counts = self._counts.setdefault(transaction, Counter())
            counts[change.schema, change.table, change.op] += 1

    def take(self, transaction: int) -> RowCounts:
        """Return what was counted for a transaction, and forget it."""
        return self._counts.pop(transaction, Counter())
