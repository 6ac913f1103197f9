"""What logs contain, counted by kernels: the same as `transactions.contents.ContentsReader` counts, only faster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from binspark.columns.arena import ReadInto
from binspark.columns.event_list import EventReader, EventSelector
from binspark.columns.log_scan import Numbers
from binspark.columns.parallelism import BulkParallelism
from binspark.columns.transaction_batch import ClosedTransactions
from binspark.columns.transaction_list import TransactionReader
from binspark.frames import type_name
from binspark.kernels.layout import Operation
from binspark.kernels.list_layout import NULL
from binspark.kernels.list_layout import ChangeNumber as C
from binspark.kernels.list_layout import EventNumber as E
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.transactions.byte_tables import ENDINGS
from binspark.transactions.contents import (
    MAX_LARGEST,
    PERIOD_SECONDS,
    Contents,
    LargeTransaction,
    Period,
    TableTally,
    Tally,
)

_OPERATIONS = len(Operation)
_IS_COMPLETE = np.array([ending.complete for ending in ENDINGS])


class BulkContents:
    """Counts the contents of one log after the other. Each is read twice: for its events, and for its transactions.

    selector   chooses the events that are counted
    """

    def __init__(self, selector: EventSelector | None = None) -> None:
        self.contents = Contents()
        self._events = EventReader(on_listed=self.count_events, selector=selector)
        self._transactions = TransactionReader(self)
        self._meter = BulkParallelism()
        self._version = ""

    def begin_file(self, server_version: str) -> None:
        """Note that a file follows, which a server of a version has written."""
        self._version = server_version

    def read_events(self, read_into: ReadInto, file: str, stop: int | None = None) -> None:
        """Count the events of a log, up to an offset."""
        for _ in self._events.read(read_into, file, stop=stop):
            pass

    def read_transactions(self, read_into: ReadInto, file: str, stop: int | None = None) -> None:
        """Count the transactions of a log, up to an offset."""
        for _ in self._transactions.read(read_into, file, stop=stop):
            pass

    def end_file(self) -> None:
        """Note that a file is complete: the logical clock restarts in the next."""
        self.contents.parallelism = self.contents.parallelism.followed_by(self._meter.result())
        self._meter = BulkParallelism()

    def finish(self) -> Contents:
        """Return what was counted."""
        for _ in self._transactions.finish():
            pass
        return self.contents

    def count_events(self, numbers: Numbers) -> None:
        """Count events that were listed."""
        contents = self.contents
        codes, sizes, times = numbers[E.TYPE], numbers[E.SIZE], numbers[E.TIMESTAMP]
        contents.servers.setdefault(self._version, int(numbers[E.SERVER][0]))
        outside = numbers[E.INNER] == NULL
        contents.events.add(int(sizes[outside].sum()), int(outside.sum()))
        counts, size_sums = np.bincount(codes), np.bincount(codes, sizes)
        for code in np.flatnonzero(counts).tolist():
            contents.types.setdefault(type_name(code), Tally()).add(int(size_sums[code]), int(counts[code]))
        times = times[times > 0]
        if len(times):
            contents.extend_time(int(times.min()), int(times.max()))

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Count transactions, and yield nothing: this is the target of a `TransactionReader`."""
        self.count_transactions(closed, closed)
        return iter(())

    def count_transactions(self, closed: ClosedTransactions, complete: ClosedTransactions) -> None:
        """Count transactions that have ended, with the changes that are counted, and `complete`, with all of them."""
        contents, rows = self.contents, closed.rows
        contents.transactions.add(int(rows[N.LENGTH].sum()), closed.count)
        for number, count in enumerate(np.bincount(rows[N.ENDING]).tolist()):
            if count:
                contents.endings[ENDINGS[number].value] += count
        self._count_changes(closed)
        self._count_periods(closed)
        self._keep_largest(complete)
        is_complete = _IS_COMPLETE[rows[N.ENDING]]
        self._meter.add(rows if is_complete.all() else rows[:, is_complete])

    def _count_changes(self, closed: ClosedTransactions) -> None:
        changes = closed.changes
        keys = _OPERATIONS * changes[C.TABLE] + changes[C.OPERATION]
        is_counted = changes[C.ROWS] >= 0
        columns = (
            changes[C.EVENTS],
            changes[C.BYTES] + changes[C.OVERHEAD],
            np.where(is_counted, changes[C.ROWS], 0),
            ~is_counted,
        )
        found = np.flatnonzero(np.bincount(keys))
        sums = [np.bincount(keys, weights).astype(np.int64)[found].tolist() for weights in columns]
        for key, *tally in zip(found.tolist(), *sums, strict=True):
            name = (*closed.tables[key // _OPERATIONS], Operation(key % _OPERATIONS).name.lower())
            self.contents.tables.setdefault(name, TableTally()).add(TableTally(*tally))

    def _count_periods(self, closed: ClosedTransactions) -> None:
        changes = closed.changes
        counted = np.where(changes[C.ROWS] >= 0, changes[C.ROWS], 0)
        rows = np.bincount(changes[C.TRANSACTION], counted, closed.count)
        minutes = closed.rows[N.TIMESTAMP] // PERIOD_SECONDS * PERIOD_SECONDS
        starts = np.flatnonzero(np.diff(minutes, prepend=minutes[0] - 1))
        sums = [
            np.add.reduceat(numbers, starts).astype(np.int64).tolist()
            for numbers in (np.ones_like(minutes), rows, closed.rows[N.LENGTH])
        ]
        for minute, *period in zip(minutes[starts].tolist(), *sums, strict=True):
            self.contents.periods.setdefault(minute, Period()).add(Period(*period))

    def _keep_largest(self, closed: ClosedTransactions) -> None:
        lengths, largest = closed.rows[N.LENGTH], self.contents.largest
        if len(largest) == MAX_LARGEST and int(lengths.max()) <= largest[-1].length:
            return
        first = np.argsort(-lengths, kind="stable")[:MAX_LARGEST].tolist()
        self.contents.keep_largest(self._large(closed, number) for number in first)

    def _large(self, closed: ClosedTransactions, number: int) -> LargeTransaction:
        row, changes, notes = closed.rows[:, number], closed.changes, closed.notes.get(number)
        own = changes[:, changes[C.TRANSACTION] == number]
        return LargeTransaction(
            int(row[N.LENGTH]),
            closed.files[row[N.FILE]],
            int(row[N.START]),
            closed.gtids[number].as_py(),
            next(iter(notes.texts), None) if notes else None,
            tuple(
                f"{Operation(operation).name.lower()} {'.'.join(closed.tables[table])}"
                for operation, table in zip(own[C.OPERATION].tolist(), own[C.TABLE].tolist(), strict=True)
            ),
            ENDINGS[row[N.ENDING]].value,
        )
