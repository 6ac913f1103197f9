"""What logs contain, counted by kernels: the same as `transactions.contents.ContentsReader` counts, only faster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from binspark.columns.arena import ReadInto
from binspark.columns.event_list import EventReader
from binspark.columns.log_scan import Numbers
from binspark.columns.transaction_batch import ClosedTransactions
from binspark.columns.transaction_list import TransactionReader
from binspark.frames import type_name
from binspark.kernels.layout import Operation
from binspark.kernels.list_layout import NULL
from binspark.kernels.list_layout import ChangeNumber as C
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
from binspark.transactions.parallelism import ParallelismMeter

_OPERATIONS = len(Operation)
_IS_COMPLETE = np.array([ending.complete for ending in ENDINGS])
_COLUMNS = ("inner", "type_code", "size", "timestamp")


class BulkContents:
    """Counts the contents of one log after the other. Each is read twice: for its events, and for its transactions."""

    def __init__(self) -> None:
        self.contents = Contents()
        self._events = EventReader(names=_COLUMNS)
        self._transactions = TransactionReader(self)
        self._meter = ParallelismMeter()

    def read_events(self, read_into: ReadInto, file: str) -> None:
        """Count the events of a log."""
        for batch in self._events.read(read_into, file):
            self._count_events(batch)

    def read_transactions(self, read_into: ReadInto, file: str) -> None:
        """Count the transactions of a log."""
        for _ in self._transactions.read(read_into, file):
            pass

    def end_file(self) -> None:
        """Note that a file is complete: the logical clock restarts in the next."""
        self.contents.parallelism = self.contents.parallelism.followed_by(self._meter.result())
        self._meter = ParallelismMeter()

    def finish(self) -> Contents:
        """Return what was counted."""
        for _ in self._transactions.finish():
            pass
        return self.contents

    def _count_events(self, batch: pa.RecordBatch) -> None:
        contents = self.contents
        codes, sizes = batch["type_code"].to_numpy(), batch["size"].to_numpy()
        times = batch["timestamp"].cast(pa.int64()).fill_null(0).to_numpy() // 1_000_000
        outside = batch["inner"].is_null().to_numpy(zero_copy_only=False)
        contents.events.add(int(sizes[outside].sum()), int(outside.sum()))
        counts, size_sums = np.bincount(codes), np.bincount(codes, sizes)
        for code in np.flatnonzero(counts).tolist():
            contents.types.setdefault(type_name(code), Tally()).add(int(size_sums[code]), int(counts[code]))
        if times.any():
            contents.extend_time(int(times[times > 0].min()), int(times.max()))

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Count transactions, and yield nothing: this is the target of a `TransactionReader`."""
        contents, rows = self.contents, closed.rows
        contents.transactions.add(int(rows[N.LENGTH].sum()), closed.count)
        for number, count in enumerate(np.bincount(rows[N.ENDING]).tolist()):
            if count:
                contents.endings[ENDINGS[number].value] += count
        self._count_changes(closed)
        self._count_periods(closed)
        self._keep_largest(closed)
        self._measure(rows[:, _IS_COMPLETE[rows[N.ENDING]]])
        return iter(())

    def _count_changes(self, closed: ClosedTransactions) -> None:
        changes = closed.changes
        keys = _OPERATIONS * changes[C.TABLE] + changes[C.OPERATION]
        found, numbers = np.unique(keys, return_inverse=True)
        is_counted = changes[C.ROWS] >= 0
        columns = (
            changes[C.EVENTS],
            changes[C.BYTES] + changes[C.OVERHEAD],
            np.where(is_counted, changes[C.ROWS], 0),
            ~is_counted,
        )
        sums = [np.bincount(numbers, weights, len(found)).astype(np.int64).tolist() for weights in columns]
        for key, *tally in zip(found.tolist(), *sums, strict=True):
            name = (*closed.tables[key // _OPERATIONS], Operation(key % _OPERATIONS).name.lower())
            self.contents.tables.setdefault(name, TableTally()).add(TableTally(*tally))

    def _count_periods(self, closed: ClosedTransactions) -> None:
        changes = closed.changes
        counted = np.where(changes[C.ROWS] >= 0, changes[C.ROWS], 0)
        rows = np.bincount(changes[C.TRANSACTION], counted, closed.count)
        minutes, numbers = np.unique(closed.rows[N.TIMESTAMP] // PERIOD_SECONDS * PERIOD_SECONDS, return_inverse=True)
        sums = [
            np.bincount(numbers, weights, len(minutes)).astype(np.int64).tolist()
            for weights in (None, rows, closed.rows[N.LENGTH])
        ]
        for minute, *period in zip(minutes.tolist(), *sums, strict=True):
            self.contents.periods.setdefault(minute, Period()).add(Period(*period))

    def _keep_largest(self, closed: ClosedTransactions) -> None:
        lengths = closed.rows[N.LENGTH]
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

    def _measure(self, rows: Numbers) -> None:
        """Measure how parallel complete transactions are."""
        columns = (N.DOMAIN, N.LAST_COMMITTED, N.SEQUENCE_NUMBER, N.COMMIT_ID, N.HAS_COMMIT_ID, N.GTID_FLAGS, N.LENGTH)
        measure = self._meter.measure
        for domain, last, sequence, commit_id, has_commit_id, flags, size in rows[list(columns)].T.tolist():
            if domain == NULL:
                measure(None, _known(last), _known(sequence), None, 0, size)
            else:
                measure(domain, None, None, commit_id if has_commit_id == 1 else None, _known(flags) or 0, size)


def _known(number: int) -> int | None:
    return None if number == NULL else number
