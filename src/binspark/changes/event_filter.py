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
from typing import Any

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
from binspark.transactions.grammar import Progress, Role, begins_another, boundary_of, progress_after
from binspark.transactions.transaction import TableChanges, Transaction, commit_of

_MICROSECONDS = 1_000_000
_MAX_TABLE_MAPS = 4096
_GTIDS = (GtidEvent, GtidTagged, MariadbGtidEvent)
_KEEPS_THREAD_UNKNOWN = (*_GTIDS, TransactionPayload)


class EventFilter:
    """Finds the events of one or more logs that are selected.

    Events of a transaction may be held back until its thread is known: at most those before its first statement.
    `has_rows` returns whether a rows event has rows that meet the condition of the selection, if it has one.
    """

    def __init__(self, selection: Selection, has_rows: Callable[[Event], bool] | None = None) -> None:
        self._selection = selection
        self._has_rows = has_rows
        self.start = 0
        """The offset in the current log before which no event is selected."""
        self._by_table = selection.tables is not None or bool(selection.excluded)
        self._by_operation = selection.operations is not Operations.ALL or has_rows is not None
        self._by_thread = selection.thread_id is not None
        self._maps: dict[int, str] = {}
        self._schema = ""
        self._progress = Progress.NONE
        self._wants_transaction = True
        self._thread_known = False
        self._held: list[Event] = []

    def select(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events that are selected, in their order."""
        for event in events:
            yield from self.feed(event)

    def feed(self, event: Event) -> list[Event]:
        """Take an event; return the events that are now known to be selected: usually this one or none."""
        self._follow_transaction(event)
        is_wanted = self._wants(event)
        if not self._by_thread:
            return [event] if is_wanted else []
        return self._feed_by_thread(event, is_wanted=is_wanted)

    def _follow_transaction(self, event: Event) -> None:
        role = boundary_of(event).role
        outside = role in (Role.OUTSIDE, Role.BREAKS) or (role is Role.JOINS and self._progress is Progress.NONE)
        if outside:
            if self._progress is Progress.NONE or role is Role.BREAKS:
                self._begin(event)
                self._progress = Progress.NONE
            return
        is_new = self._progress is Progress.NONE or begins_another(role, self._progress)
        if is_new and event.inner is None:
            self._begin(event)
        if role is not Role.WRAPS:
            self._progress = progress_after(role, self._progress)

    def _begin(self, event: Event) -> None:
        """Begin a transaction, or an event that belongs to none: what its first event says decides."""
        gtid, commit_time = (
            commit_of(event) if isinstance(event.body, _GTIDS) else (None, event.header.timestamp * _MICROSECONDS)
        )
        self._wants_transaction = self._selection.wants_gtid(gtid) and self._selection.wants_commit(commit_time)
        self._thread_known = False
        self._held.clear()

    def _wants(self, event: Event) -> bool:
        if isinstance(event.body, TableMap):
            self._note_table(event.body)
        elif isinstance(event.body, Query):
            self._schema = event.body.schema
        if not self._wants_transaction or event.offset < self.start or not self._selection.wants_event(event):
            return False
        return not (self._by_table or self._by_operation) or self._is_about_selected(event)

    def _note_table(self, table_map: TableMap) -> None:
        if len(self._maps) > _MAX_TABLE_MAPS:
            self._maps.clear()
        self._maps[table_map.table_id] = f"{table_map.schema}.{table_map.table}"

    def _is_about_selected(self, event: Event) -> bool:
        """Return whether an event is about rows that are selected by table and operation."""
        body: Any = event.body
        if isinstance(body, Rows):
            table = self._maps.get(body.table_id, "")
            if not self._selection.wants_operation(body.operation) or not self._selection.wants(table):
                return False
            return self._has_rows is None or self._has_rows(event)
        if self._by_operation:
            return False
        return any(map(self._selection.wants, _tables_of(body, self._schema)))

    def _feed_by_thread(self, event: Event, *, is_wanted: bool) -> list[Event]:
        body: Any = event.body
        thread_id = body.thread_id if isinstance(body, Query | Load | MariadbGtidEvent) else None
        if thread_id is not None and not self._thread_known:
            self._thread_known = True
            self._wants_transaction = self._wants_transaction and self._selection.wants_thread(thread_id)
            released = self._held if self._wants_transaction else []
            self._held = []
            return [*released, event] if is_wanted and self._wants_transaction else released
        if not self._thread_known and not isinstance(body, _KEEPS_THREAD_UNKNOWN):
            self._wants_transaction = False  # a transaction whose thread the log does not have
            self._held.clear()
            return []
        if not self._thread_known:
            if is_wanted:
                self._held.append(event)
            return []
        return [event] if is_wanted and self._wants_transaction else []


def _tables_of(body: Any, schema: str) -> Iterable[str]:
    """Return the tables that an event is about; `schema` is that of the last statement."""
    if isinstance(body, TableMap | Load):
        return (f"{body.schema}.{body.table}",)
    return statement_tables(body.query, schema) if isinstance(body, Query | RowsQuery | AnnotateRows) else ()


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
