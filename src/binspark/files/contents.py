"""What logs contain, counted in bulk, or event by event as far as it is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from binspark.changes.event_filter import EventFilter, wants_changes, wants_transaction
from binspark.columns.arena import ReadInto
from binspark.columns.bulk_contents import BulkContents
from binspark.columns.row_counts import count_rows
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import ClosedTransactions, has_changes, selected_changes
from binspark.errors import DecodeError, SchemaError
from binspark.event import Event
from binspark.files.log_head import read_head
from binspark.files.positions import NOWHERE
from binspark.files.read import source_events
from binspark.files.sources import LogSource, Paths, find_logs
from binspark.files.standard_input import STANDARD_INPUT, is_kept
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode
from binspark.kernels import cache
from binspark.kernels.layout import Header
from binspark.kernels.list_layout import ChangeNumber as C
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.os_errors import source_errors
from binspark.schema.history import SchemaHistory
from binspark.transactions.contents import Contents, ContentsReader
from binspark.transactions.transaction import TableChanges, Transaction

if TYPE_CHECKING:
    import pyarrow as pa

    from binspark.changes.listed_filter import ListedFilter
    from binspark.files.condition_changes import ConditionChanges
    from binspark.files.condition_counts import ConditionCounts

_ALL = Selection()
Pass = Callable[[ReadInto, str, int | None], None]
"""Reads a log up to an offset."""


def can_count_in_bulk(source: LogSource) -> bool:
    """Return whether a log can be counted in bulk: it can be read twice, and has a single format."""
    if source.name == STANDARD_INPUT and not is_kept():
        return False
    with source_errors(source.name), source.open() as file:
        if not file.seekable():
            return False
        try:
            head = read_head(file, source.name)
        except DecodeError:
            return False
    return head.can_split


def stat(paths: Paths) -> Contents:
    """Return what one or more logs contain: event types, tables and operations, the largest transactions, parallelism.

    >>> binspark.stat("binlog.*").tables  # doctest: +SKIP
    """
    cache.enable()
    sources = find_logs(paths)
    if all(map(can_count_in_bulk, sources)):
        bulk = BulkCounter()
        for source in sources:
            bulk.count(source)
        return bulk.finish()
    reader = ContentsReader(count_rows=count_rows)
    for source in sources:
        for event in source_events(source):
            reader.feed(event)
        reader.end_file()
    return reader.finish()


class SelectedContents:
    """Counts the events and transactions of logs that are selected, one at a time.

    With a condition, the reader of the events feeds them to `counts`. `on_transaction` is called with each
    transaction that is counted, with the changes that are.
    """

    def __init__(
        self,
        selection: Selection,
        counts: ConditionCounts | None = None,
        on_transaction: Callable[[Transaction], None] = lambda _transaction: None,
    ) -> None:
        self._selection = selection
        self._counts = counts
        self._on_transaction = on_transaction
        self._wanted = EventFilter(selection, None if counts is None else counts.is_selected)
        self._reader = ContentsReader(
            self._wants_transaction,
            self._wants_changes,
            count_rows if counts is None else lambda _event, _table: counts.count,
        )

    def read(self, events: Iterable[Event], start: int = 0) -> None:
        """Count a log, of which nothing before an offset is selected."""
        self._wanted.start = start
        try:
            for event in events:
                for selected in self._wanted.feed(event):
                    self._reader.count(selected)
                self._reader.follow(event)
        finally:
            self._reader.end_file()

    def finish(self) -> Contents:
        """Return what was counted."""
        return self._reader.finish()

    def _wants_transaction(self, transaction: Transaction) -> bool:
        if not wants_transaction(self._selection, transaction, self._wanted.start):
            return False
        changes = tuple(filter(self._wants_changes, transaction.changes))
        if self._counts is not None and not changes:
            return False
        self._on_transaction(replace(transaction, changes=changes))
        return True

    def _wants_changes(self, changes: TableChanges) -> bool:
        return wants_changes(self._selection, changes) and (self._counts is None or bool(changes.rows))


def _stop_at(damage: DecodeError | SchemaError, file: LogFile, stop: int | None) -> int | None:
    """Return where events end before damage: what lists events without their rows does not find all of it.

    Inside a compressed transaction it does, and events before it are counted.
    """
    offset = damage.position.offset
    if not offset or file.read_at(offset + Header.TYPE, 1) == bytes([EventCode.TRANSACTION_PAYLOAD]):
        return stop
    return offset


class BulkCounter(BulkContents):
    """Counts in bulk what is selected of one log after the other: the same as `SelectedContents` counts, only faster.

    `history` is what is known of tables, for a condition.
    """

    def __init__(self, selection: Selection = _ALL, history: SchemaHistory | None = None) -> None:
        self._selection = selection
        self._filter: ListedFilter | None = None
        self._counts: ConditionCounts | None = None
        self._condition: ConditionChanges | None = None
        self._has_failed = False
        if selection.where is not None:
            from binspark.files.condition_changes import ConditionChanges
            from binspark.files.condition_counts import ConditionCounts

            known = history or SchemaHistory()
            self._counts, self._condition = ConditionCounts(selection, known), ConditionChanges(selection, known)
        if selection != _ALL:
            from binspark.changes.listed_filter import ListedFilter

            self._filter = ListedFilter(selection, self._counts)
        super().__init__(self._filter)

    def count(self, source: LogSource) -> None:
        """Count a log, up to where it stops. What comes before damage is counted before the error is raised."""
        if self._filter is not None:
            self._filter.start = source.start
        if self._counts is not None and self._condition is not None:
            self._counts.begin_source(source)
            self._condition.begin_source(source)
        if source.start == NOWHERE:  # it may define tables
            return
        with source_errors(source.name), source.open() as file:
            self.begin_file(read_head(file, source.name).format.server_version)
            damage: DecodeError | SchemaError | None = None
            self._has_failed = False
            stop = source.stop
            for read in self.passes():
                file.seek(0)
                try:
                    read(file.readinto, source.name, stop)
                except (DecodeError, SchemaError) as error:
                    if source.stop is None or (error.position.offset or 0) < source.stop:
                        damage = damage or error
                        if read == self.read_transactions:
                            stop = _stop_at(error, file, stop)
            self.end_file()
            if damage is not None:
                raise damage

    def passes(self) -> tuple[Pass, Pass]:
        """Return what reads a log: transactions first, because that finds all damage, and events end before it."""
        return self.read_transactions, self.read_events

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Count the transactions that are selected."""
        if self._filter is None:
            return super().batches(closed)
        if self._has_failed:
            return iter(())
        from binspark.changes.transaction_filter import wanted_transactions

        wanted = wanted_transactions(self._selection, closed, self._filter.start)
        changes = selected_changes(self._selection, closed)
        if self._condition is not None:
            rows = self._condition.counted(closed)
            changes &= rows > 0
            wanted &= has_changes(closed, changes) & (closed.rows[N.END] <= self._condition.limit)
            closed.changes[C.ROWS] = rows
        if wanted.any():
            self.count_transactions(closed.taken(wanted, changes), closed.taken(wanted, np.ones_like(changes)))
        error = None if self._condition is None else self._condition.error_in(closed)
        if error is not None:
            self._has_failed = True
            raise error
        return iter(())
