"""Which events and transactions are selected, by the same options that select rows.

tables, exclude_tables    of events: table maps, rows events, and statements that name the table. Of transactions:
                          those that change such a table, or have such a statement, with everything in them
operations                rows events with these operations, and transactions that have such
where                     rows events with such rows, and transactions that have such
start_position, …         events at these positions, and transactions that begin there
start_datetime, …         events with these times, and transactions that begin then
committed_from, …         the events of transactions that were committed then
include_gtids, …          the events of these transactions
server_id, thread_id      the events, and the transactions, of this server or connection
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from binspark.changes.statements import statement_tables
from binspark.columns.selection import Operations, Selection
from binspark.event import (
    AnnotateRows,
    Event,
    GtidEvent,
    GtidTagged,
    Load,
    MariadbGtidEvent,
    Query,
    Rows,
    RowsQuery,
    TableMap,
    TransactionPayload,
)
from binspark.event.table_map import TableMaps
from binspark.transactions.grammar import Progress, Role, begins_another, boundary_of, progress_after
from binspark.transactions.transaction import TableChanges, Transaction, commit_of

_MICROSECONDS = 1_000_000
_GTIDS = (GtidEvent, GtidTagged, MariadbGtidEvent)
_KEEPS_THREAD_UNKNOWN = (*_GTIDS, TransactionPayload)


class Held(Enum):
    """What becomes of the events that are held back."""

    STAY = 0
    RELEASE = 1
    DROP = 2


class Verdict(NamedTuple):
    """What becomes of an event, and of those that are held back before it; they come first.

    is_selected   the event is selected; with `is_held` that depends on the thread of its transaction
    """

    is_selected: bool
    is_held: bool = False
    held: Held = Held.STAY


@dataclass(slots=True)
class InTransaction:
    """What is known of the transaction in progress.

    is_wanted   whether its events are selected, by GTID, commit time and, once it is known, thread
    """

    progress: Progress = Progress.NONE
    is_wanted: bool = True
    is_thread_known: bool = False


class EventFilter:
    """Finds the events of one or more logs that are selected.

    Events of a transaction may be held back until its thread is known: at most those before its first statement.
    `has_rows` returns whether a rows event has rows that meet the condition of the selection, if it has one.

    transaction   the transaction in progress; `schema`: that of the last statement. `changes.listed_filter`, which
                  takes most events by itself, puts them here
    """

    def __init__(self, selection: Selection, has_rows: Callable[[Event], bool] | None = None) -> None:
        self._selection = selection
        self._has_rows = has_rows
        self.start = 0
        """The offset in the current log before which no event is selected."""
        self.transaction = InTransaction()
        self.schema = ""
        self.by_table = selection.tables is not None or bool(selection.excluded)
        self.by_operation = selection.operations is not Operations.ALL or has_rows is not None
        self._by_thread = selection.thread_id is not None
        self._maps: TableMaps[str] = TableMaps()
        self._held: list[Event] = []

    def select(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events that are selected, in their order."""
        for event in events:
            yield from self.feed(event)

    def feed(self, event: Event) -> list[Event]:
        """Take an event; return the events that are now known to be selected: usually this one or none."""
        verdict = self.decide(event)
        released = self._held if verdict.held is Held.RELEASE else []
        if verdict.held is not Held.STAY:
            self._held = []
        if verdict.is_held:
            self._held.append(event)
        elif verdict.is_selected:
            released = [*released, event]
        return released

    def decide(self, event: Event) -> Verdict:
        """Take an event; return what becomes of it."""
        begins = self._follow_transaction(event)
        is_wanted = self._wants(event)
        verdict = self._by_its_thread(event, is_wanted=is_wanted) if self._by_thread else Verdict(is_wanted)
        return verdict._replace(held=Held.DROP) if begins else verdict

    def wants_statement(self, statement: bytes) -> bool:
        """Return whether a statement names selected tables."""
        return any(map(self._selection.wants, statement_tables(statement, self.schema)))

    def _follow_transaction(self, event: Event) -> bool:
        """Note what is in progress after an event; return whether a transaction begins, or the event is in none."""
        role, now = boundary_of(event).role, self.transaction
        outside = role in (Role.OUTSIDE, Role.BREAKS) or (role is Role.JOINS and now.progress is Progress.NONE)
        if outside:
            begins = now.progress is Progress.NONE or role is Role.BREAKS
            if begins:
                self._begin(event)
                now.progress = Progress.NONE
            return begins
        begins = (now.progress is Progress.NONE or begins_another(role, now.progress)) and event.inner is None
        if begins:
            self._begin(event)
        if role is not Role.WRAPS:
            now.progress = progress_after(role, now.progress)
        return begins

    def _begin(self, event: Event) -> None:
        """Begin a transaction, or an event that belongs to none: what its first event says decides."""
        gtid, commit_time = (
            commit_of(event) if isinstance(event.body, _GTIDS) else (None, event.header.timestamp * _MICROSECONDS)
        )
        self.transaction.is_wanted = self._selection.wants_gtid(gtid) and self._selection.wants_commit(commit_time)
        self.transaction.is_thread_known = False

    def _wants(self, event: Event) -> bool:
        if isinstance(event.body, TableMap):
            self._note_table(event.body)
        elif isinstance(event.body, Query):
            self.schema = event.body.schema
        if not self.transaction.is_wanted or event.offset < self.start or not self._selection.wants_event(event):
            return False
        return not (self.by_table or self.by_operation) or self._is_about_selected(event)

    def _note_table(self, table_map: TableMap) -> None:
        self._maps[table_map.table_id] = f"{table_map.schema}.{table_map.table}"

    def _is_about_selected(self, event: Event) -> bool:
        """Return whether an event is about rows that are selected by table and operation."""
        body: Any = event.body
        if isinstance(body, Rows):
            table = self._maps.get(body.table_id, "")
            if not self._selection.wants_operation(body.operation) or not self._selection.wants(table):
                return False
            return self._has_rows is None or self._has_rows(event)
        if self.by_operation:
            return False
        if isinstance(body, TableMap | Load):
            return self._selection.wants(f"{body.schema}.{body.table}")
        return isinstance(body, Query | RowsQuery | AnnotateRows) and self.wants_statement(body.query)

    def _by_its_thread(self, event: Event, *, is_wanted: bool) -> Verdict:
        body, now = event.body, self.transaction
        thread_id = body.thread_id if isinstance(body, Query | Load | MariadbGtidEvent) else None
        if now.is_thread_known:
            return Verdict(is_wanted and now.is_wanted)
        if thread_id is not None:
            now.is_thread_known = True
            now.is_wanted = now.is_wanted and self._selection.wants_thread(thread_id)
            return Verdict(is_wanted and now.is_wanted, held=Held.RELEASE if now.is_wanted else Held.DROP)
        if not isinstance(body, _KEEPS_THREAD_UNKNOWN):
            now.is_wanted = False  # a transaction whose thread the log does not have
            return Verdict(is_selected=False, held=Held.DROP)
        return Verdict(is_wanted, is_held=is_wanted)


def wants_transaction(selection: Selection, transaction: Transaction, start: int = 0) -> bool:
    """Return whether a transaction is selected; `start` is where its log is read from."""
    timestamp = transaction.timestamp
    commit_time = transaction.immediate_commit_timestamp or timestamp * _MICROSECONDS
    if transaction.start < start or timestamp < selection.start_time:
        return False
    if selection.stop_time and timestamp >= selection.stop_time:
        return False
    if not selection.wants_commit(commit_time) or not selection.wants_gtid_text(transaction.gtid):
        return False
    if selection.server_id not in (None, transaction.server_id) or not selection.wants_thread(transaction.thread_id):
        return False
    return _touches(selection, transaction)


def wants_changes(selection: Selection, changes: TableChanges) -> bool:
    """Return whether the changes of a transaction in one table, with one operation, are selected."""
    return selection.wants_operation(changes.operation) and selection.wants(f"{changes.schema}.{changes.table}")


def _touches(selection: Selection, transaction: Transaction) -> bool:
    by_operation = selection.operations is not Operations.ALL
    if selection.tables is None and not selection.excluded and not by_operation:
        return True
    if any(wants_changes(selection, changes) for changes in transaction.changes):
        return True
    if by_operation:
        return False
    texts = (*transaction.texts, *(() if transaction.ddl is None else (transaction.ddl,)))
    named = {table for text in texts for table in statement_tables(text, transaction.schema or "")}
    return any(map(selection.wants, named)) or (selection.tables is None and not named and not transaction.changes)
