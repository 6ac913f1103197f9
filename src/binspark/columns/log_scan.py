"""Logs, read window by window: a kernel reads the events of each, and Python those that the kernel leaves to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from ctypes import string_at
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from binspark.columns.arena import SLACK, ReadInto, fill, thread_arena
from binspark.columns.sequence import NO_EPOCH, Sequence
from binspark.errors import BinlogError, Truncated
from binspark.frames import EventCode, Frame, Framer, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import without_checksum
from binspark.kernels.compiler import Headway
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.layout import Header, State, Stop
from binspark.position import Position

WINDOW = 16 << 20
SMALL_WINDOW = 2 << 20
"""For rows that are put in order: what is made of one window is kept until its end."""

ROWS_POST_HEADERS = {
    EventCode.TABLE_MAP: 8,
    EventCode.WRITE_ROWS_V1: 8,
    EventCode.UPDATE_ROWS_V1: 8,
    EventCode.DELETE_ROWS_V1: 8,
    EventCode.WRITE_ROWS: 10,
    EventCode.UPDATE_ROWS: 10,
    EventCode.DELETE_ROWS: 10,
}
"""The lengths of post-headers of rows as kernels know them; those of 5.1's pre-releases are others."""

Item = TypeVar("Item")
Numbers = npt.NDArray[np.int64]


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
    sequence: Sequence = NO_EPOCH


class LogScan(ABC, Generic[Item]):
    """Reads one log after the other. Subclasses have the kernel, and do what it needs before it can continue.

    state         the numbers that the kernel keeps from call to call
    post_headers  the types of events whose bodies the kernel reads, and the lengths of their post-headers
    """

    post_headers: ClassVar[Mapping[EventCode, int]]
    report_checksums: ClassVar = False
    """Whether an event with a wrong checksum is for Python, instead of raising `Checksum`."""

    def __init__(self, state: Numbers, window: int | None = None) -> None:
        self.state = state
        self._buffer = thread_arena().take((WINDOW if window is None else window) + SLACK)
        self._framer = Framer()
        self._span: Span | None = None
        state[State.CRC_FUNCTION] = crc32_address()

    def read(
        self, read_into: ReadInto, file: str = "", span: Span | None = None, *, start: int = 0, stop: int | None = None
    ) -> Iterator[Item]:
        """Read a log, or a span of it whose first byte comes first, and yield what is in it.

        What is before the offset `start` is skipped, and the log is read up to the offset `stop`. What comes before
        damage is delivered before the error is raised.
        """
        self._span = span
        log_format, offset = (None, 0) if span is None else (span.format, span.start)
        self._framer = Framer(log_format, offset, report_checksums=self.report_checksums)
        self.state[State.ROW_AT] = 0
        self.state[State.SPLIT_END] = 0 if span is None else span.end or 0
        self.state[State.START_POSITION], self.state[State.STOP_POSITION] = start, stop or 0
        self._begin_part(file)
        try:
            yield from self._windows(read_into)
        except BinlogError as error:
            yield from self._flush()
            raise error.at(Position(file=file or None)) from None
        yield from self._flush()

    @abstractmethod
    def _begin_part(self, file: str) -> None:
        """Begin another log, or a span of one. The framer is new, too."""

    @abstractmethod
    def _first_frame(self, frame: Frame) -> Iterator[Item]:
        """Take the first event of a log."""

    @abstractmethod
    def _frame_for_python(self, frame: Frame) -> Iterator[Item]:
        """Take an event of a log whose headers kernels do not know."""

    @abstractmethod
    def _run_kernel(self) -> int:
        """Run the kernel until Python is needed; return why."""

    @abstractmethod
    def _stopped(self, stop: int) -> Iterator[Item]:
        """Do what the kernel needs before it can continue."""

    @abstractmethod
    def _flush(self) -> Iterator[Item]:
        """Yield what was collected."""

    def _leave_bytes(self) -> Iterator[Item]:
        """Do what needs the bytes that the kernel has read; they may be gone afterwards."""
        return iter(())

    def _windows(self, read_into: ReadInto) -> Iterator[Item]:
        """Fill the buffer again and again; what is left of an event moves to its front."""
        state = self.state
        filled, start = fill(read_into, self._buffer, 0)[0], 0
        if self._span is None:
            first = self._begin_log(filled)
            start = first.end_offset
            yield from self._first_frame(first)
        if self._framer.format is not None and self._framer.format.header_length != Header.LENGTH:
            yield from self._by_framer(read_into, start, filled)
            return
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

    def _scan_bytes(self, start: int, end: int, log_format: LogFormat) -> Iterator[Item]:
        """Run the kernel over the events between two addresses, which are in memory and stay there."""
        state = self.state
        state[State.AT], state[State.END] = start, end
        self._use_format(log_format)
        headway = Headway()
        while True:
            stop = self._run_kernel()
            headway.check(int(state[State.AT]), int(state[State.ROW_AT]))
            if stop in (Stop.MORE, Stop.END) or (stop == Stop.BOUNDARY and self._ends_here()):
                yield from self._leave_bytes()
                return
            if stop != Stop.BOUNDARY:
                yield from self._stopped(stop)

    def _is_for_kernels(self, log_format: LogFormat) -> bool:
        """Return whether the kernel knows the events of a format; if not, Python reads each of them."""
        lengths = {code: log_format.post_header_length(code) for code in self.post_headers}
        return log_format.event_codes is None and lengths == self.post_headers

    def _use_format(self, log_format: LogFormat) -> None:
        self.state[State.CHECKSUM] = 1 if log_format.checksum_length else 0
        self.state[State.ALL_FOR_PYTHON] = self._framer.encrypted or not self._is_for_kernels(log_format)

    def _ends_here(self) -> bool:
        """Return whether the transaction that begins here is another reader's. If damaged, no other reader finds it."""
        state, span = self.state, self._span
        assert span is not None
        offset = int(state[State.FILE_OFFSET] + state[State.AT] - state[State.BUFFER])
        if span.is_start(offset):
            state[State.STOP_POSITION] = offset
            return True
        state[State.SPLIT_END] = offset + 1
        return False

    def _keep_tail(self, at: int, left: int, needed: int) -> None:
        """Move the rest of the window to the front, into a larger buffer if the next event needs it."""
        tail = self._buffer[at : at + left]
        if needed + SLACK > len(self._buffer):
            # A size in a damaged header may be anything: the buffer grows only as bytes really come.
            grown = min(needed, max(2 * len(self._buffer), 2 * left)) if needed > 4 * len(self._buffer) else needed
            larger = np.zeros(grown + WINDOW + SLACK, dtype=np.uint8)
            larger[:left] = tail
            self._buffer = larger
        else:
            self._buffer[:left] = tail.copy()

    def _begin_log(self, filled: int) -> Frame:
        """Check the magic and return the first event."""
        start = self._buffer[: min(filled, 1 << 16)].tobytes()
        first = next(iter(self._framer.feed(start[: _first_event_end(start)])), None)
        if first is None:
            self._framer.finish()
            raise Truncated("the log ends inside its first event", Position(offset=FIRST_EVENT_OFFSET))
        return first

    def _by_framer(self, read_into: ReadInto, start: int, filled: int) -> Iterator[Item]:
        """Read a log whose headers kernels do not know: of version 1, or with a damaged format description."""
        span = self._span
        while filled > start:
            for frame in self._framer.feed(self._buffer[start:filled].tobytes()):
                if span is not None and span.end and frame.offset >= span.end and span.is_start(frame.offset):
                    return
                yield from self._frame_for_python(frame)
            start, filled = 0, fill(read_into, self._buffer, 0)[0]
        self._framer.finish()

    def _end_of_log(self, left: int, offset: int) -> None:
        """Raise the framer's error for a log that ends inside an event."""
        if left:
            self._framer.offset = offset
            list(self._framer.feed(self._buffer[:left].tobytes()))
            self._framer.finish()


def frame_at(state: Numbers, framer: Framer, *, is_verified: bool = False) -> Frame:
    """Frame the event that a scan is at, with the checks and errors of the object API.

    Its checksum is computed again, unless a kernel has verified it.
    """
    at = int(state[State.AT])
    data = string_at(at, max(event_size(at), HEADER_LENGTH))
    if state[State.INNER]:
        assert framer.format is not None
        framer = Framer(without_checksum(framer.format), int(state[State.OUTER_OFFSET]))
    else:
        framer.offset = int(state[State.FILE_OFFSET] + at - state[State.BUFFER])
    framer.verifies_checksums = not is_verified
    try:
        frame = next(framer.feed(data), None)
    finally:
        framer.verifies_checksums = True
    if frame is None:  # a format description inside the log has another length of headers
        framer.finish()
        raise Truncated(f"event of {len(data)} bytes is incomplete", Position(offset=framer.offset))
    return frame


def event_size(at: int) -> int:
    """Return the size of the event at an address."""
    return int.from_bytes(string_at(at + Header.EVENT_SIZE, 4), "little")


def _first_event_end(start: bytes) -> int:
    """Return the offset after the first event, according to its header."""
    size_at = FIRST_EVENT_OFFSET + Header.EVENT_SIZE
    size = int.from_bytes(start[size_at : size_at + 4], "little")
    return FIRST_EVENT_OFFSET + max(size, Header.LENGTH)
