"""What a log contains, counted in one pass and in bounded memory."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from binspark.event import Event
from binspark.hidden_secrets import hide_in_bytes
from binspark.html_table import html_table
from binspark.transactions.assembler import Assembler
from binspark.transactions.draft import CountRows
from binspark.transactions.parallelism import Parallelism, ParallelismMeter
from binspark.transactions.transaction import TableChanges, Transaction

MAX_LARGEST = 5
_MAX_TEXT = 1024
PERIOD_SECONDS = 60


@dataclass(slots=True)
class Tally:
    """How many, and how many bytes."""

    count: int = 0
    bytes: int = 0

    def add(self, size: int, count: int = 1) -> None:
        """Add bytes, of one thing or of several."""
        self.count += count
        self.bytes += size


@dataclass(slots=True)
class TableTally:
    """How a table is changed in one way.

    events     rows events; `bytes`: theirs, and those of the table maps and statements before them
    rows       their rows, as far as they can be counted
    uncounted  transactions whose rows of this table cannot be counted
    """

    events: int = 0
    bytes: int = 0
    rows: int = 0
    uncounted: int = 0

    def add(self, other: TableTally) -> None:
        """Add what was counted elsewhere."""
        self.events += other.events
        self.bytes += other.bytes
        self.rows += other.rows
        self.uncounted += other.uncounted


@dataclass(slots=True)
class Period:
    """What the transactions of a minute contain, by the time at which they began."""

    transactions: int = 0
    rows: int = 0
    bytes: int = 0

    def add(self, other: Period) -> None:
        """Add another period."""
        self.transactions += other.transactions
        self.rows += other.rows
        self.bytes += other.bytes


class LargeTransaction(NamedTuple):
    """One of the largest transactions: what is shown of it."""

    length: int
    file: str
    start: int
    gtid: str | None
    text: bytes | None
    changes: tuple[str, ...]
    ending: str

    @classmethod
    def of(cls, transaction: Transaction) -> LargeTransaction:
        """Return what is shown of a transaction."""
        return cls(
            transaction.length,
            transaction.file,
            transaction.start,
            transaction.gtid,
            next(iter(transaction.texts), None),
            tuple(f"{each.operation.value} {each.schema}.{each.table}" for each in transaction.changes),
            transaction.ending.value,
        )


@dataclass(slots=True)
class Contents:
    """What was found in logs.

    types     events by the names of their types
    tables    changes by schema, table and operation
    periods   transactions by the minute in which they began, in seconds since 1970
    """

    events: Tally = field(default_factory=Tally)
    types: dict[str, Tally] = field(default_factory=dict)
    tables: dict[tuple[str, str, str], TableTally] = field(default_factory=dict)
    transactions: Tally = field(default_factory=Tally)
    endings: Counter[str] = field(default_factory=Counter)
    servers: dict[str, int] = field(default_factory=dict)
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    largest: list[LargeTransaction] = field(default_factory=list)
    periods: dict[int, Period] = field(default_factory=dict)
    parallelism: Parallelism = field(default_factory=Parallelism)

    def _repr_html_(self) -> str:
        """Return what was found as tables, for notebooks."""
        tables = (
            (f"{schema}.{table}", operation, tally.rows, tally.events, tally.bytes)
            for (schema, table, operation), tally in sorted(self.tables.items(), key=lambda item: -item[1].bytes)
        )
        types = ((name, tally.count, tally.bytes) for name, tally in sorted(self.types.items()))
        title = f"{self.events.count:,} events in {self.transactions.count:,} transactions, {self.events.bytes:,} bytes"
        return html_table(("table", "operation", "rows", "events", "bytes"), tables, title) + html_table(
            ("event type", "events", "bytes"), types
        )

    def without_secrets(self) -> Contents:
        """Return the same contents with the beginning of statements, in which passwords are hidden."""
        largest = [
            each if each.text is None else each._replace(text=hide_in_bytes(each.text[:_MAX_TEXT]))
            for each in self.largest
        ]
        return replace(self, largest=largest)

    def extend_time(self, first: int, last: int) -> None:
        """Take the times of events into account; 0 is not a time."""
        if first:
            self.first_timestamp = min(first, self.first_timestamp or first)
        if last:
            self.last_timestamp = max(last, self.last_timestamp or last)

    def keep_largest(self, found: Iterable[LargeTransaction]) -> None:
        """Keep the largest transactions; of those of the same size, the ones that come first."""
        self.largest = heapq.nsmallest(MAX_LARGEST, [*self.largest, *found], key=lambda one: -one.length)


class ContentsReader:
    """Counts what the events of one or more logs contain.

    wants_transaction   returns whether a transaction is counted
    wants_changes       returns whether the changes of a table by a transaction are counted
    count_rows          counts the rows of an event
    """

    def __init__(
        self,
        wants_transaction: Callable[[Transaction], bool] = lambda _transaction: True,
        wants_changes: Callable[[TableChanges], bool] = lambda _changes: True,
        count_rows: CountRows | None = None,
    ) -> None:
        self._wants_transaction = wants_transaction
        self._wants_changes = wants_changes
        self.contents = Contents()
        self._assembler = Assembler(count_rows=count_rows)
        self._meter = ParallelismMeter()

    def feed(self, event: Event) -> None:
        """Count an event, and the transaction that it may end."""
        self.count(event)
        self.follow(event)

    def follow(self, event: Event) -> None:
        """Take an event that may end a transaction, which is counted then."""
        for transaction in self._assembler.feed(event):
            self._add(transaction)

    def count(self, event: Event) -> None:
        """Count an event."""
        contents, size = self.contents, event.header.event_size
        if event.inner is None:
            contents.events.add(size)
        contents.types.setdefault(event.type, Tally()).add(size)
        contents.servers.setdefault(event.frame.format.server_version, event.header.server_id)
        contents.extend_time(event.header.timestamp, event.header.timestamp)

    def end_file(self) -> None:
        """Note that a file is complete: the logical clock restarts in the next."""
        self.contents.parallelism = self.contents.parallelism.followed_by(self._meter.result())
        self._meter = ParallelismMeter()

    def finish(self) -> Contents:
        """Return what was counted."""
        for transaction in self._assembler.finish():
            self._add(transaction)
        return self.contents

    def _add(self, transaction: Transaction) -> None:
        if not self._wants_transaction(transaction):
            return
        contents = self.contents
        contents.transactions.add(transaction.length)
        contents.endings[transaction.ending.value] += 1
        self._meter.add(transaction)
        rows = 0
        for change in filter(self._wants_changes, transaction.changes):
            key = (change.schema, change.table, change.operation.value)
            counted, size = change.rows or 0, change.bytes + change.overhead
            tally = TableTally(change.events, size, counted, int(change.rows is None))
            contents.tables.setdefault(key, TableTally()).add(tally)
            rows += counted
        minute = transaction.timestamp // PERIOD_SECONDS * PERIOD_SECONDS
        contents.periods.setdefault(minute, Period()).add(Period(1, rows, transaction.length))
        if len(contents.largest) < MAX_LARGEST or transaction.length > contents.largest[-1].length:
            contents.keep_largest([LargeTransaction.of(transaction)])
