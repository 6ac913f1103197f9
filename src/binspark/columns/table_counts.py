"""How many rows of each table logs change, and in which way. No value is decoded, so that none can be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import ClosedTransactions, selected, selected_changes
from binspark.event import RowOperation
from binspark.kernels.layout import Operation
from binspark.kernels.list_layout import ChangeNumber as C

_OPERATIONS = len(Operation)


@dataclass(frozen=True, slots=True)
class TableCount:
    """How often a table is changed in one way.

    events     rows events; bytes: their size
    rows       their rows, as far as they can be counted
    uncounted  events whose rows cannot be: the log does not contain how large their values are, or they are damaged.
               All events of a transaction count as one here if one of them is.
    """

    events: int = 0
    bytes: int = 0
    rows: int = 0
    uncounted: int = 0

    def __add__(self, other: TableCount) -> TableCount:
        return TableCount(
            self.events + other.events,
            self.bytes + other.bytes,
            self.rows + other.rows,
            self.uncounted + other.uncounted,
        )


class TableCounts:
    """Adds up the changes of tables in the selected transactions: what a `TransactionReader` may make of them.

    counts   by schema, table and operation
    """

    def __init__(self, selection: Selection) -> None:
        self.counts: dict[tuple[str, str, RowOperation], TableCount] = {}
        self._selection = selection

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Count transactions, and yield nothing."""
        changes = closed.changes
        wanted = selected(self._selection, closed)[changes[C.TRANSACTION]] & selected_changes(self._selection, closed)
        changes = changes[:, wanted]
        keys = _OPERATIONS * changes[C.TABLE] + changes[C.OPERATION]
        found, numbers = np.unique(keys, return_inverse=True)
        is_counted = changes[C.ROWS] >= 0
        sums = [
            np.bincount(numbers, weights, len(found)).astype(np.int64)
            for weights in (
                changes[C.EVENTS],
                changes[C.BYTES],
                np.where(is_counted, changes[C.ROWS], 0),
                np.where(is_counted, 0, changes[C.EVENTS]),
            )
        ]
        for index, key in enumerate(found.tolist()):
            schema, table = closed.tables[key // _OPERATIONS]
            operation = RowOperation(Operation(key % _OPERATIONS).name.lower())
            name = (schema, table, operation)
            self.counts[name] = self.counts.get(name, TableCount()) + TableCount(
                *(int(column[index]) for column in sums)
            )
        return iter(())
