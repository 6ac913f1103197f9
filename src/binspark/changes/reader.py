"""How many rows transactions change."""

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
    Rows,
    StartV3,
    TableMap,
    TransactionPayload,
)
from binspark.event.rows import RowOperation
from binspark.frames import Framer, HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import without_checksum
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.transactions.transaction import commit_of
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import RowChange, rows_of

if TYPE_CHECKING:
    from binspark.columns.selection import Selection


_ONLY_COUNTED = ValueOptions(undecodable=Undecodable.BINARY)
_MOST_TABLES = 4096
"""So many table ids are remembered over the end of a statement; a server maps its tables anew for each."""


class ChangeReader:
    """Tells which rows the events of one log after the other change.

    Events inside a payload come after it, as `read_events` yields them. `tables` holds the names of all tables that
    were seen, selected or not.
    """

    def __init__(self, selection: Selection, history: SchemaHistory | None = None) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        self.tables: set[str] = set()
        self._options = ValueOptions(undecodable=selection.options.undecodable)
        self._maps: dict[int, TableMap] = {}
        self._fragments = FragmentStore()
        self._payload_rows = 0
        self._gtid: str | None = None
        self._in_transaction = False
        self._wants_transaction = selection.wants_gtid(None)

    def feed(self, event: Event) -> Iterator[Change]:
        """Take an event and yield the changes that it holds."""
        self.history.feed(event)
        handler = self._HANDLERS.get(type(event.body))
        return iter(()) if handler is None else handler(self, event)

    def _begin_log(self, event: Event) -> Iterator[Change]:
        """Forget what a server's own log does not continue. In relay logs transactions go on from file to file."""
        if event.offset == FIRST_EVENT_OFFSET and not event.header.flags & HeaderFlag.RELAY_LOG:
            self._fragments = FragmentStore()
            self._gtid = None
            self._in_transaction = False
            self._wants_transaction = self.selection.wants_gtid(None)
        return iter(())

    def _begin_transaction(self, event: Event) -> Iterator[Change]:
        gtid, commit_time = commit_of(event)
        self._gtid = None if gtid is None else str(gtid)
        self._in_transaction = True
        self._wants_transaction = self.selection.wants_gtid(gtid) and self.selection.wants_commit(commit_time)
        return iter(())

    def _begin_payload(self, _event: Event) -> Iterator[Change]:
        self._payload_rows = 0
        return iter(())

    def _map_table(self, event: Event) -> Iterator[Change]:
        """Remember which table an id means. A shape that contradicts what is known of it is refused at once."""
        body: TableMap = event.body
        name = f"{body.schema}.{body.table}"
        self.tables.add(name)
        self._maps[body.table_id] = body
        if self.selection.wants(name):
            self.history.table_schema(body, event.position)
        return iter(())

    def _join_fragments(self, event: Event) -> Iterator[Change]:
        """Take a fragment of a rows event (MariaDB); with the last one, take the event."""
        whole = self._fragments.add(event)
        if whole is None:
            return iter(())
        framer = Framer(without_checksum(event.frame.format), event.offset)
        frames = list(framer.feed(whole))
        if len(frames) != 1 or framer.pending_bytes:
            raise Malformed("the fragments of a rows event are not one event", event.position)
        return self._rows(EventDecoder(event.file).decode(frames[0]))

    def _rows(self, event: Event) -> Iterator[Change]:
        rows: Rows = event.body
        table_map = self._maps.get(rows.table_id)
        if rows.ends_statement and len(self._maps) > _MOST_TABLES:
            self._maps.clear()
        if table_map is not None:
            return self._rows_of(event, table_map)
        if rows.rows:  # one without rows only ends its statement
            raise Malformed(f"rows of table {rows.table_id}, which no TABLE_MAP names", event.position)
        return iter(())

    def _rows_of(self, event: Event, table_map: TableMap) -> Iterator[Change]:
        """Decode rows if they are wanted; inside a payload all are, so that a row's number depends on no filter."""
        wanted = self._wants(event, f"{table_map.schema}.{table_map.table}")
        if not wanted and event.inner is None:
            return
        table = self.history.table_schema(table_map, event.position)
        first = 0 if event.inner is None else self._payload_rows
        options = self._options if wanted else _ONLY_COUNTED
        for row, images in enumerate(rows_of(event, table.columns, options), first):
            self._payload_rows = row + 1
            if wanted:
                yield self._change(event, row, table, images)

    def _change(self, event: Event, row: int, table: TableSchema, images: RowChange) -> Change:
        header, operation = event.header, event.body.operation
        place = (event.file, event.offset, row)
        return Change(*place, self._gtid, header.timestamp, header.server_id, operation, table, *images)

    def _wants(self, event: Event, table: str) -> bool:
        selection, rows = self.selection, event.body
        if not self._wants_transaction or not selection.wants_operation(rows.operation):
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
    }


RowCounts = Counter[tuple[str, str, RowOperation]]
"""Rows by schema, table and operation."""


class RowCounter:
    """Counts the rows of transactions as their events go by: `Assembler(watcher=counter.watch)`."""

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader
        self._counts: dict[int, RowCounts] = {}

    def watch(self, transaction: int, event: Event) -> None:
        """Take an event of a transaction."""
        for change in self._reader.feed(event):
            counts = self._counts.setdefault(transaction, Counter())
            counts[change.schema, change.table, change.op] += 1

    def take(self, transaction: int) -> RowCounts:
        """Return what was counted for a transaction, and forget it."""
        return self._counts.pop(transaction, Counter())
