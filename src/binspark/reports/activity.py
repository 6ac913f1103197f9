"""What is counted of transactions: activity over time, sizes, the longest ones, schema changes, parallelism."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from binspark.columns.parallelism import BulkParallelism
from binspark.columns.transaction_batch import ClosedTransactions
from binspark.kernels.layout import Operation
from binspark.kernels.list_layout import ChangeNumber as C
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.reports.durations import MAX_LONGEST
from binspark.reports.numbers import LongTransaction, SchemaChange
from binspark.reports.timeline import Timeline
from binspark.schema.text import may_change_rows
from binspark.transactions.byte_tables import ENDINGS
from binspark.transactions.transaction import Transaction

OTHER = "other tables"
_MAX_TABLES = 500
_MAX_SCHEMA_CHANGES = 500
_MAX_STATEMENT = 300
_MICROSECONDS = 1_000_000
_SIZE_POWERS = 64
_WINDOW = 1024
_OPERATIONS = len(Operation)
_STATEMENT_HEAD = 1024
"""How many bytes of a statement are looked at to see if it changes rows."""
_IS_COMPLETE = np.array([ending.complete for ending in ENDINGS])


class Activity:
    """Counts the transactions of one log after the other; `longest` has the seconds of the longest, by offset.

    rows          rows over time, by table and operation
    transactions  transactions and bytes over time
    sizes         how many transactions have 1 byte, 2 to 3, 4 to 7, …
    parallelism   over time: transactions, and the steps that a replica needs for them
    anonymous     how many transactions have no GTID
    statements    how many transactions changed rows by statements
    """

    def __init__(self) -> None:
        self.rows: Timeline[tuple[str, str]] = Timeline()
        self.transactions: Timeline[str] = Timeline()
        self.sizes: npt.NDArray[np.int64] = np.zeros(_SIZE_POWERS, dtype=np.int64)
        self.parallelism: Timeline[str] = Timeline()
        self.schema_changes: list[SchemaChange] = []
        self.schema_change_count = 0
        self.anonymous = 0
        self.statements = 0
        self.longest: list[LongTransaction] = []
        self._long_in_file: Mapping[int, int] = {}
        self._tables: set[str] = set()

    def begin_file(self, longest: Mapping[int, int]) -> None:
        """Note which transactions of the next log are the longest."""
        self._long_in_file = longest

    def add(self, closed: ClosedTransactions) -> None:
        """Count transactions."""
        times, lengths = closed.commit_times, closed.rows[N.LENGTH]
        self.transactions.add("transactions", times, np.ones_like(times))
        self.transactions.add("bytes", times, lengths)
        powers = np.log2(np.maximum(lengths, 1)).astype(np.int64)
        self.sizes += np.bincount(powers, minlength=_SIZE_POWERS)
        self.anonymous += int((np.diff(closed.text_offsets) == 0).sum())
        self._count_rows(closed, times)
        self._note_statements(closed, times)
        self._note_longest(closed, times)
        self._measure(closed, times)

    def finish(self) -> None:
        """Note that all transactions were counted."""
        for timeline in (self.rows, self.transactions, self.parallelism):
            timeline.finish()

    def add_transaction(self, transaction: Transaction) -> None:
        """Count a transaction that no kernel has read."""
        committed = transaction.immediate_commit_timestamp or transaction.timestamp * _MICROSECONDS
        time = np.array([committed], dtype=np.int64)
        self.transactions.add("transactions", time, np.ones_like(time))
        self.transactions.add("bytes", time, np.array([transaction.length], dtype=np.int64))
        self.sizes[max(transaction.length, 1).bit_length() - 1] += 1
        self.anonymous += transaction.gtid is None
        self.statements += _changes_by_statement(transaction.texts) and not transaction.changes
        for change in transaction.changes:
            key = (self._shown(f"{change.schema}.{change.table}"), change.operation.value)
            self.rows.add(key, time, np.array([change.rows or 0], dtype=np.int64))
        if transaction.ddl is not None:
            self._note_schema_change(
                committed, transaction.file, transaction.start, transaction.gtid, bytes(transaction.ddl)
            )

    def _shown(self, table: str) -> str:
        """Return under which name a table is counted: of very many, the last ones have one name."""
        if table not in self._tables and len(self._tables) >= _MAX_TABLES:
            return OTHER
        self._tables.add(table)
        return table

    def _count_rows(self, closed: ClosedTransactions, times: npt.NDArray[np.int64]) -> None:
        changes = closed.changes
        keys = _OPERATIONS * changes[C.TABLE] + changes[C.OPERATION]
        amounts, times = np.maximum(changes[C.ROWS], 0), times[changes[C.TRANSACTION]]
        for key in np.unique(keys).tolist():
            name = self._shown(".".join(closed.tables[key // _OPERATIONS]))
            chosen = keys == key
            self.rows.add((name, Operation(key % _OPERATIONS).name.lower()), times[chosen], amounts[chosen])

    def _note_statements(self, closed: ClosedTransactions, times: npt.NDArray[np.int64]) -> None:
        changing = set(closed.changes[C.TRANSACTION].tolist()) if closed.notes else set()
        for number, notes in sorted(closed.notes.items()):
            if number >= closed.count:
                continue
            self.statements += _changes_by_statement(notes.texts) and number not in changing
            if notes.ddl is not None:
                row = closed.rows[:, number]
                file, start = closed.files[row[N.FILE]], int(row[N.START])
                self._note_schema_change(int(times[number]), file, start, _gtid(closed, number), notes.ddl)

    def _note_schema_change(self, time: int, file: str, start: int, gtid: str | None, statement: bytes) -> None:
        self.schema_change_count += 1
        if len(self.schema_changes) >= _MAX_SCHEMA_CHANGES:
            return
        text = statement[: 4 * _MAX_STATEMENT].decode(errors="backslashreplace")
        text = text if len(text) <= _MAX_STATEMENT else text[: _MAX_STATEMENT - 1] + "…"
        self.schema_changes.append(SchemaChange(time, file, start, gtid, text))

    def _note_longest(self, closed: ClosedTransactions, times: npt.NDArray[np.int64]) -> None:
        if not self._long_in_file:
            return
        starts = closed.rows[N.START]
        found = np.flatnonzero(np.isin(starts, np.array(list(self._long_in_file), dtype=np.int64)))
        for number in found.tolist():
            row = closed.rows[:, number]
            tables = closed.changes[C.TABLE][closed.changes[C.TRANSACTION] == number]
            self.longest.append(
                LongTransaction(
                    self._long_in_file[int(row[N.START])],
                    int(row[N.LENGTH]),
                    int(times[number]),
                    closed.files[row[N.FILE]],
                    int(row[N.START]),
                    _gtid(closed, number),
                    tuple(sorted({".".join(closed.tables[table]) for table in tables.tolist()})),
                )
            )
        self.longest = heapq.nlargest(MAX_LONGEST, self.longest, key=lambda one: one.seconds)

    def _measure(self, closed: ClosedTransactions, times: npt.NDArray[np.int64]) -> None:
        """Measure the parallelism of some transactions at a time: what comes before them is done already."""
        complete = np.flatnonzero(_IS_COMPLETE[closed.rows[N.ENDING]])
        for start in range(0, len(complete), _WINDOW):
            chosen = complete[start : start + _WINDOW]
            meter = BulkParallelism(_WINDOW)
            meter.add(np.ascontiguousarray(closed.rows[:, chosen]))
            found = meter.result()
            time = times[chosen[:1]]
            self.parallelism.add("transactions", time, np.array([found.transactions], dtype=np.int64))
            self.parallelism.add("steps", time, np.array([found.critical_path], dtype=np.int64))


def _gtid(closed: ClosedTransactions, number: int) -> str | None:
    start, end = int(closed.text_offsets[number]), int(closed.text_offsets[number + 1])
    return closed.text[start:end].tobytes().decode() if end > start else None


def _changes_by_statement(texts: Iterable[bytes]) -> bool:
    return any(may_change_rows(text[:_STATEMENT_HEAD].decode("latin-1")) for text in texts)
