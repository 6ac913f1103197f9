"""Logs into batches: kernels where they can, Python for the rest, in log order for each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import string_at
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import pyarrow as pa

from binspark.columns.arena import SLACK, ReadInto, fill, thread_arena
from binspark.columns.image_table import BatchImages
from binspark.columns.metadata import metadata_arrays
from binspark.columns.metadata_fields import METADATA_FIELDS
from binspark.columns.reference_batch import ReferenceBuilder
from binspark.columns.selection import Selection
from binspark.columns.special import SpecialEvents
from binspark.columns.table_builder import TableBuilder
from binspark.columns.tables import Slot, Tables
from binspark.columns.transaction_table import TransactionTable
from binspark.errors import BinlogError, Truncated
from binspark.frames import EventCode, Frame, Framer, LogFormat
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.kernels.compiler import is_kept
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.layout import State, Stop
from binspark.kernels.layout import Table as T
from binspark.kernels.scan import scan
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema

_WINDOW = 16 << 20
_KNOWN_TO_KERNELS = {
    EventCode.TABLE_MAP: 8,
    EventCode.WRITE_ROWS_V1: 8,
    EventCode.UPDATE_ROWS_V1: 8,
    EventCode.DELETE_ROWS_V1: 8,
    EventCode.WRITE_ROWS: 10,
    EventCode.UPDATE_ROWS: 10,
    EventCode.DELETE_ROWS: 10,
}
"""The types of events that kernels decode, and the lengths of their fixed parts."""


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Rows of one table, in log order."""

    table: TableSchema
    batch: pa.RecordBatch
    images: BatchImages | None = None
    """Which columns each row has, if that was asked for."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a log: from an event on, up to the first transaction that begins at `end` or later.

    is_start    tells whether a transaction begins at an offset; asked before the reader stops there
    """

    format: LogFormat
    start: int
    end: int | None
    is_start: Callable[[int], bool]


class BatchReader:
    """Turns one log after the other into batches. Schemas, tables and memory are shared between them."""

    def __init__(
        self, selection: Selection, history: SchemaHistory | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        self.state = np.zeros(State.WIDTH, dtype=np.int64)
        self.transactions = TransactionTable(self.state)
        arena = thread_arena()
        self.tables = Tables(selection, arena)
        self.file = ""
        self._special = SpecialEvents(self, limits)
        self._buffer = arena.take(_WINDOW + SLACK)
        self._framer = Framer()
        self._span: Span | None = None
        self._select()

    @property
    def format(self) -> LogFormat:
        """The format of the log that is being read."""
        log_format = self._framer.format
        assert log_format is not None
        return log_format

    def read(self, read_into: ReadInto, file: str = "", span: Span | None = None) -> Iterator[TableBatch]:
        """Read a log, or a span of it whose first byte comes first, and yield its batches.

        What comes before damage is delivered before the error is raised.
        """
        self.file = file
        self._span = span
        self._framer = Framer() if span is None else Framer(span.format, span.start)
        self.state[State.ROW_AT] = 0
        self.state[State.SPLIT_END] = 0 if span is None else span.end or 0
        self.state[State.STOP_POSITION] = self.selection.stop_position or 0
        self._special.begin_file(file)
        if span is not None:
            self._special.begin_transactions()
        try:
            yield from self._windows(read_into)
        except BinlogError as error:
            yield from self.flush()
            raise error.at(Position(file=file or None)) from None
        yield from self.flush()

    @property
    def decoded_bytes(self) -> int:
        """How many bytes of rows events were decoded, not stepped over."""
        return int(self.state[State.DECODED])

    def flush(self) -> Iterator[TableBatch]:
        """Yield what every table has collected."""
        for number in range(len(self.tables.slots)):
            yield from self.flush_slot(number)
        self.transactions.forget()

    def flush_slot(self, number: int) -> Iterator[TableBatch]:
        """Yield what one table has collected. Only one of its two builders has rows."""
        slot = self.tables.slots[number]
        for builder in (slot.kernel, slot.reference):
            if builder is not None and builder.rows:
                if self.selection.wants(slot.plan.schema.name):
                    yield TableBatch(slot.plan.schema, self._batch(builder), self._images(slot, builder))
                builder.begin()

    def frame_at(self, data: bytes, offset: int) -> Frame:
        """Frame one whole event, as the framer of the object API does, with its checks and its errors."""
        self._framer.offset = offset
        return next(self._framer.feed(data))

    def scan_bytes(self, start: int, end: int, log_format: LogFormat) -> Iterator[TableBatch]:
        """Let kernels go through the events between two addresses, which are in memory and stay there."""
        state, tables = self.state, self.tables
        state[State.AT], state[State.END] = start, end
        state[State.CHECKSUM] = 1 if log_format.checksum_length else 0
        state[State.ALL_FOR_PYTHON] = not _is_for_kernels(log_format)
        while True:
            stop = scan(
                state,
                tables.numbers,
                tables.columns_address,
                tables.ids,
                self.transactions.numbers,
                self.transactions.offsets_address,
                self.transactions.text_address,
            )
            if stop in (Stop.MORE, Stop.END) or (stop == Stop.BOUNDARY and self._ends_here()):
                return
            yield from self._stopped(stop)

    def _ends_here(self) -> bool:
        """Tell whether the transaction that begins here is another reader's. If it is damaged, nobody else finds it."""
        state, span = self.state, self._span
        assert span is not None
        offset = int(state[State.FILE_OFFSET] + state[State.AT] - state[State.BUFFER])
        if span.is_start(offset):
            state[State.STOP_POSITION] = offset
            return True
        state[State.SPLIT_END] = offset + 1
        return False

    def _stopped(self, stop: int) -> Iterator[TableBatch]:
        state = self.state
        if stop == Stop.BOUNDARY:
            return
        if stop in (Stop.FULL, Stop.CHECK) and self.cut_at_wrong_text(int(state[State.TABLE])):
            yield from self._special.handle(refused=True)
        elif stop == Stop.FULL:
            yield from self._make_room(int(state[State.TABLE]))
        elif stop == Stop.CHECK:
            self._special.step_over()
        elif stop == Stop.TRANSACTIONS_FULL:
            yield from self.flush()
        elif stop == Stop.IMAGE:
            yield from self._special.keep_image()
        else:
            yield from self._special.handle(refused=stop == Stop.REFUSED)

    def cut_at_wrong_text(self, number: int) -> bool:
        """Go back to the first row where text that kernels only copied is none; tell whether there is such a row."""
        builder, state = self.tables.slots[number].kernel, self.state
        assert builder is not None
        cut = builder.decode_late_text()
        for counter in (State.ROW_NUMBER, State.TX_ROW, State.PAYLOAD_ROW, State.ROWS):
            state[counter] -= cut
        return bool(cut)

    def _make_room(self, number: int) -> Iterator[TableBatch]:
        builder = self.tables.slots[number].kernel
        assert builder is not None
        at = int(self.state[State.AT])
        event_size = int.from_bytes(string_at(at + 9, 4), "little")
        if not builder.make_room(event_size):
            yield from self.flush_slot(number)

    def _batch(self, builder: TableBuilder | ReferenceBuilder) -> pa.RecordBatch:
        arrays = builder.arrays()
        fields = list(builder.plan.fields)
        if self.selection.metadata:
            arrays = metadata_arrays(builder, self.transactions, PurePath(self.file).name) + arrays
            fields = [*METADATA_FIELDS, *fields]
        if self.selection.before:
            kind = pa.struct(list(builder.plan.fields))
            children = builder.arrays(before=True)
            arrays.append(pa.Array.from_buffers(kind, builder.rows, [None], 0, children=children))
            fields.append(pa.field("_before", kind))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _images(self, slot: Slot, builder: TableBuilder | ReferenceBuilder) -> BatchImages | None:
        if not self.selection.images:
            return None
        wanted = np.array([planned.wanted for planned in slot.plan.columns], dtype=np.bool_)
        return slot.images.images(builder.numbers(T.META_IMAGE, np.int32), wanted)

    def _windows(self, read_into: ReadInto) -> Iterator[TableBatch]:
        """Fill the buffer again and again; what is left of an event moves to its front."""
        state = self.state
        filled = fill(read_into, self._buffer, 0)[0]
        start = self._begin_log(filled) if self._span is None else 0
        offset = start if self._span is None else self._span.start
        while True:
            base = int(self._buffer.ctypes.data)
            state[State.BUFFER], state[State.FILE_OFFSET] = base, offset - start
            log_format = self.format
            state[State.INNER] = state[State.OUTER_OFFSET] = 0
            yield from self.scan_bytes(base + start, base + filled, log_format)
            at = int(state[State.AT]) - base
            if state[State.STOP_POSITION] and offset - start + at >= state[State.STOP_POSITION]:
                return
            offset += at - start
            left = filled - at
            self._keep_tail(at, left, int(state[State.NEEDED]))
            more, _ = fill(read_into, self._buffer, left)
            if more == left:
                self._end_of_log(left, offset)
                return
            filled, start = more, 0

    def _keep_tail(self, at: int, left: int, needed: int) -> None:
        """Move the rest of the window to the front, into a larger buffer if the next event asks for it."""
        tail = self._buffer[at : at + left]
        if needed + SLACK > len(self._buffer):
            grown = min(needed, max(2 * len(self._buffer), 2 * left)) if needed > 4 * len(self._buffer) else needed
            larger = np.zeros(grown + _WINDOW + SLACK, dtype=np.uint8)
            larger[:left] = tail
            self._buffer = larger
        else:
            self._buffer[:left] = tail.copy()

    def _begin_log(self, filled: int) -> int:
        """Check the magic and read the first event; return where the second begins."""
        start = self._buffer[: min(filled, 1 << 16)].tobytes()
        first = next(iter(self._framer.feed(start[: _first_event_end(start)])), None)
        if first is None:
            self._framer.finish()
            raise Truncated("the log ends inside its first event", Position(offset=FIRST_EVENT_OFFSET))
        self._special.see(first)
        return first.end_offset

    def _end_of_log(self, left: int, offset: int) -> None:
        if left:
            self._framer.offset = offset
            list(self._framer.feed(self._buffer[:left].tobytes()))
            self._framer.finish()

    def _select(self) -> None:
        state, selection = self.state, self.selection
        state[State.CRC_FUNCTION] = crc32_address()
        state[State.START_POSITION] = selection.start_position
        state[State.START_TIME] = selection.start_time
        state[State.STOP_TIME] = selection.stop_time or 0
        state[State.SERVER] = -1 if selection.server_id is None else selection.server_id
        state[State.COMMITTED_FROM] = selection.committed_from
        state[State.COMMITTED_BEFORE] = selection.committed_before or 0
        state[State.KEEP_IMAGES] = selection.images
        state[State.COUNT_ALL] = selection.tx_rows
        state[State.SELECT_BY_GTID] = selection.include_gtids is not None or selection.exclude_gtids is not None


def is_decoder_compiled() -> bool:
    """Return whether the kernel that decodes logs is on disk: compiling it takes half a minute."""
    return is_kept(scan)


def _is_for_kernels(log_format: LogFormat) -> bool:
    """Tell whether events are laid out as kernels know them, which those of 5.1's pre-releases are not."""
    lengths = [log_format.post_header_length(code) for code in _KNOWN_TO_KERNELS]
    return log_format.event_codes is None and lengths == list(_KNOWN_TO_KERNELS.values())


def _first_event_end(start: bytes) -> int:
    """Return where the first event ends, as far as the bytes tell."""
    size = int.from_bytes(start[FIRST_EVENT_OFFSET + 9 : FIRST_EVENT_OFFSET + 13], "little")
    return FIRST_EVENT_OFFSET + max(size, 19)
