"""Logs into batches: by kernels where they can, by Python for the rest, in log order for each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from binspark.columns.arena import SLACK, ReadInto, fill, thread_arena
from binspark.columns.batches import OpenBatches, TableBatch
from binspark.columns.selection import Selection
from binspark.columns.sequence import Sequence
from binspark.columns.slow_path import SlowPath
from binspark.columns.tables import Tables
from binspark.errors import BinlogError, Truncated
from binspark.frames import EventCode, Framer, LogFormat
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.kernels.compiler import is_kept
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.layout import Header, State, Stop
from binspark.kernels.scan import scan
from binspark.position import Position
from binspark.schema.history import SchemaHistory

__all__ = ["BatchReader", "Span", "TableBatch", "is_decoder_compiled"]

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
"""The types of events that kernels decode, and the lengths of their post-headers."""


_NO_EPOCH = Sequence()


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a log: from an event on, up to the first transaction that begins at `end` or later.

    is_start    returns whether a transaction begins at an offset; the reader calls it before it ends there
    sequence    what the SEQ of its rows begins with
    """

    format: LogFormat
    start: int
    end: int | None
    is_start: Callable[[int], bool]
    sequence: Sequence = _NO_EPOCH


class BatchReader:
    """Turns one log after the other into batches. Schemas, tables and memory are shared between them."""

    def __init__(
        self, selection: Selection, history: SchemaHistory | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.selection = selection
        self.history = history or SchemaHistory()
        arena = thread_arena()
        self._batches = OpenBatches(selection, arena)
        self._state = self._batches.state
        self._slow_path = SlowPath(self._batches, self.history, self._scan_bytes, limits)
        self._buffer = arena.take(_WINDOW + SLACK)
        self._framer = Framer()
        self._span: Span | None = None
        self._select()

    @property
    def tables(self) -> Tables:
        """The tables that were read so far."""
        return self._batches.tables

    @property
    def decoded_bytes(self) -> int:
        """How many bytes of rows events were decoded, not skipped."""
        return int(self._state[State.DECODED])

    @property
    def transaction_rows(self) -> int:
        """How many rows of the last transaction were counted."""
        return int(self._state[State.TX_ROW])

    @property
    def disagreements(self) -> int:
        """How often a kernel refused what the reference decodes: a mistake in a kernel, which costs only time."""
        return self._slow_path.disagreements

    def read(self, read_into: ReadInto, file: str = "", span: Span | None = None) -> Iterator[TableBatch]:
        """Read a log, or a span of it whose first byte comes first, and yield its batches.

        What comes before damage is delivered before the error is raised.
        """
        self._batches.file = file
        self._batches.sequence = _NO_EPOCH if span is None else span.sequence
        self._span = span
        self._framer = Framer() if span is None else Framer(span.format, span.start)
        self._state[State.ROW_AT] = 0
        self._state[State.SPLIT_END] = 0 if span is None else span.end or 0
        self._state[State.STOP_POSITION] = self.selection.stop_position or 0
        self._slow_path.begin_log(file, self._framer)
        if span is not None:
            self._slow_path.forget_transaction()
        try:
            yield from self._windows(read_into)
        except BinlogError as error:
            yield from self._batches.flush()
            raise error.at(Position(file=file or None)) from None
        yield from self._batches.flush()

    def _windows(self, read_into: ReadInto) -> Iterator[TableBatch]:
        """Fill the buffer again and again; what is left of an event moves to its front."""
        state = self._state
        filled = fill(read_into, self._buffer, 0)[0]
        start = self._begin_log(filled) if self._span is None else 0
        offset = start if self._span is None else self._span.start
        while True:
            base = int(self._buffer.ctypes.data)
            state[State.BUFFER], state[State.FILE_OFFSET] = base, offset - start
            log_format = self._framer.format
            assert log_format is not None
            state[State.INNER] = state[State.OUTER_OFFSET] = 0
            yield from self._scan_bytes(base + start, base + filled, log_format)
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

    def _scan_bytes(self, start: int, end: int, log_format: LogFormat) -> Iterator[TableBatch]:
        """Let kernels read the events between two addresses, which are in memory and stay there."""
        state, tables, transactions = self._state, self._batches.tables, self._batches.transactions
        state[State.AT], state[State.END] = start, end
        state[State.CHECKSUM] = 1 if log_format.checksum_length else 0
        state[State.ALL_FOR_PYTHON] = not _is_for_kernels(log_format)
        while True:
            stop = scan(
                state,
                tables.numbers,
                tables.columns_address,
                tables.ids,
                transactions.numbers,
                transactions.offsets_address,
                transactions.text_address,
            )
            if stop in (Stop.MORE, Stop.END) or (stop == Stop.BOUNDARY and self._ends_here()):
                return
            yield from self._stopped(stop)

    def _ends_here(self) -> bool:
        """Return whether the transaction that begins here is another reader's. If damaged, no other reader finds it."""
        state, span = self._state, self._span
        assert span is not None
        offset = int(state[State.FILE_OFFSET] + state[State.AT] - state[State.BUFFER])
        if span.is_start(offset):
            state[State.STOP_POSITION] = offset
            return True
        state[State.SPLIT_END] = offset + 1
        return False

    def _stopped(self, stop: int) -> Iterator[TableBatch]:
        """Do what kernels need before they can continue."""
        batches, table = self._batches, int(self._state[State.TABLE])
        if stop == Stop.BOUNDARY:
            return
        if stop in (Stop.FULL, Stop.CHECK) and batches.cut_at_wrong_text(table):
            yield from self._slow_path.read_event(refused=True)
        elif stop == Stop.FULL:
            yield from batches.make_room(table)
        elif stop == Stop.CHECK:
            self._slow_path.skip_event()
        elif stop == Stop.TRANSACTIONS_FULL:
            yield from batches.flush()
        elif stop == Stop.IMAGE:
            yield from self._slow_path.keep_image()
        else:
            yield from self._slow_path.read_event(refused=stop == Stop.REFUSED)

    def _keep_tail(self, at: int, left: int, needed: int) -> None:
        """Move the rest of the window to the front, into a larger buffer if the next event needs it."""
        tail = self._buffer[at : at + left]
        if needed + SLACK > len(self._buffer):
            # A size in a damaged header may be anything: the buffer grows only as bytes really come.
            grown = min(needed, max(2 * len(self._buffer), 2 * left)) if needed > 4 * len(self._buffer) else needed
            larger = np.zeros(grown + _WINDOW + SLACK, dtype=np.uint8)
            larger[:left] = tail
            self._buffer = larger
        else:
            self._buffer[:left] = tail.copy()

    def _begin_log(self, filled: int) -> int:
        """Check the magic and read the first event; return the offset after it."""
        start = self._buffer[: min(filled, 1 << 16)].tobytes()
        first = next(iter(self._framer.feed(start[: _first_event_end(start)])), None)
        if first is None:
            self._framer.finish()
            raise Truncated("the log ends inside its first event", Position(offset=FIRST_EVENT_OFFSET))
        self._slow_path.read_first_event(first)
        return first.end_offset

    def _end_of_log(self, left: int, offset: int) -> None:
        """Let the framer raise the error for a log that ends inside an event."""
        if left:
            self._framer.offset = offset
            list(self._framer.feed(self._buffer[:left].tobytes()))
            self._framer.finish()

    def _select(self) -> None:
        state, selection = self._state, self.selection
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
    """Return whether events are laid out as kernels know them, which those of 5.1's pre-releases are not."""
    lengths = [log_format.post_header_length(code) for code in _KNOWN_TO_KERNELS]
    return log_format.event_codes is None and lengths == list(_KNOWN_TO_KERNELS.values())


def _first_event_end(start: bytes) -> int:
    """Return the offset after the first event, according to its header."""
    size_at = FIRST_EVENT_OFFSET + Header.EVENT_SIZE
    size = int.from_bytes(start[size_at : size_at + 4], "little")
    return FIRST_EVENT_OFFSET + max(size, Header.LENGTH)
