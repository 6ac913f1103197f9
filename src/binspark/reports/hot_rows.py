"""The rows that change most often, by their primary key, in one pass and bounded memory.

Counts are exact as long as a table has few changed rows. Beyond that the method of Misra and Gries keeps the keys with
the largest counts: what a count lacks is at most `error`, which is shown with it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata

_KEPT = 1000
_MAX_TABLES = 1000
_COUNT = "count_all"


@dataclass(frozen=True, slots=True)
class HotRow:
    """A row that changed often.

    key     the values of its primary key, by column
    count   how many updates and deletes; the true number is at most `count + error`
    """

    table: str
    key: dict[str, str]
    count: int
    error: int


class HotRows:
    """Counts changes by table and key."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._tables: dict[str, _Counts] = {}

    def add(self, batch: TableBatch) -> None:
        """Count the rows of a batch, which has the metadata column KEY."""
        name = batch.table.name
        if not batch.batch.num_rows or not batch.table.primary_key:
            return
        if name not in self._tables and len(self._tables) == _MAX_TABLES:
            return
        keys = batch.origin(Metadata.KEY)
        if not pa.types.is_struct(keys.type):
            return
        names = [field.name for field in keys.type]
        columns = [_countable(column) for column in keys.flatten()]
        counted = pa.table(columns, names=[str(number) for number in range(len(names))]).group_by(
            [str(number) for number in range(len(names))], use_threads=False
        )
        found = counted.aggregate([([], "count_all")])
        self._tables.setdefault(name, _Counts(self._kept)).add(found, names)

    def hottest(self, limit: int) -> list[HotRow]:
        """Return the rows with the largest counts."""
        rows = (
            HotRow(table, dict(zip(counts.names, key, strict=True)), count, counts.error)
            for table, counts in self._tables.items()
            for key, count in counts.counts.items()
            if count > 1
        )
        return heapq.nlargest(limit, rows, key=lambda row: row.count)


class _Counts:
    """The counts of one table."""

    def __init__(self, kept: int) -> None:
        self.names: Sequence[str] = ()
        self.counts: dict[tuple[str, ...], int] = {}
        self.error = 0
        self._kept = kept

    def add(self, found: pa.Table, names: Sequence[str]) -> None:
        if list(self.names) != list(names):  # the table got another key: what was counted before is of other rows
            self.names, self.counts, self.error = names, {}, 0
        if found.num_rows > self._kept:
            order = pc.select_k_unstable(found, self._kept + 1, [(_COUNT, "descending")])
            found = found.take(order)
            self.error += found[_COUNT][-1].as_py()
            found = found.slice(0, self._kept)
        values = [_texts(found.column(number)) for number in range(len(names))]
        for key, count in zip(zip(*values, strict=True), found[_COUNT].to_pylist(), strict=True):
            self.counts[key] = self.counts.get(key, 0) + count
        if len(self.counts) > self._kept:
            self._shrink()

    def _shrink(self) -> None:
        """Drop all but the largest counts: subtract the largest of those that are dropped from all."""
        limit = heapq.nlargest(self._kept + 1, self.counts.values())[-1]
        self.error += limit
        self.counts = {key: count - limit for key, count in self.counts.items() if count > limit}


def _countable(column: pa.Array) -> pa.Array:
    """Return a column that Arrow can group by: nested values are compared as text."""
    return pa.array(_texts(column), pa.string()) if pa.types.is_nested(column.type) else column


def _texts(column: pa.Array | pa.ChunkedArray) -> list[str]:
    return [_text(value) for value in column.to_pylist()]


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return "NULL" if value is None else str(value)
