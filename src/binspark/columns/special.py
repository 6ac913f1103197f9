"""Events that kernels hand to Python: new tables, statements, payloads, rows in unusual forms, and damage."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from ctypes import string_at
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from binspark.columns.arena import SLACK, Block, fill
from binspark.columns.rewrite import FragmentStore, rewritten
from binspark.errors import DecodeError, Malformed, Truncated, Unsupported
from binspark.event import (
    Event,
    EventDecoder,
    GtidEvent,
    GtidTagged,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    QueryCompressed,
    Rows,
    TableMap,
    TransactionPayload,
)
from binspark.event.rows import ROWS_KINDS
from binspark.frames import EventCode, Frame, Framer, HeaderFlag
from binspark.frames.format import Family
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.payload import Limits, PayloadReader, without_checksum
from binspark.kernels.layout import State
from binspark.kernels.layout import Table as T
from binspark.schema.table_map import from_table_map
from binspark.transactions.transaction import commit_of
from binspark.values.options import ValueOptions
from binspark.values.rows import RowChange, rows_of
from binspark.values.value import JsonDiffs

if TYPE_CHECKING:
    from binspark.columns.reader import BatchReader, TableBatch

_OPERATIONS = {"insert": 0, "update": 1, "delete": 2}
_WINDOW = 4 << 20
_MOST_TABLE_MAPS = 1 << 16
_SAVED = (State.AT, State.END, State.CHECKSUM, State.INNER, State.OUTER_OFFSET, State.ROW_AT, State.ROW_NUMBER)
_COMPRESSED_ROWS = range(EventCode.WRITE_ROWS_COMPRESSED_V1, EventCode.DELETE_ROWS_COMPRESSED + 1)


class SpecialEvents:
    """Deals with one event at a time and lets the scan go on behind it."""

    def __init__(self, reader: BatchReader, limits: Limits) -> None:
        self._reader = reader
        self._limits = limits
        self._decoder = EventDecoder("", limits)
        self._fragments = FragmentStore()
        self._window: Block = np.zeros(_WINDOW + SLACK, dtype=np.uint8)
        self._table_maps: dict[int, tuple[TableMap, bytes]] = {}
        self.disagreements = 0
        """How often a kernel refused what the reference reads: a mistake in a kernel, which costs only time."""

    def begin_file(self, file: str) -> None:
        """Begin another log."""
        self._decoder = EventDecoder(file, self._limits)

    def see(self, frame: Frame) -> None:
        """Take the first event of a log. Only in relay logs a transaction goes on from file to file."""
        self._reader.history.feed(self._decoder.decode(frame))
        if not frame.header.flags & HeaderFlag.RELAY_LOG:
            self.begin_transactions()

    def begin_transactions(self) -> None:
        """Forget the transaction that is open: what comes next is none of it."""
        state = self._reader.state
        state[State.TRANSACTION], state[State.TX_ROW] = -1, 0
        state[State.SKIP_TRANSACTION] = not self._reader.selection.wants_gtid(None)

    def handle(self, *, refused: bool) -> Iterator[TableBatch]:
        """Deal with the event that the scan stands at, and step over it."""
        at = int(self._reader.state[State.AT])
        size = max(_event_size(at), HEADER_LENGTH)
        event = self._decoder.decode(self._frame(string_at(at, size)))
        if refused:
            yield from self._refused(event)
        else:
            handler = self._HANDLERS.get(type(event.body))
            if handler is not None:
                yield from handler(self, event)
        self.step_over()

    def step_over(self) -> None:
        """Let the scan go on behind the event that it stands at."""
        state = self._reader.state
        at = int(state[State.AT])
        state[State.AT] = at + _event_size(at)
        state[State.ROW_AT] = 0
        state[State.EVENTS] += 1

    def _frame(self, data: bytes) -> Frame:
        reader = self._reader
        state = reader.state
        if state[State.INNER]:
            log_format = reader.format
            framer = Framer(without_checksum(log_format), int(state[State.OUTER_OFFSET]))
            return next(framer.feed(data))
        offset = int(state[State.FILE_OFFSET] + state[State.AT] - state[State.BUFFER])
        frame = reader.frame_at(data, offset)
        state[State.CHECKSUM] = 1 if frame.format.checksum_length else 0
        return frame

    def _refused(self, event: Event) -> Iterator[TableBatch]:
        """Let the reference say what is wrong. If it finds nothing, its answer counts."""
        handler = self._HANDLERS.get(type(event.body))
        if isinstance(event.body, Rows):
            yield from self._rows_by_reference(event, refused=True)
        elif handler is not None:
            yield from handler(self, event)
        self.disagreements += 1

    def _statement(self, event: Event) -> Iterator[TableBatch]:
        """Take notice of DDL. The same TABLE_MAP may mean another shape behind it."""
        history = self._reader.history
        before = len(history.entries)
        history.feed(event)
        if len(history.entries) != before:
            self._reader.tables.forget_ids()
        return iter(())

    def _table_map(self, event: Event) -> Iterator[TableBatch]:
        body: TableMap = event.body
        raw = event.frame.body
        if len(self._table_maps) >= _MOST_TABLE_MAPS:
            self._table_maps.clear()
        self._table_maps[body.table_id] = (body, raw)
        yield from self._map(body, raw, event)

    def _map(self, body: TableMap, raw: bytes, event: Event) -> Iterator[TableBatch]:
        reader, tables = self._reader, self._reader.tables
        selection = reader.selection
        if selection.wants(f"{body.schema}.{body.table}") or selection.tx_rows:
            reader.history.feed(event)
            schema = reader.history.table_schema(body, event.position)
        elif reader.state[State.INNER] == 1:  # rows of a payload are numbered together, so all of them are counted
            schema = from_table_map(body, mariadb=reader.format.family is Family.MARIADB)
        else:
            if not tables.has_room_for_id:
                tables.forget_ids()
            tables.map_unwanted(body.table_id, raw)
            return
        if not tables.has_room(schema):
            yield from reader.flush()
            tables.forget_all()
        for number in list(tables.others_of(schema)):
            yield from reader.flush_slot(number)
        tables.map(body.table_id, schema, raw)

    def _gtid(self, event: Event) -> Iterator[TableBatch]:
        reader = self._reader
        if reader.transactions.full:
            yield from reader.flush()
        gtid, commit_time = commit_of(event)
        reader.transactions.begin(str(gtid) if gtid else "", commit_time, event.header.server_id)
        wanted = reader.selection.wants_gtid(gtid) and reader.selection.wants_commit(commit_time)
        reader.state[State.SKIP_TRANSACTION] = not wanted

    def _rows(self, event: Event) -> Iterator[TableBatch]:
        """Decode rows that kernels do not take; those that only look different are rewritten for them."""
        body: Rows = event.body
        if self._reader.tables.schema_of(body.table_id) is None and body.table_id in self._table_maps:
            table_map, raw = self._table_maps[body.table_id]
            yield from self._map(table_map, raw, event._replace(body=table_map))
        if event.type_code in _COMPRESSED_ROWS:
            yield from self._scan_apart(rewritten(event), event)
        else:
            yield from self._rows_by_reference(event)

    def _rows_by_reference(self, event: Event, *, refused: bool = False) -> Iterator[TableBatch]:
        """Decode rows in Python. Of an event that kernels refused, those before the wrong one are decoded already."""
        reader, body, selection = self._reader, event.body, self._reader.selection
        schema = reader.tables.schema_of(body.table_id)
        if schema is None:
            if body.table_id in self._table_maps or not body.rows:
                return  # of no interest, or only the end of a statement
            raise Malformed(f"rows of table {body.table_id}, which no TABLE_MAP names", event.position)
        is_selected = self._selects(event)
        if not is_selected and not selection.tx_rows and reader.state[State.INNER] != 1:
            return
        number = reader.tables.slot(schema)
        slot = reader.tables.slots[number]
        if slot.kernel is not None and slot.kernel.rows:
            reader.cut_at_wrong_text(number)
            yield from reader.flush_slot(number)
        skip = int(reader.state[State.ROW_NUMBER]) if refused else 0
        operation = ROWS_KINDS[event.type_code].operation
        options = ValueOptions(undecodable=selection.options.undecodable)
        keep = is_selected and selection.wants(schema.name) and selection.wants_operation(operation)
        columns = slot.plan.reference_columns if keep else slot.plan.unread_columns
        image = 0
        if keep and selection.images:
            yield from self._make_room_for_image(number)
            image = slot.images.number(body)
        reader.state[State.DECODED] += event.header.event_size
        reader.tables.numbers[number, T.BYTES + _OPERATIONS[operation.value]] += event.header.event_size
        for row, change in enumerate(rows_of(event, columns, options)):
            if row >= skip:
                metadata = self._metadata(event, row, _OPERATIONS[operation.value], image)
                if keep:
                    _refuse_diffs(change, event)
                    slot.reference.add(change, metadata, event.position)
                if slot.reference.rows >= selection.max_rows:
                    yield from reader.flush_slot(number)
        if slot.kernel is not None:
            yield from reader.flush_slot(number)

    def keep_image(self) -> Iterator[TableBatch]:
        """Keep which columns the images of the rows event have that the scan stands at."""
        tables = self._reader.tables
        at = int(self._reader.state[State.AT])
        body: Rows = self._decoder.decode(self._frame(string_at(at, _event_size(at)))).body
        schema = tables.schema_of(body.table_id)
        assert schema is not None
        number = tables.slot(schema)
        yield from self._make_room_for_image(number)
        tables.slots[number].images.number(body)

    def _make_room_for_image(self, number: int) -> Iterator[TableBatch]:
        images = self._reader.tables.slots[number].images
        if images.full:
            yield from self._reader.flush_slot(number)
            images.forget()

    def _selects(self, event: Event) -> bool:
        state, selection = self._reader.state, self._reader.selection
        known = state[State.TRANSACTION] >= 0
        return selection.wants_event(event, committed=not known) and not state[State.SKIP_TRANSACTION]

    def _metadata(self, event: Event, row: int, operation: int, image: int) -> dict[T, int]:
        state = self._reader.state
        inner = state[State.INNER] == 1
        numbers = {
            T.META_EVENT: event.offset,
            T.META_ROW: int(state[State.PAYLOAD_ROW]) if inner else row,
            T.META_TRANSACTION: int(state[State.TRANSACTION]),
            T.META_OP: operation,
            T.META_SERVER: event.header.server_id,
            T.META_TX_ROW: int(state[State.TX_ROW]),
            T.META_IMAGE: image,
        }
        state[State.PAYLOAD_ROW] += 1
        state[State.TX_ROW] += 1
        return numbers

    def _fragment(self, event: Event) -> Iterator[TableBatch]:
        whole = self._fragments.add(event)
        if whole is not None:
            yield from self._scan_apart(whole, event)

    def _payload(self, event: Event) -> Iterator[TableBatch]:
        """Expand a payload window by window and let kernels go through each."""
        body: TransactionPayload = event.body
        state = self._reader.state
        if state[State.INNER]:
            raise Malformed("a transaction payload inside a transaction payload")
        if state[State.SKIP_TRANSACTION] or not self._reader.selection.may_want_inside(event):
            return
        state[State.PAYLOAD_ROW] = 0
        try:
            payload = PayloadReader(body.payload, body.compression_type, body.uncompressed_size, self._limits)
            left = yield from self._scan_payload(payload, event)
            if left:
                raise Truncated(f"a transaction payload ends {left} bytes into an event")
        except DecodeError as error:
            raise error.at(event.position) from None

    def _scan_payload(self, payload: PayloadReader, event: Event) -> Generator[TableBatch, None, int]:
        """Fill the window again and again; return how many bytes of a cut event are left in the end."""
        filled = 0
        while True:
            filled, more = fill(payload.read_into, self._window, filled)
            done = yield from self._scan_memory(self._window, filled, event, inner=1)
            self._window[: filled - done] = self._window[done:filled].copy()
            filled -= done
            if not more:
                return filled
            capacity = len(self._window) - SLACK
            if 2 * filled >= capacity:
                larger = np.zeros(2 * capacity + SLACK, dtype=np.uint8)
                larger[:filled] = self._window[:filled]
                self._window = larger

    def _scan_apart(self, data: bytes, event: Event) -> Iterator[TableBatch]:
        memory = np.frombuffer(data + bytes(SLACK), dtype=np.uint8)
        done = yield from self._scan_memory(memory, len(data), event, inner=2)
        if done != len(data):
            raise Malformed("a rewritten event does not end where it says", event.position)

    def _scan_memory(self, memory: Block, length: int, event: Event, inner: int) -> Generator[TableBatch, None, int]:
        """Let kernels go through events that are not in the file as such; return how many bytes they took."""
        reader, state = self._reader, self._reader.state
        saved = {number: int(state[number]) for number in _SAVED}
        base = int(memory.ctypes.data)
        state[State.INNER], state[State.OUTER_OFFSET], state[State.ROW_AT] = inner, event.offset, 0
        yield from reader.scan_bytes(base, base + length, without_checksum(event.frame.format))
        done = int(state[State.AT]) - base
        for number, value in saved.items():
            state[number] = value
        return done

    _HANDLERS: ClassVar[dict[type, Callable[[SpecialEvents, Event], Iterator[TableBatch]]]] = {
        Query: _statement,
        QueryCompressed: _statement,
        TableMap: _table_map,
        GtidEvent: _gtid,
        GtidTagged: _gtid,
        MariadbGtidEvent: _gtid,
        Rows: _rows,
        PartialRowData: _fragment,
        TransactionPayload: _payload,
    }


def _event_size(at: int) -> int:
    return int.from_bytes(string_at(at + 9, 4), "little")


def _refuse_diffs(change: RowChange, event: Event) -> None:
    """Refuse a document of which the row holds only what changed."""
    if any(isinstance(value, JsonDiffs) for value in change.after or ()):
        message = "a partial update of a JSON document whose old form the row image leaves out"
        raise Unsupported(f"{message}; binlog_row_image=FULL keeps it", event.position)
