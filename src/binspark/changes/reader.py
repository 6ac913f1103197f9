"""Changed rows out of events, one at a time; and the number of rows of each transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from binspark.changes.change import Change
from binspark.columns.rewrite import FragmentStore
from binspark.errors import Malformed
from binspark.event import (
    Event,
    EventDecoder,
    FormatDescription,
    GtidEvent,
    GtidTagged,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    QueryCompressed,
    Rows,
    StartV3,
    TableMap,
    TransactionPayload,
)
from binspark.event.rows import RowOperation, unknown_table_id
from binspark.frames import Framer, HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import without_checksum
from binspark.schema.emptied import NONE_EMPTIED, Emptied, unknown_table
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.transactions.transaction import commit_of
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import RowChange, rows_of

if TYPE_CHECKING:
    from binspark.columns.selection import Selection


_COUNT_ONLY = ValueOptions(undecodable=Undecodable.BINARY)
_MAX_TABLE_MAPS = 4096
"""How many table maps are kept after the end of a statement; a server writes new ones for each statement."""


class ChangeReader:
    """Finds the rows that the events of one or more logs change.

    Events inside a payload must follow it, as `read_events` yields them. `tables` has the names of all tables that
    were seen, selected or not. Rows of events before the offset `start` are skipped.
    """

    def __init__(self, selection: Selection, history: SchemaHistory | None = None) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        self.tables: set[str] = set()
        self.start = 0
        self._options = ValueOptions(undecodable=selection.options.undecodable)
        self._maps: dict[int, TableMap] = {}
        self._schemas: dict[str, TableSchema] = {}
        self._fragments = FragmentStore()
        self._payload_rows = 0
        self._gtid: str | None = None
        self._in_transaction = False
        self._wants_transaction = selection.wants_gtid(None)
        self._thread_id: int | None = None

    def feed(self, event: Event) -> Iterator[Change]:
        """Take an event and yield the changes in it."""
        emptied = self.history.feed(event)
        if emptied != NONE_EMPTIED:
            return self._truncations(event, emptied)
        handler = self._HANDLERS.get(type(event.body))
        return iter(()) if handler is None else handler(self, event)

    def _truncations(self, event: Event, emptied: Emptied) -> Iterator[Change]:
        """Yield a change for each table that a statement empties."""
        schemas = {schema.name: schema for schema in emptied.tables}
        names = [*schemas]
        if emptied.database:
            others = {name for name in self.tables - schemas.keys() if name.partition(".")[0] == emptied.database}
            names += sorted(others)
        for row, name in enumerate(names):
            if self._wants(event, name, RowOperation.TRUNCATE):
                table = self._schemas.get(name) or schemas.get(name) or unknown_table(name)
                yield self._change(event, row, table, RowChange(None, None), RowOperation.TRUNCATE)

    def _begin_log(self, event: Event) -> Iterator[Change]:
        """Begin without a transaction in a server's own log. In relay logs, transactions continue in the next file."""
        if event.offset == FIRST_EVENT_OFFSET and not event.header.flags & HeaderFlag.RELAY_LOG:
            self._fragments = FragmentStore()
            self._gtid = self._thread_id = None
            self._in_transaction = False
            self._wants_transaction = self.selection.wants_gtid(None)
        return iter(())

    def _begin_transaction(self, event: Event) -> Iterator[Change]:
        gtid, commit_time = commit_of(event)
        self._gtid = None if gtid is None else str(gtid)
        self._in_transaction = True
        self._thread_id = event.body.thread_id if isinstance(event.body, MariadbGtidEvent) else None
        self._wants_transaction = self.selection.wants_gtid(gtid) and self.selection.wants_commit(commit_time)
        return iter(())

    def _note_thread(self, event: Event) -> Iterator[Change]:
        """Note the thread of a statement: that of BEGIN is the thread of the rows that follow."""
        self._thread_id = event.body.thread_id
        return iter(())

    def _begin_payload(self, _event: Event) -> Iterator[Change]:
        self._payload_rows = 0
        return iter(())

    def _map_table(self, event: Event) -> Iterator[Change]:
        """Remember the table of an id. A table map that contradicts the known schema is an error already here."""
        body: TableMap = event.body
        name = f"{body.schema}.{body.table}"
        self.tables.add(name)
        self._maps[body.table_id] = body
        if self.selection.wants(name):
            self._schemas[name] = self.history.table_schema(body, event.position)
        return iter(())

    def _join_fragments(self, event: Event) -> Iterator[Change]:
        """Take a fragment of a rows event (MariaDB); after the last one, take the complete event."""
        complete = self._fragments.add(event)
        if complete is None:
            return iter(())
        framer = Framer(without_checksum(event.frame.format), event.offset)
        frames = list(framer.feed(complete))
        if len(frames) != 1 or framer.pending_bytes:
            raise Malformed("the fragments of a rows event do not add up to one event", event.position)
        return self._rows(EventDecoder(event.file).decode(frames[0]))

    def _rows(self, event: Event) -> Iterator[Change]:
        rows: Rows = event.body
        table_map = self._maps.get(rows.table_id)
        if rows.ends_statement and len(self._maps) > _MAX_TABLE_MAPS:
            self._maps.clear()
        if table_map is not None:
            return self._rows_of(event, table_map)
        if rows.rows:  # one without rows only ends its statement
            raise unknown_table_id(rows, event.position)
        return iter(())

    def _rows_of(self, event: Event, table_map: TableMap) -> Iterator[Change]:
        """Decode selected rows. Inside a payload all rows are decoded, so that row numbers do not depend on filters."""
        operation = event.body.operation
        wanted = self._wants(event, f"{table_map.schema}.{table_map.table}", operation)
        if not wanted and event.inner is None:
            return
        table = self.history.table_schema(table_map, event.position)
        first = 0 if event.inner is None else self._payload_rows
        options = self._options if wanted else _COUNT_ONLY
        for row, images in enumerate(rows_of(event, table.columns, options), first):
            self._payload_rows = row + 1
            if wanted:
                yield self._change(event, row, table, images, operation)

    def _change(self, event: Event, row: int, table: TableSchema, images: RowChange, operation: RowOperation) -> Change:
        header = event.header
        position = (event.file, event.offset, row)
        return Change(*position, self._gtid, header.timestamp, header.server_id, operation, table, *images)

    def _wants(self, event: Event, table: str, operation: RowOperation) -> bool:
        selection = self.selection
        if not self._wants_transaction or not selection.wants_operation(operation):
            return False
        if event.offset < self.start or not selection.wants_thread(self._thread_id):
            return False
        return selection.wants_event(event, committed=not self._in_transaction) and selection.wants(table)

    _HANDLERS: ClassVar[dict[type, Callable[[ChangeReader, Event], Iterator[Change]]]] = {
        FormatDescription: _begin_log,
        StartV3: _begin_log,
        GtidEvent: _begin_transaction,
        GtidTagged: _begin_transaction,
        MariadbGtidEvent: _begin_transaction,
        Query: _note_thread,
        QueryCompressed: _note_thread,
        TransactionPayload: _begin_payload,
        TableMap: _map_table,
        PartialRowData: _join_fragments,
        Rows: _rows,
    }


RowCounts = Counter[tuple[str, str, RowOperation]]
"""Rows by schema, table and operation."""


class RowCounter:
    """Counts the rows of transactions while their events are read: `Assembler(watcher=counter.watch)`."""

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader
        self._counts: dict[int, RowCounts] = {}

    def watch(self, transaction: int, event: Event) -> None:
        """Take an event of a transaction."""
        for change in self._reader.feed(event):
            if change.op is RowOperation.TRUNCATE:
                continue
            counts = self._counts.setdefault(transaction, Counter())
            counts[change.schema, change.table, change.op] += 1

    def take(self, transaction: int) -> RowCounts:
        """Return the counts of a transaction, and forget them."""
        return self._counts.pop(transaction, Counter())
