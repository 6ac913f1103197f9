"""Logs read the plain way: one event, one row, one value at a time. What the bulk reader must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from binspark.columns.options import ColumnOptions, TimeFormat, ZeroDates
from binspark.columns.selection import Operations, Selection
from binspark.errors import BinlogError, DecodeError, Malformed, Unsupported
from binspark.event import (
    Event,
    EventDecoder,
    GtidEvent,
    GtidTagged,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    Rows,
    TableMap,
    TransactionPayload,
)
from binspark.event.column_types import ColumnType as T
from binspark.event.rows import ROWS_KINDS, unknown_table_id
from binspark.frames import Framer, HeaderFlag
from binspark.frames.format import Family
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import without_checksum
from binspark.gtid import Gtid, GtidSet
from binspark.position import Position
from binspark.schema.emptied import NONE_EMPTIED, Emptied
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.schema.table_map import from_table_map
from binspark.transactions.grammar import Role, boundary_of
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import RowChange, rows_of
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import ABSENT, Geometry, JsonDiffs, Row
from tests.support.columns.outcome import FoundRow, Outcome, float_bits, refusal_of

_OPERATIONS = {"insert": Operations.INSERT, "update": Operations.UPDATE, "delete": Operations.DELETE}
_MAYBE_TEXT = (T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB)
_TEXT = (T.STRING, T.VARCHAR, T.VAR_STRING, *_MAYBE_TEXT, T.BLOB_COMPRESSED, T.VARCHAR_COMPRESSED)
_MAX_DIGITS = 38


def log_events(log: bytes, file: str = "", expands: Callable[[Event], bool] = lambda _event: True) -> Iterator[Event]:
    """Yield the events of a log in memory, those inside payloads and complete rows events of fragments, too."""
    framer, decoder = Framer(), EventDecoder(file)
    fragments: list[bytes] = []
    try:
        for frame in framer.feed(log):
            event = decoder.decode(frame)
            yield event
            if isinstance(event.body, TransactionPayload) and expands(event):
                yield from decoder.inner_events(event)
            if isinstance(event.body, PartialRowData):
                fragments = [*(fragments if event.body.sequence_number > 1 else ()), event.body.fragment]
                if event.body.sequence_number == event.body.total_fragments:
                    inner = Framer(without_checksum(frame.format), frame.offset)
                    yield decoder.decode(next(inner.feed(b"".join(fragments))))
        framer.finish()
    except DecodeError as error:
        raise error.at(Position(file=file or None)) from None


class ReferenceReader:
    """Reads logs as `BatchReader` does, by nothing but the object API and the reference decoder."""

    def __init__(self, selection: Selection, history: SchemaHistory | None = None) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        self._maps: dict[int, TableMap] = {}
        self._last: dict[str, TableSchema] = {}
        self._start = 0
        self._begin_file()

    def read(self, log: bytes, file: str = "", *, start: int = 0, stop: int | None = None) -> Outcome:
        """Return the selected rows between two offsets."""
        self._start = start
        found: dict[str, list[FoundRow]] = {}
        try:
            for event in log_events(log, file, self._expands):
                if stop and event.offset >= stop:
                    break
                for schema, row in self._feed(event):
                    found.setdefault(schema.name, []).append(row)
        except BinlogError as error:
            return Outcome(found, refusal_of(error))
        return Outcome(found, None)

    def _expands(self, payload: Event) -> bool:
        """Whether a payload is expanded: that of a transaction that is not selected is not."""
        selection, header = self.selection, payload.header
        is_early = payload.offset < self._start or header.timestamp < selection.start_time
        return self._is_transaction_selected and not is_early and selection.server_id in (None, header.server_id)

    def _begin_file(self) -> None:
        self._in_transaction = False
        self._gtid: str | None = None
        self._commit_time: int | None = None
        self._is_transaction_selected = self.selection.include_gtids is None
        self._thread_id: int | None = None
        self._tx_row = 0
        self._payload_row = 0

    def _feed(self, event: Event) -> Iterator[tuple[TableSchema, FoundRow]]:
        body = event.body
        if event.offset == FIRST_EVENT_OFFSET and not event.header.flags & HeaderFlag.RELAY_LOG:
            self._begin_file()  # only in relay logs a transaction continues from file to file
        if isinstance(body, TransactionPayload):
            self._payload_row = 0
        emptied = NONE_EMPTIED
        if isinstance(body, Query | TableMap) or event.type == "FORMAT_DESCRIPTION":
            emptied = self.history.feed(event)
        if isinstance(body, Query):
            self._thread_id = body.thread_id
        if boundary_of(event).role is Role.BEGINS:
            self._tx_row = 0
        if isinstance(body, TableMap):
            self._maps[body.table_id] = body
            self._schema_of(body, event)
        if isinstance(body, GtidEvent | GtidTagged | MariadbGtidEvent):
            self._begin_transaction(event)
        if isinstance(body, Rows):
            yield from self._rows(event)
        if self._is_selected(event) and self.selection.operations & Operations.TRUNCATE:
            yield from self._truncations(event, emptied)

    def _truncations(self, event: Event, emptied: Emptied) -> Iterator[tuple[TableSchema, FoundRow]]:
        for number, table in enumerate(emptied.tables):
            schema = self._last.get(table.name, table)
            if self.selection.wants(table.name):
                yield schema, self._found(event, schema, "truncate", number, RowChange(None, None))
                self._tx_row += 1
                self._payload_row += 1

    def _schema_of(self, table_map: TableMap, event: Event) -> TableSchema | None:
        name = f"{table_map.schema}.{table_map.table}"
        if not self.selection.wants(name) and not self.selection.tx_rows:
            if event.inner is None:
                return None
            return from_table_map(table_map, mariadb=event.frame.format.family is Family.MARIADB)
        self._last[name] = self.history.table_schema(table_map, event.position)
        return self._last[name]

    def _begin_transaction(self, event: Event) -> None:
        body, selection = event.body, self.selection
        moment = event.header.timestamp * 1_000_000
        gtid = None if isinstance(body, MariadbGtidEvent) else body.gtid
        if isinstance(body, MariadbGtidEvent):
            self._gtid = str(body.gtid(event.header.server_id))
        else:
            self._gtid = str(gtid) if gtid else None
            moment = body.immediate_commit_timestamp or moment
        self._commit_time = moment or None
        self._tx_row = 0
        self._thread_id = body.thread_id if isinstance(body, MariadbGtidEvent) else None
        self._in_transaction = True
        include, exclude = selection.include_gtids, selection.exclude_gtids
        included = include is None or (isinstance(gtid, Gtid) and isinstance(include, GtidSet) and gtid in include)
        excluded = isinstance(exclude, GtidSet) and isinstance(gtid, Gtid) and gtid in exclude
        self._is_transaction_selected = included and not excluded and self._is_then(moment)

    def _is_then(self, moment: int) -> bool:
        first, last = self.selection.committed_from, self.selection.committed_before
        return first <= moment and not (last and moment >= last)

    def _is_selected(self, event: Event) -> bool:
        selection, header = self.selection, event.header
        return (
            self._is_transaction_selected
            and (self._in_transaction or self._is_then(header.timestamp * 1_000_000))
            and event.offset >= self._start
            and selection.thread_id in (None, self._thread_id)
            and header.timestamp >= selection.start_time
            and not (selection.stop_time and header.timestamp >= selection.stop_time)
            and selection.server_id in (None, header.server_id)
        )

    def _rows(self, event: Event) -> Iterator[tuple[TableSchema, FoundRow]]:
        body, selection = event.body, self.selection
        if body.table_id not in self._maps and not body.rows:
            return  # only the end of a statement
        if body.table_id not in self._maps:
            raise unknown_table_id(body, event.position)
        selected = self._is_selected(event)
        schema = self._schema_of(self._maps[body.table_id], event)
        if schema is None or not (selected or selection.tx_rows or event.inner is not None):
            return
        operation = ROWS_KINDS[event.type_code].operation.value
        wanted = selected and selection.wants(schema.name) and bool(selection.operations & _OPERATIONS[operation])
        options = ValueOptions(undecodable=selection.options.undecodable)
        columns = tuple(map(self._selected_column if wanted else _unread, schema.columns))
        for number, change in enumerate(rows_of(event, columns, options)):
            if wanted:
                yield schema, self._found(event, schema, operation, number, change)
            self._tx_row += 1
            self._payload_row += 1

    def _found(self, event: Event, schema: TableSchema, operation: str, number: int, change: RowChange) -> FoundRow:
        shown = change.before if change.after is None else change.after
        key_columns = schema.primary_key or ()
        if shown is not None and change.before is not None:
            pairs = enumerate(zip(shown, change.before, strict=True))
            shown = tuple(old if new is ABSENT and index in key_columns else new for index, (new, old) in pairs)
        source = shown if change.before is None else change.before
        try:
            before = None
            if self.selection.before and change.before is not None:
                before = self._values(schema, change.before)
            values = self._values(schema, shown or (None,) * len(schema.columns))
            key = self._key(schema, source)
        except BinlogError as error:
            raise error.at(event.position) from None
        row = number if event.inner is None else self._payload_row
        metadata = (event.file, event.offset, row, self._tx_row, event.header.server_id)
        return FoundRow(operation, self._gtid, self._commit_time, *metadata, values, before, key)

    def _key(self, schema: TableSchema, row: Row | None) -> dict[str, Any] | None:
        key = schema.primary_key or ()
        if row is None or not key or any(row[index] is ABSENT for index in key):
            return None
        every = self._values(schema, row, schema.column_names)
        return {schema.column_names[index]: every[schema.column_names[index]] for index in key}

    def _selected_column(self, column: Column) -> Column:
        names = self.selection.columns
        may_be_blob = column.collation is None and column.type in _MAYBE_TEXT
        return _unread(column) if may_be_blob or (names is not None and column.name not in names) else column

    def _values(self, schema: TableSchema, row: Row, names: Sequence[str] | None = None) -> dict[str, Any]:
        if names is None:
            names = schema.column_names if self.selection.columns is None else self.selection.columns
        return {
            name: plain(value, column, self.selection.options)
            for name, column, value in zip(schema.column_names, schema.columns, row, strict=True)
            if name in names
        }


def _unread(column: Column) -> Column:
    """What is not selected is skipped: it need be neither text nor a member."""
    return replace(column, collation=BINARY_COLLATION, members=None)


def plain(value: Any, column: Column, options: ColumnOptions) -> Any:
    """Return what a value looks like in Python when it comes out of its Arrow column."""
    if value is None or value is ABSENT:
        return None
    if column.type in _TEXT and column.notation is None:
        return _text_or_bytes(value, column, options.undecodable)
    converter = _PLAIN.get(type(value))
    return value if converter is None else converter(value, column, options)


def _text_or_bytes(value: str | bytes, column: Column, undecodable: Undecodable) -> str | bytes:
    as_bytes = column.collation == BINARY_COLLATION or undecodable is Undecodable.BINARY
    as_bytes = as_bytes and column.notation is None
    return value.encode() if as_bytes and isinstance(value, str) else value


def _moment(number: int | None, text: str, policy: ZeroDates) -> int | str | None:
    if policy is ZeroDates.STRING:
        return text
    if number is None and policy is ZeroDates.ERROR:
        raise Malformed(f"{text} is not a date in the calendar")
    return number


def _float_bits(value: float, column: Column) -> bytes:
    return float_bits(value, "<f" if column.type == T.FLOAT else "<d")


def _decimal(value: Decimal, column: Column) -> Decimal | str:
    as_text = column.type == T.DECIMAL or column.precision > _MAX_DIGITS
    return f"{value:f}" if as_text else value


def _refuse_diffs(_value: JsonDiffs, _column: Column, _options: ColumnOptions) -> Any:
    message = "a partial update of a JSON document whose old value is not in the before image"
    raise Unsupported(f"{message}; set binlog_row_image=FULL on the source to have it logged")


_PLAIN: dict[type, Callable[[Any, Column, ColumnOptions], Any]] = {
    Date: lambda value, _column, options: _moment(value.days, value.text(), options.zero_dates),
    DateTime: lambda value, _column, options: _moment(value.microseconds, value.text(), options.zero_dates),
    Timestamp: lambda value, _column, options: _moment(value.microseconds, value.text(), options.zero_dates),
    Time: lambda value, _column, options: value.text() if options.time is TimeFormat.STRING else value.microseconds,
    Decimal: lambda value, column, _options: _decimal(value, column),
    float: lambda value, column, _options: _float_bits(value, column),
    tuple: lambda value, column, _options: (
        [float_bits(item, "<f") for item in value] if column.type == T.VECTOR else list(value)
    ),
    Geometry: lambda value, _column, _options: {"srid": _signed(value.srid), "wkb": value.wkb},
    JsonDiffs: _refuse_diffs,
}


def _signed(srid: int) -> int:
    return srid - (1 << 32) if srid >> 31 else srid
