"""What a log contains, counted in one pass and in bounded memory."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from binspark.event import Event
from binspark.transactions.assembler import Assembler
from binspark.transactions.parallelism import Parallelism, ParallelismMeter
from binspark.transactions.transaction import TableChanges, Transaction

_LARGEST = 5


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
class Contents:
    """What was found in logs.

    Types and tables are tallied by name; a table's tally counts rows events and their bytes for each operation.
    """

    events: Tally = field(default_factory=Tally)
    types: dict[str, Tally] = field(default_factory=dict)
    tables: dict[tuple[str, str, str], Tally] = field(default_factory=dict)
    transactions: Tally = field(default_factory=Tally)
    endings: Counter[str] = field(default_factory=Counter)
    servers: dict[str, int] = field(default_factory=dict)
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    largest: list[Transaction] = field(default_factory=list)
    parallelism: Parallelism = field(default_factory=Parallelism)


class ContentsReader:
    """Counts what the events of one or more logs contain.

    wants_transaction   returns whether a transaction is counted
    wants_changes       returns whether the changes of a table by a transaction are counted
    """

    def __init__(
        self,
        wants_transaction: Callable[[Transaction], bool] = lambda _transaction: True,
        wants_changes: Callable[[TableChanges], bool] = lambda _changes: True,
    ) -> None:
        self._wants_transaction = wants_transaction
        self._wants_changes = wants_changes
        self.contents = Contents()
        self._assembler = Assembler()
        self._meter = ParallelismMeter()
        self._largest: list[tuple[int, int, Transaction]] = []

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
        self._extend_time(event.header.timestamp)

    def end_file(self) -> None:
        """Note that a file is complete: the logical clock restarts in the next."""
        self.contents.parallelism = self.contents.parallelism.followed_by(self._meter.result())
        self._meter = ParallelismMeter()

    def finish(self) -> Contents:
        """Return what was counted."""
        for transaction in self._assembler.finish():
            self._add(transaction)
        self.contents.largest = [item[2] for item in sorted(self._largest, reverse=True)]
        return self.contents

    def _add(self, transaction: Transaction) -> None:
        if not self._wants_transaction(transaction):
            return
        contents = self.contents
        contents.transactions.add(transaction.length)
        contents.endings[transaction.ending.value] += 1
        self._meter.add(transaction)
        for change in filter(self._wants_changes, transaction.changes):
            table = (change.schema, change.table, change.operation.value)
            contents.tables.setdefault(table, Tally()).add(change.bytes, change.events)
        heapq.heappush(self._largest, (transaction.length, -transaction.number, transaction))
        if len(self._largest) > _LARGEST:
            heapq.heappop(self._largest)

    def _extend_time(self, timestamp: int) -> None:
        if timestamp:
            contents = self.contents
            contents.first_timestamp = min(timestamp, contents.first_timestamp or timestamp)
            contents.last_timestamp = max(timestamp, contents.last_timestamp or timestamp)
