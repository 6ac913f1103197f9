"""The transactions of logs that are selected: kernels find them, and only their events are decoded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from binspark.changes.transaction_filter import wanted_transactions
from binspark.columns.parallelism import BulkParallelism
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import ClosedTransactions, Flags, has_changes
from binspark.columns.transaction_list import TransactionReader
from binspark.errors import DecodeError, SchemaError
from binspark.event import Event
from binspark.files.condition_changes import ConditionChanges
from binspark.files.event_ranges import EventRanges
from binspark.files.positions import NOWHERE
from binspark.files.sources import LogSource
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.os_errors import source_errors
from binspark.schema.history import SchemaHistory
from binspark.transactions import Assembler, Parallelism, Transaction
from binspark.transactions.byte_tables import ENDINGS

_COLUMNS = {"file": N.FILE, "start": N.START, "end": N.END, "ending": N.ENDING}


class SelectedTransactions:
    """Reads the selected transactions of one log after the other.

    `assembler` makes a transaction of its events. `parallelism` is that of all transactions that end in the last log.
    """

    def __init__(self, selection: Selection, history: SchemaHistory, assembler: Assembler) -> None:
        self.parallelism = Parallelism()
        self._selection = selection
        self._assembler = assembler
        self._condition = None if selection.where is None else ConditionChanges(selection, history)
        self._reader = _Reader(self)
        self._meter = BulkParallelism()
        self._sources: list[LogSource] = []
        self._ranges: EventRanges | None = None
        self._has_failed = False

    def read(self, source: LogSource, *, is_last: bool) -> Iterator[Transaction]:
        """Yield the transactions that end in a log; an incomplete one at damage, and at the end of the last log.

        One that begins before the position to stop at is read to its end.
        """
        if self._condition is not None:
            self._condition.begin_source(replace(source, stop=None))
        if source.start == NOWHERE:  # it may define tables
            return
        self._meter, self._sources = BulkParallelism(), [*self._sources[-1:], source]
        self._has_failed = False
        with source_errors(source.name), source.open() as file, source.open() as again:
            self._ranges = EventRanges(again, source.name)
            try:
                for batch in self._reader.read(file.readinto, source.name):
                    yield from self._decoded(batch)
            except (DecodeError, SchemaError) as error:
                rest = list(self._rest())
                yield from rest
                if source.stop is None or rest or (error.position.offset or 0) < source.stop:
                    raise
            else:
                if is_last:
                    yield from self._rest()
            finally:
                self.parallelism = self._meter.result()

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Yield where the selected transactions are: this is the target of a `TransactionReader`."""
        if self._has_failed:
            return
        measured = closed.complete & self._begins_before_stop(closed)
        if measured.any():
            self._meter.add(closed.rows[:, measured])
        wanted = self._wanted(closed)
        if wanted.any():
            columns = {name: pa.array(closed.rows[number][wanted]) for name, number in _COLUMNS.items()}
            yield pa.RecordBatch.from_pydict(columns)
        error = None if self._condition is None else self._condition.error_in(closed)
        if error is not None:
            self._has_failed = True
            raise error

    def note_format_change(self, event: Event) -> None:
        """Note an event, after which others may have another format."""
        if self._ranges is not None:
            self._ranges.note_format_change(event)

    def _wanted(self, closed: ClosedTransactions) -> Flags:
        source = self._sources[-1]
        wanted = wanted_transactions(self._selection, closed, source.start) & self._begins_before_stop(closed)
        if self._condition is not None:
            wanted &= has_changes(closed, self._condition.counted(closed) > 0)
            wanted &= closed.rows[N.END] <= self._condition.limit
        return wanted

    def _begins_before_stop(self, closed: ClosedTransactions) -> Flags:
        stop = self._sources[-1].stop
        before: Flags = closed.rows[N.START] < (NOWHERE if stop is None else stop)
        return before

    def _rest(self) -> Iterator[Transaction]:
        for batch in self._reader.finish():
            yield from self._decoded(batch)

    def _decoded(self, batch: pa.RecordBatch) -> Iterator[Transaction]:
        """Make transactions of their events. How one ended, what follows it may have decided."""
        for file, start, end, ending in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            transaction = self._assembled(self._reader.files[file], start, end)
            yield replace(transaction, ending=ENDINGS[ending])

    def _assembled(self, file: str, start: int, end: int) -> Transaction:
        if self._ranges is not None and file == self._sources[-1].name:
            return self._of_events(self._ranges.events(start, end))
        with self._sources[0].open() as earlier:  # it was in progress at the end of the log before
            return self._of_events(EventRanges(earlier, file).events(start, end))

    def _of_events(self, events: Iterator[Event]) -> Transaction:
        found = [transaction for event in events for transaction in self._assembler.feed(event)]
        return [*found, *self._assembler.finish()][0]


class _Reader(TransactionReader):
    """Notes, besides, where the format changes."""

    def __init__(self, target: SelectedTransactions) -> None:
        super().__init__(target)
        self._selected = target

    def _take(self, event: Event) -> Iterator[pa.RecordBatch]:
        self._selected.note_format_change(event)
        return super()._take(event)
