"""What logs contain, counted in bulk, or event by event as far as it is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from binspark.changes.event_filter import EventFilter, wants_changes, wants_transaction
from binspark.columns.bulk_contents import BulkContents
from binspark.columns.row_counts import count_rows
from binspark.columns.selection import Selection
from binspark.errors import DecodeError
from binspark.event import Event
from binspark.files.log_head import read_head
from binspark.files.read import source_events
from binspark.files.sources import STANDARD_INPUT, LogSource, Paths, find_logs
from binspark.kernels import cache
from binspark.os_errors import source_errors
from binspark.transactions.contents import Contents, ContentsReader
from binspark.transactions.transaction import TableChanges, Transaction

if TYPE_CHECKING:
    from binspark.files.condition_counts import ConditionCounts


def can_count_in_bulk(source: LogSource) -> bool:
    """Return whether a log can be counted in bulk: it can be read twice, and has a single format."""
    if source.name == STANDARD_INPUT:
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
        bulk = BulkContents()
        for source in sources:
            count_contents(source, bulk)
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


def count_contents(source: LogSource, contents: BulkContents) -> None:
    """Count a log. What comes before damage is counted before the error is raised."""
    with source_errors(source.name), source.open() as file:
        first = read_head(file, source.name).frame
        contents.contents.servers.setdefault(first.format.server_version, first.header.server_id)
        damage: DecodeError | None = None
        try:
            contents.read_events(file.readinto, source.name)
        except DecodeError as error:
            damage = error
        file.seek(0)
        try:
            contents.read_transactions(file.readinto, source.name)
        except DecodeError as error:
            damage = damage or error
        contents.end_file()
        if damage is not None:
            raise damage
