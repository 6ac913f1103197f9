"""What all logs contain together: changes of tables, and activity over time. Memory is bounded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from binspark.columns.selection import Selection
from binspark.columns.table_counts import TableCount, TableCounts
from binspark.columns.transaction_batch import ClosedTransactions, Flags, transaction_contents
from binspark.kernels.list_layout import ChangeNumber
from binspark.reports.timeline import Timeline

MAX_SHOWN = 2000
MAX_COUNTED = 20_000
MAX_INTERVALS = 1200
_SECOND = 1_000_000
_METRICS = ("transactions", "bytes", "rows")


class Totals:
    """Counts, of one batch of transactions after the other.

    max_counted   how many counts of tables are kept; of more, those with the fewest bytes are added up
    """

    def __init__(self, max_counted: int = MAX_COUNTED) -> None:
        self._tables = TableCounts(Selection())
        self._others = TableCount()
        self._has_others = False
        self._max = max_counted
        self._timeline: Timeline[str] = Timeline(MAX_INTERVALS)

    def add(self, closed: ClosedTransactions, new: Flags) -> None:
        """Count the transactions of a batch that are new."""
        contents, times = transaction_contents(closed), closed.commit_times[new]
        amounts = (contents["rows"][new] * 0 + 1, contents["length"][new], contents["rows"][new])
        for metric, amount in zip(_METRICS, amounts, strict=True):
            self._timeline.add(metric, times, amount)
        owners = closed.changes[ChangeNumber.TRANSACTION]
        list(self._tables.batches(replace(closed, changes=closed.changes[:, new[owners]])))
        if len(self._tables.counts) > 2 * self._max:
            self._drop_small()

    def timeline(self) -> dict[str, Any]:
        """Return what was written over time: when each interval begins, in seconds, and the sums of each."""
        times = [time / _SECOND for time in self._timeline.times]
        sums = {metric: self._timeline.sums(metric) for metric in _METRICS}
        return {"width": self._timeline.width / _SECOND, "times": times, **sums}

    def tables(self) -> dict[str, Any]:
        """Return how each table is changed, those with the most bytes first."""
        tables: dict[str, dict[str, Any]] = {}
        for (schema, table, operation), count in self._tables.counts.items():
            record = tables.setdefault(f"{schema}.{table}", {"table": f"{schema}.{table}", "bytes": 0, "rows": 0})
            record["bytes"] += count.bytes
            record["rows"] += count.rows
            record[operation.value] = {"rows": count.rows, "bytes": count.bytes, "uncounted": count.uncounted}
        ordered = sorted(tables.values(), key=lambda each: (-each["bytes"], each["table"]))
        others = {"rows": self._others.rows, "bytes": self._others.bytes} if self._has_others else None
        return {"tables": ordered[:MAX_SHOWN], "count": len(ordered), "others": others}

    def _drop_small(self) -> None:
        """Keep the largest counts, and add up the others."""
        counts = self._tables.counts
        for name in sorted(counts, key=lambda name: counts[name].bytes)[: len(counts) - self._max]:
            self._others += counts.pop(name)
        self._has_others = True
