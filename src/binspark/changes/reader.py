"""Changed rows out of events, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from binspark.changes.change import Change
from binspark.columns.rewrite import FragmentStore
from binspark.errors import Malformed
from binspark.event import (
    AnnotateRows,
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
    RowsQuery,
    StartV3,
    TableMap,
    TransactionPayload,
)
from binspark.event.rows import RowOperation, unknown_table_id
from binspark.event.rows_query import shown_statement
from binspark.event.table_map import TableMaps
from binspark.frames import Framer, HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import without_checksum
from binspark.schema.emptied import NONE_EMPTIED, Emptied, unknown_table
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.transactions.grammar import Role, boundary_of
from binspark.transactions.transaction import commit_of
from binspark.values.exact import exact_columns
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import RowChange, rows_of, unsupported_rows

if TYPE_CHECKING:
    from binspark.columns.selection import Selection


_COUNT_ONLY = ValueOptions(undecodable=Undecodable.BINARY)
"""How many table maps are kept after the end of a statement; a server writes new ones for each statement."""


class ChangeReader:
    """Finds the rows that the events of one or more logs change.

    Events inside a payload must follow it, as `read_events` yields them. `tables` has the names of all tables that
    were seen, selected or not. Rows of events before the offset `start` are skipped. With `exact`, values are those of
    `binspark.values.exact`.
    """

    def __init__(self, selection: Selection, history: SchemaHistory | None = None, *, exact: bool = False) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        self.tables: set[str] = set()
        self.start = 0
        self._exact = exact
        self._options = ValueOptions(undecodable=selection.options.undecodable, raw_documents=exact)
        self._maps: TableMaps[TableMap] = TableMaps()
        self._schemas: dict[str, TableSchema] = {}
        self._fragments = FragmentStore()
        self._payload_rows = 0
        self._gtid: str | None = None
        self._thread_id: int | None = None
        self._statement: str | None = None
        self._in_transaction = False
        self._wants_transaction = selection.wants_gtid(None)

    def feed(self, event: Event) -> Iterator[Change]:
        """Take an event and yield the changes in it."""
        emptied = self.history.feed(event)
        handler = self._HANDLERS.get(type(event.body))
        found = iter(()) if handler is None else handler(self, event)
        return found if emptied == NONE_EMPTIED else self._truncations(event, emptied)

    def _truncations(self, event: Event, emptied: Emptied) -> Iterator[Change]:
        """Yield a change for each table that a statement empties."""
        known = {*self.tables, *(self.selection.tables or ())}
        schemas = emptied.by_name(known, case_matters=self.history.catalog.case_matters)
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
            self.forget_transaction()
        return iter(())

    def forget_transaction(self) -> None:
        """Discard the transaction in progress: the events that follow do not belong to it."""
        self._fragments = FragmentStore()
        self._gtid = self._thread_id = self._statement = None
        self._in_transaction = False
        self._wants_transaction = self.selection.wants_gtid(None)

    def _begin_transaction(self, event: Event) -> Iterator[Change]:
        gtid, commit_time = commit_of(event)
        self._gtid = None if gtid is None else str(gtid)
        self._thread_id = event.body.thread_id if isinstance(event.body, MariadbGtidEvent) else None
        self._statement = None
        self._in_transaction = True
        self._wants_transaction = self.selection.wants_gtid(gtid) and self.selection.wants_commit(commit_time)
        return iter(())

    def _note_query(self, event: Event) -> Iterator[Change]:
        """Note the thread of a statement: that of BEGIN is the thread of the rows that follow."""
        self._thread_id = event.body.thread_id
        if boundary_of(event).role is Role.BEGINS:
            self._statement = None
        return iter(())

    def _note_statement(self, event: Event) -> Iterator[Change]:
        """Note the statement of the rows that follow."""
        self._statement = shown_statement(event.body.query)
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
        if body.has_type_metadata and self.selection.wants(name):
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
        if table_map is not None:
            yield from self._rows_of(event, table_map)
        elif rows.rows:  # one without rows only ends its statement
            raise unknown_table_id(rows, event.position)
        if rows.ends_statement:
            self._statement = None

    def _rows_of(self, event: Event, table_map: TableMap) -> Iterator[Change]:
        """Decode selected rows. Inside a payload all rows are decoded, so that row numbers do not depend on filters."""
        operation = event.body.operation
        wanted = self._wants(event, f"{table_map.schema}.{table_map.table}", operation)
        if not wanted and event.inner is None:
            return
        if not table_map.has_type_metadata:
            raise unsupported_rows(event)
        table = self.history.table_schema(table_map, event.position)
        first = 0 if event.inner is None else self._payload_rows
        options = self._options if wanted else _COUNT_ONLY
        columns = exact_columns(table.columns) if self._exact else table.columns
        for row, images in enumerate(rows_of(event, columns, options), first):
            self._payload_rows = row + 1
            if wanted:
                yield self._change(event, row, table, images, operation)

    def _change(self, event: Event, row: int, table: TableSchema, images: RowChange, operation: RowOperation) -> Change:
        header = event.header
        return Change(
            file=event.file,
            pos=event.offset,
            row=row,
            gtid=self._gtid,
            timestamp=header.timestamp,
            server_id=header.server_id,
            thread_id=self._thread_id,
            statement=self._statement,
            op=operation,
            table_schema=table,
            before_image=images.before,
            after_image=images.after,
        )

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
        TransactionPayload: _begin_payload,
        TableMap: _map_table,
        PartialRowData: _join_fragments,
        Rows: _rows,
        Query: _note_query,
        QueryCompressed: _note_query,
        RowsQuery: _note_statement,
        AnnotateRows: _note_statement,
    }
