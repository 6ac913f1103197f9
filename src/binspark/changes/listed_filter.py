"""Which of the events that a kernel has listed are selected: `EventFilter` in bulk, with the kernel `event_filter`."""

from __future__ import annotations

from ctypes import string_at
from typing import Protocol

import numpy as np
import numpy.typing as npt

from binspark.changes.event_filter import EventFilter, Held, InTransaction, Verdict
from binspark.columns.gtid_intervals import packed_intervals
from binspark.columns.log_scan import ROWS_POST_HEADERS, Numbers
from binspark.columns.selection import Operations, Selection
from binspark.event import Event, EventDecoder, TableMap
from binspark.frames import EventCode, Frame, LogFormat
from binspark.frames.checksum import ChecksumState
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
from binspark.kernels.compiler import Headway
from binspark.kernels.event_filter import select_events, take_event
from binspark.kernels.layout import TableIds
from binspark.kernels.list_layout import INTERVAL_LENGTH, NULL, EventNumber, FilterStop
from binspark.kernels.list_layout import FilterNumber as F
from binspark.kernels.table_maps import find_table_id
from binspark.transactions.byte_tables import (
    QUERY_LENGTH,
    QUERY_SCHEMA_LENGTH_AT,
    QUERY_STATUS_LENGTH_AT,
    statement_text,
)
from binspark.transactions.grammar import Progress

_POST_HEADERS = {EventCode.QUERY: 13, EventCode.XID: 0, **ROWS_POST_HEADERS}
_MAX_TABLE_MAPS = 4096
_PADDING = 8
_BY_INTERVALS, _BY_PYTHON = 1, 2
_OPERATIONS = (Operations.INSERT, Operations.UPDATE, Operations.DELETE)


class PickedEvents(Protocol):
    """Rows events whose rows a condition selects: positions, and the offset up to which all are known."""

    @property
    def positions(self) -> Numbers:
        """The positions of events, one for each row."""

    @property
    def limit(self) -> int:
        """The offset up to which all are known."""


class EventCondition(Protocol):
    """Finds the rows that a condition selects; see `files.condition_counts`."""

    def feed(self, event: Event) -> None:
        """Take an event that Python decoded."""

    def is_selected(self, event: Event) -> bool:
        """Return whether rows of the last event are selected."""

    def known(self, start: int, stop: int) -> PickedEvents:
        """Return the events between two offsets that have such rows."""


class ListedFilter:
    """Chooses among listed events; an `EventSelector` of `columns.event_list`.

    An `EventFilter` takes the events that the kernel leaves to Python, in the state that the kernel has left.
    """

    def __init__(self, selection: Selection, condition: EventCondition | None = None) -> None:
        self._condition = condition
        self._selection = selection
        self._filter = EventFilter(selection, None if condition is None else condition.is_selected)
        self._decoder = EventDecoder()
        self._format: LogFormat | None = None
        self._ids = np.zeros((0, TableIds.WIDTH), dtype=np.int64)
        self._maps: list[npt.NDArray[np.uint8]] = []
        self._forget_tables()
        self._positions = np.zeros(0, dtype=np.int64)
        self._lists = packed_intervals(selection.include_gtids), packed_intervals(selection.exclude_gtids)
        self._numbers = np.zeros(F.COUNT, dtype=np.int64)
        self._capacity = 0
        self._select()

    def _select(self) -> None:
        numbers, selection, (included, excluded) = self._numbers, self._selection, self._lists
        numbers[F.START_TIME], numbers[F.STOP_TIME] = selection.start_time, selection.stop_time or 0
        numbers[F.SERVER] = -1 if selection.server_id is None else selection.server_id
        numbers[F.THREAD] = -1 if selection.thread_id is None else selection.thread_id
        numbers[F.COMMITTED_FROM] = selection.committed_from
        numbers[F.COMMITTED_BEFORE] = selection.committed_before or 0
        if selection.include_gtids is not None or selection.exclude_gtids is not None:
            numbers[F.BY_GTID] = _BY_PYTHON if included is None or excluded is None else _BY_INTERVALS
        numbers[F.UNNAMED] = selection.wants_gtid(None)
        included, excluded = included or b"", excluded or b""
        self._intervals = np.frombuffer(included + excluded + bytes(_PADDING), dtype=np.uint8)
        address = int(self._intervals.ctypes.data)
        numbers[F.INCLUDED], numbers[F.EXCLUDED] = address, address + len(included)
        numbers[F.INCLUDED_COUNT] = -1 if selection.include_gtids is None else len(included) // INTERVAL_LENGTH
        numbers[F.EXCLUDED_COUNT] = len(excluded) // INTERVAL_LENGTH
        numbers[F.BY_CONTENT] = self._filter.by_table or self._filter.by_operation
        numbers[F.BY_OPERATION] = self._filter.by_operation
        numbers[F.OPERATIONS] = sum(bool(selection.operations & each) << at for at, each in enumerate(_OPERATIONS))
        numbers[F.BY_ROW] = self._condition is not None
        numbers[F.HELD], numbers[F.WANTED] = -1, 1

    @property
    def start(self) -> int:
        """The offset in the current log before which no event is selected."""
        return self._filter.start

    @start.setter
    def start(self, start: int) -> None:
        self._filter.start = start
        self._numbers[F.START] = start

    @property
    def kept(self) -> int:
        """How many of the events so far are selected, as far as that is known."""
        return int(self._numbers[F.KEPT])

    def take(self) -> int:
        """Return how many events are certainly selected; they are taken, and the others move to the front."""
        numbers = self._numbers
        kept, held = int(numbers[F.KEPT]), int(numbers[F.HELD])
        if held == 0 and kept >= self._capacity:  # no valid log has that many without a statement
            numbers[F.KEPT], numbers[F.HELD] = 0, -1
            return 0
        count = kept if held < 0 else held
        numbers[F.KEPT] = kept - count
        numbers[F.HELD] = -1 if held < 0 else 0
        return count

    def keep_listed(self, events: Numbers, count: int, file: str, log_format: LogFormat) -> None:
        """Keep the selected ones of the events after those that are kept, whose bytes are in memory."""
        numbers = self._numbers
        self._capacity = events.shape[1]
        self._use_format(file, log_format)
        numbers[F.ROW], numbers[F.END] = numbers[F.KEPT], count
        if self._condition is not None:
            self._pick(self._condition, events, count)
        headway = Headway(allowed=0)
        while (stop := select_events(numbers, events, self._ids)) != FilterStop.END:
            headway.check(int(numbers[F.ROW]))
            self._note_schema()
            if stop == FilterStop.STATEMENT:
                take_event(numbers, events, self._wants_statement(events))
            else:
                row = int(numbers[F.ROW])
                self._keep(events, row, self._event(events, row))
        self._note_schema()

    def keep_decoded(self, events: Numbers, event: Event) -> None:
        """Keep the event after those that are kept, which Python decoded, if it is selected."""
        self._capacity = events.shape[1]
        self._keep(events, self.kept, event)

    def _use_format(self, file: str, log_format: LogFormat) -> None:
        if self._decoder.file != file:
            self._decoder = EventDecoder(file)
        if self._format is not log_format:
            self._format = log_format
            lengths = {code: log_format.post_header_length(code) for code in _POST_HEADERS}
            self._numbers[F.ALL_FOR_PYTHON] = lengths != _POST_HEADERS

    def _pick(self, condition: EventCondition, events: Numbers, count: int) -> None:
        """Tell the kernel which of the events have rows that the condition selects."""
        numbers, offsets = self._numbers, events[EventNumber.OFFSET]
        picked = condition.known(int(offsets[int(numbers[F.ROW])]), int(offsets[count - 1]) + 1)
        positions = self._positions = np.ascontiguousarray(picked.positions)
        numbers[F.PICKED], numbers[F.PICKED_COUNT] = positions.ctypes.data, len(positions)
        numbers[F.PICKED_LIMIT], numbers[F.PICKED_AT] = picked.limit, 0

    def _event(self, events: Numbers, row: int) -> Event:
        """Decode an event that is in memory."""
        number = events[:, row].tolist()
        code, size, inner = number[EventNumber.TYPE], number[EventNumber.SIZE], number[EventNumber.INNER]
        log_format = self._format
        assert log_format is not None
        data = string_at(number[EventNumber.ADDRESS], size)
        checksum = ChecksumState.OK if log_format.checksum_length else ChecksumState.NONE
        frame = Frame(
            number[EventNumber.OFFSET],
            number[EventNumber.END],
            Header._make(HEADER.struct.unpack_from(data)),
            code,
            data,
            HEADER_LENGTH,
            size - log_format.checksum_length,
            checksum,
            log_format,
            None if inner == NULL else inner,
        )
        return self._decoder.decode(frame)

    def _wants_statement(self, events: Numbers) -> bool:
        """Return whether the statement in the next event names tables that are selected."""
        number = events[:, int(self._numbers[F.ROW])].tolist()
        assert self._format is not None
        length = number[EventNumber.SIZE] - HEADER_LENGTH - self._format.checksum_length
        body = string_at(number[EventNumber.ADDRESS] + HEADER_LENGTH, length)
        if number[EventNumber.TYPE] == EventCode.QUERY:
            text = bytes(statement_text(body) or b"")
        else:
            text = body[1:] if number[EventNumber.TYPE] == EventCode.ROWS_QUERY else body
        return self._filter.wants_statement(text)

    def _note_schema(self) -> None:
        """Note the schema of the last statement, as long as it is in memory."""
        at = int(self._numbers[F.QUERY])
        self._numbers[F.QUERY] = 0
        if at and self._filter.by_table and not self._filter.by_operation:
            assert self._format is not None
            self._filter.schema = _schema_at(at).decode(self._format.encoding, "backslashreplace")

    def _keep(self, events: Numbers, row: int, event: Event) -> None:
        """Let the filter decide on an event."""
        numbers = self._numbers
        if self._condition is not None:
            self._condition.feed(event)
        if isinstance(event.body, TableMap):
            self._learn(event.body, event.frame.body)
        self._filter.transaction = InTransaction(
            Progress(int(numbers[F.PROGRESS])), bool(numbers[F.WANTED]), bool(numbers[F.THREAD_KNOWN])
        )
        verdict = self._filter.decide(event)
        now = self._filter.transaction
        numbers[F.PROGRESS], numbers[F.WANTED] = now.progress, now.is_wanted
        numbers[F.THREAD_KNOWN] = now.is_thread_known
        self._apply(events, row, verdict)
        numbers[F.ROW] = row + 1

    def _apply(self, events: Numbers, row: int, verdict: Verdict) -> None:
        numbers = self._numbers
        if verdict.held is Held.DROP and numbers[F.HELD] >= 0:
            numbers[F.KEPT] = numbers[F.HELD]
        if verdict.held is not Held.STAY:
            numbers[F.HELD] = -1
        if not verdict.is_selected:
            return
        kept = int(numbers[F.KEPT])
        if verdict.is_held and numbers[F.HELD] < 0:
            numbers[F.HELD] = kept
        events[:, kept] = events[:, row]
        numbers[F.KEPT] = kept + 1

    def _learn(self, table: TableMap, body: bytes) -> None:
        """Let the kernel know which table an id means, as `EventFilter` does."""
        if len(self._maps) > _MAX_TABLE_MAPS:
            self._forget_tables()
        content = np.frombuffer(body + bytes(_PADDING), dtype=np.uint8)
        self._maps.append(content)
        entry = find_table_id(self._ids, table.table_id)
        is_wanted = self._selection.wants(f"{table.schema}.{table.table}")
        self._ids[entry] = (table.table_id, is_wanted, content.ctypes.data, len(body))

    def _forget_tables(self) -> None:
        self._ids = np.full((4 * _MAX_TABLE_MAPS, TableIds.WIDTH), -1, dtype=np.int64)
        self._maps = []


def _schema_at(at: int) -> bytes:
    """Return the schema of the statement at an address."""
    body = at + HEADER_LENGTH
    head = string_at(body, QUERY_LENGTH)
    start = body + QUERY_LENGTH + int.from_bytes(head[QUERY_STATUS_LENGTH_AT:], "little")
    return string_at(start, head[QUERY_SCHEMA_LENGTH_AT])
