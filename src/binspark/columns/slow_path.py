"""Events that kernels leave to Python: new tables, statements, payloads, rows in unusual forms, and damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from binspark.columns.batches import OpenBatches, TableBatch
from binspark.columns.log_scan import event_size, frame_at
from binspark.columns.rewrite import FragmentStore, rewritten
from binspark.columns.scan_memory import INSIDE_PAYLOAD, ScanMemory
from binspark.errors import Unsupported
from binspark.event import (
    AnnotateRows,
    Event,
    EventDecoder,
    GtidEvent,
    GtidTagged,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    QueryCompressed,
    Rows,
    RowsQuery,
    TableMap,
    TransactionPayload,
)
from binspark.event.rows import ROWS_KINDS, RowOperation, unknown_table_id
from binspark.frames import EventCode, Frame, Framer, HeaderFlag, LogFormat
from binspark.frames.format import Family
from binspark.frames.payload import Limits
from binspark.kernels.layout import NO_THREAD, Operation, State
from binspark.kernels.layout import Table as T
from binspark.kernels.statements import end_statement
from binspark.schema.emptied import NONE_EMPTIED, Emptied, unknown_table
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.schema.table_map import from_table_map
from binspark.transactions.grammar import Role, boundary_of
from binspark.transactions.transaction import commit_of
from binspark.values.options import ValueOptions
from binspark.values.rows import RowChange, rows_of, unsupported_rows
from binspark.values.value import JsonDiffs

ScanBytes = Callable[[int, int, LogFormat], Iterator[TableBatch]]
"""Lets kernels read the events between two addresses."""

_MAX_TABLE_MAPS = 1 << 16
_COMPRESSED_ROWS = range(EventCode.WRITE_ROWS_COMPRESSED_V1, EventCode.DELETE_ROWS_COMPRESSED + 1)


class SlowPath:
    """Reads one event at a time, and lets the scan continue after it."""

    def __init__(self, batches: OpenBatches, history: SchemaHistory, scan_bytes: ScanBytes, limits: Limits) -> None:
        self._batches = batches
        self._state = batches.state
        self._selection = batches.selection
        self._history = history
        self._memory = ScanMemory(batches.state, scan_bytes, limits)
        self._limits = limits
        self._decoder = EventDecoder("", limits)
        self._framer = Framer()
        self._fragments = FragmentStore()
        self._table_maps: dict[int, tuple[TableMap, bytes]] = {}
        self._wants_transaction = self._selection.wants_gtid(None)
        self.disagreements = 0
        """How often a kernel refused what the reference decodes: a mistake in a kernel, which costs only time."""

    def begin_log(self, file: str, framer: Framer) -> None:
        """Begin another log, whose events a framer checks."""
        self._decoder = EventDecoder(file, self._limits)
        self._framer = framer

    def read_first_event(self, frame: Frame) -> None:
        """Read the first event of a log. Only in relay logs a transaction continues from file to file."""
        self._history.feed(self._decoder.decode(frame))
        if not frame.header.flags & HeaderFlag.RELAY_LOG:
            self.forget_transaction()

    def read_frame(self, frame: Frame) -> Iterator[TableBatch]:
        """Read an event that is not in the memory of the scan."""
        event = self._decoder.decode(frame)
        handler = self._HANDLERS.get(type(event.body))
        return iter(()) if handler is None else handler(self, event)

    def forget_transaction(self) -> None:
        """Discard the transaction in progress: the events that follow do not belong to it."""
        state = self._state
        state[State.TRANSACTION], state[State.TX_ROW] = -1, 0
        state[State.THREAD], state[State.ROWS_QUERY] = NO_THREAD, -1
        self._wants_transaction = self._selection.wants_gtid(None)
        self._select_thread(None)

    def read_event(self, *, refused: bool) -> Iterator[TableBatch]:
        """Read the event that the scan is at, and let it continue after it. Kernels may have `refused` it."""
        event = self._decoder.decode(self._frame(is_verified=not refused))
        handler = self._HANDLERS.get(type(event.body))
        if refused and isinstance(event.body, Rows):
            yield from self._rows_by_reference(event, refused=True)
        elif handler is not None:
            yield from handler(self, event)
        if isinstance(event.body, Rows) and event.body.ends_statement:
            self._state[State.ROWS_QUERY] = -1
        self.disagreements += refused  # the reference would have raised an error
        self.skip_event()

    def skip_event(self) -> None:
        """Move the scan to the position after the current event."""
        state = self._state
        at = int(state[State.AT])
        state[State.AT] = at + event_size(at)
        state[State.ROW_AT] = 0
        state[State.EVENTS] += 1

    def skip_rows_event(self) -> None:
        """Move the scan to the position after a rows event that kernels have decoded."""
        end_statement(self._state, int(self._state[State.AT]), event_size(int(self._state[State.AT])))
        self.skip_event()

    def keep_image(self) -> Iterator[TableBatch]:
        """Note which columns are in the images of the rows event that the scan is at."""
        tables = self._batches.tables
        body: Rows = self._decoder.decode(self._frame(is_verified=True)).body
        schema = tables.schema_of(body.table_id)
        assert schema is not None
        number = tables.slot(schema)
        yield from self._make_room_for_image(number)
        tables.slots[number].images.number(body)

    @property
    def _log_format(self) -> LogFormat:
        log_format = self._framer.format
        assert log_format is not None
        return log_format

    def _frame(self, *, is_verified: bool) -> Frame:
        """Frame the event that the scan is at."""
        frame = frame_at(self._state, self._framer, is_verified=is_verified)
        if not self._state[State.INNER]:
            self._state[State.CHECKSUM] = 1 if frame.format.checksum_length else 0
        return frame

    def _statement(self, event: Event) -> Iterator[TableBatch]:
        """Note DDL, after which a TABLE_MAP may mean another schema, and of a BEGIN in unusual words."""
        if boundary_of(event).role is Role.BEGINS:
            self._state[State.TX_ROW] = 0
            self._state[State.ROWS_QUERY] = -1
        self._state[State.THREAD] = event.body.thread_id
        if self._selection.thread_id is not None:
            self._select_thread(event.body.thread_id)
        before = len(self._history.entries)
        emptied = self._history.feed(event)
        if len(self._history.entries) != before:
            self._batches.tables.forget_ids()
        if emptied != NONE_EMPTIED and self._selects(event) and self._selection.metadata:
            yield from self._truncations(event, emptied)

    def _truncations(self, event: Event, emptied: Emptied) -> Iterator[TableBatch]:
        """Yield a row for each table that a statement empties."""
        tables, selection = self._batches.tables, self._selection
        known = {*tables.names(), *(selection.tables or ())}
        schemas = emptied.by_name(known, case_matters=self._history.catalog.case_matters)
        names = [*schemas]
        if emptied.database:
            others = [name for name in known if name not in schemas]
            names += sorted({name for name in others if name.partition(".")[0] == emptied.database})
        for number, name in enumerate(names):
            if selection.wants(name) and selection.wants_operation(RowOperation.TRUNCATE):
                schema = tables.last_version(name) or schemas.get(name) or unknown_table(name)
                yield from self._truncation(event, number, schema)

    def _truncation(self, event: Event, number: int, schema: TableSchema) -> Iterator[TableBatch]:
        """Yield a row without values, after the rows of the table before it."""
        batches, tables = self._batches, self._batches.tables
        if not tables.has_room(schema):
            yield from batches.flush()
            tables.forget_all()
        for other in list(tables.other_versions_of(schema)):
            yield from batches.flush_slot(other)
        slot = tables.slot(schema)
        yield from batches.flush_slot(slot)
        metadata = self._row_metadata(event, number, Operation.TRUNCATE, 0)
        tables.slots[slot].reference.add(RowChange(None, None), metadata, event.position)
        yield from batches.flush_slot(slot)

    def _table_map(self, event: Event) -> Iterator[TableBatch]:
        body: TableMap = event.body
        raw = event.frame.body
        if len(self._table_maps) >= _MAX_TABLE_MAPS:
            self._table_maps.clear()
        self._table_maps[body.table_id] = (body, raw)
        self._batches.tables.seen.add(f"{body.schema}.{body.table}")
        if body.has_type_metadata:
            yield from self._map(body, raw, event)

    def _map(self, body: TableMap, raw: bytes, event: Event) -> Iterator[TableBatch]:
        batches, tables, selection = self._batches, self._batches.tables, self._selection
        if selection.wants(f"{body.schema}.{body.table}") or selection.tx_rows:
            self._history.feed(event)
            schema = self._history.table_schema(body, event.position)
        elif self._state[State.INNER] == INSIDE_PAYLOAD:  # its rows are numbered together, so all of them are counted
            schema = from_table_map(body, mariadb=self._log_format.family is Family.MARIADB)
        else:
            if not tables.has_room_for_id:
                tables.forget_ids()
            tables.map_unwanted(body.table_id, raw)
            return
        if not tables.has_room(schema):
            yield from batches.flush()
            tables.forget_all()
        for number in list(tables.other_versions_of(schema)):
            yield from batches.flush_slot(number)
        tables.map(body.table_id, schema, raw)

    def _gtid(self, event: Event) -> Iterator[TableBatch]:
        transactions = self._batches.transactions
        if transactions.full:
            yield from self._batches.flush()
        gtid, commit_time = commit_of(event)
        transactions.begin(str(gtid) if gtid else "", commit_time, event.header.server_id)
        thread = event.body.thread_id if isinstance(event.body, MariadbGtidEvent) else None
        self._state[State.THREAD], self._state[State.ROWS_QUERY] = NO_THREAD if thread is None else thread, -1
        self._wants_transaction = self._selection.wants_gtid(gtid) and self._selection.wants_commit(commit_time)
        self._select_thread(thread)

    def _select_thread(self, thread_id: int | None) -> None:
        """Decide whether the rows of the transaction are selected, as far as its thread is known."""
        wanted = self._wants_transaction and self._selection.wants_thread(thread_id)
        self._state[State.SKIP_TRANSACTION] = not wanted

    def _rows_query(self, event: Event) -> Iterator[TableBatch]:
        """Keep the statement of the rows that follow."""
        if self._selection.origins:
            if self._batches.statements.full:
                yield from self._batches.flush()
            self._batches.statements.begin(event.body.query)

    def _rows(self, event: Event) -> Iterator[TableBatch]:
        """Decode rows that kernels do not decode; those that only look different are rewritten for them."""
        body: Rows = event.body
        if self._batches.tables.schema_of(body.table_id) is None and body.table_id in self._table_maps:
            table_map, raw = self._table_maps[body.table_id]
            if not table_map.has_type_metadata:
                self._refuse_without_metadata(event, table_map)
                return
            yield from self._map(table_map, raw, event._replace(body=table_map))
        if event.type_code in _COMPRESSED_ROWS:
            yield from self._memory.rewritten(rewritten(event), event)
        else:
            yield from self._rows_by_reference(event)

    def _refuse_without_metadata(self, event: Event, table_map: TableMap) -> None:
        """Refuse rows of a table whose TABLE_MAP ends after the column types, if they are selected."""
        selection, operation = self._selection, ROWS_KINDS[event.type_code].operation
        is_wanted = selection.wants(f"{table_map.schema}.{table_map.table}") and selection.wants_operation(operation)
        if is_wanted and self._selects(event):
            raise unsupported_rows(event)

    def _rows_by_reference(self, event: Event, *, refused: bool = False) -> Iterator[TableBatch]:
        """Decode rows in Python. Of an event that kernels refused, those before the wrong one are decoded already."""
        batches, selection = self._batches, self._selection
        schema = self._schema_of_rows(event)
        is_selected = self._selects(event)
        is_counted = selection.tx_rows or self._state[State.INNER] == INSIDE_PAYLOAD
        if schema is None or not (is_selected or is_counted):
            return
        number = batches.tables.slot(schema)
        slot = batches.tables.slots[number]
        if slot.kernel is not None and slot.kernel.rows:
            batches.cut_at_wrong_text(number)
            yield from batches.flush_slot(number)
        first = int(self._state[State.ROW_NUMBER]) if refused else 0
        operation = ROWS_KINDS[event.type_code].operation
        keep = is_selected and selection.wants(schema.name) and selection.wants_operation(operation)
        image = 0
        if keep and selection.images:
            yield from self._make_room_for_image(number)
            image = slot.images.number(event.body)
        self._state[State.DECODED] += event.header.event_size
        batches.tables.numbers[number, T.BYTES + Operation[operation.name]] += event.header.event_size
        yield from self._decode_rows(event, number, first, image, keep=keep)
        if slot.kernel is not None:
            yield from batches.flush_slot(number)

    def _schema_of_rows(self, event: Event) -> TableSchema | None:
        """Return the schema of the table of a rows event; None if its rows are not selected, or there are none."""
        body: Rows = event.body
        schema = self._batches.tables.schema_of(body.table_id)
        if schema is None and body.table_id not in self._table_maps and body.rows:
            raise unknown_table_id(body, event.position)
        return schema

    def _decode_rows(self, event: Event, number: int, first: int, image: int, *, keep: bool) -> Iterator[TableBatch]:
        """Decode the rows of an event from the `first` one on, and keep or only count them."""
        slot, selection = self._batches.tables.slots[number], self._selection
        operation = Operation[ROWS_KINDS[event.type_code].operation.name]
        columns = slot.plan.reference_columns if keep else slot.plan.unread_columns
        options = ValueOptions(undecodable=selection.options.undecodable, raw_documents=selection.options.exact)
        for row, change in enumerate(rows_of(event, columns, options)):
            if row < first:
                continue
            metadata = self._row_metadata(event, row, operation, image)
            if keep:
                if not selection.diffs:
                    _refuse_diffs(change, event)
                slot.reference.add(change, metadata, event.position)
            if slot.reference.rows >= selection.max_rows:
                yield from self._batches.flush_slot(number)

    def _make_room_for_image(self, number: int) -> Iterator[TableBatch]:
        images = self._batches.tables.slots[number].images
        if images.full:
            yield from self._batches.flush_slot(number)
            images.forget()

    def _selects(self, event: Event) -> bool:
        is_known = self._state[State.TRANSACTION] >= 0
        if self._state[State.SKIP_TRANSACTION] or not self._is_after_start(event):
            return False
        return self._selection.wants_event(event, committed=not is_known)

    def _is_after_start(self, event: Event) -> bool:
        return event.offset >= int(self._state[State.START_POSITION])

    def _row_metadata(self, event: Event, row: int, operation: int, image: int) -> dict[T, int]:
        state = self._state
        inside = state[State.INNER] == INSIDE_PAYLOAD
        numbers = {
            T.META_EVENT: event.offset,
            T.META_ROW: int(state[State.PAYLOAD_ROW]) if inside else row,
            T.META_TRANSACTION: int(state[State.TRANSACTION]),
            T.META_OP: operation,
            T.META_SERVER: event.header.server_id,
            T.META_TX_ROW: int(state[State.TX_ROW]),
            T.META_IMAGE: image,
            T.META_TIME: event.header.timestamp,
            T.META_THREAD: int(state[State.THREAD]),
            T.META_STATEMENT: int(state[State.ROWS_QUERY]),
        }
        state[State.PAYLOAD_ROW] += 1
        state[State.TX_ROW] += 1
        return numbers

    def _fragment(self, event: Event) -> Iterator[TableBatch]:
        complete = self._fragments.add(event)
        if complete is not None:
            yield from self._memory.rewritten(complete, event)

    def _payload(self, event: Event) -> Iterator[TableBatch]:
        """Expand a payload, unless none of its rows is selected. The thread of a transaction is inside its payload."""
        state, selection = self._state, self._selection
        skips = state[State.SKIP_TRANSACTION] and (selection.thread_id is None or not self._wants_transaction)
        if skips or not self._is_after_start(event) or not selection.may_want_inside(event):
            return iter(())
        return self._memory.payload(event)

    _HANDLERS: ClassVar[dict[type, Callable[[SlowPath, Event], Iterator[TableBatch]]]] = {
        Query: _statement,
        QueryCompressed: _statement,
        TableMap: _table_map,
        GtidEvent: _gtid,
        GtidTagged: _gtid,
        MariadbGtidEvent: _gtid,
        Rows: _rows,
        RowsQuery: _rows_query,
        AnnotateRows: _rows_query,
        PartialRowData: _fragment,
        TransactionPayload: _payload,
    }


def _refuse_diffs(change: RowChange, event: Event) -> None:
    """Refuse a document of which the row has only what changed."""
    if any(isinstance(value, JsonDiffs) for value in change.after or ()):
        message = "a partial update of a JSON document whose old value is not in the before image"
        raise Unsupported(f"{message}; set binlog_row_image=FULL on the source to have it logged", event.position)
