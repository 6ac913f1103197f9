"""A server's stream as runs of bytes: many events at a time, in the order of its files, every byte checked.

A run is what was copied out of the packets that came, or a single event that the stream itself has read.
This is the one place that reaches into a stream.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from binspark.client.bulk.area import Area
from binspark.client.bulk.packet_buffer import PacketBuffer
from binspark.client.bulk.unpacker import Unpacker
from binspark.client.bulk.unpacking import Unpacking
from binspark.client.reopen import Reopened
from binspark.client.stream import StreamEvent
from binspark.errors import ConnectionLost, DecodeError
from binspark.frames import EventCode, LogFormat
from binspark.frames.checksum import checksum_of
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels.packet_layout import ODD_CODES, Outcome
from binspark.transactions.grammar import Progress, boundary_of, progress_after

if TYPE_CHECKING:
    from binspark.client.bulk.outline import Chunk

_FIRST_SIZE = 1 << 20
_TYPE = 4
_NOTHING = memoryview(b"")


class Run(NamedTuple):
    """Events that follow each other in one file.

    file, offset  where the first of them stands
    data          their bytes, good until the next run but one is asked for; empty if nothing came for a while
    whole_end     the offset behind the last of them behind which no transaction was open; None if there is none
    last          the offset of the last event
    time          of the last event, in seconds since 1970; 0 if it has none
    format        how they are laid out
    is_odd        whether one of them is such that its offset does not tell all of the rows in it
    event         the event, where it is a single one; one that stands in no file brings no bytes
    """

    file: str
    offset: int
    data: memoryview
    whole_end: int | None
    last: int
    time: int
    format: LogFormat
    is_odd: bool = False
    event: StreamEvent | None = None

    @property
    def end(self) -> int:
        """The offset behind the last event."""
        return self.offset + len(self.data)

    @property
    def chunk(self) -> Chunk:
        """The events alone, of a run that holds some; good as long as its data."""
        import numpy as np

        from binspark.client.bulk.outline import Chunk

        return Chunk(self.file, self.offset, self.format, np.frombuffer(self.data, dtype=np.uint8))


class Stop(NamedTuple):
    """Where runs end: behind the first transaction that ends at an offset of a file or later, or before the first one
    that begins at a time or later. 0 is no such place or time.
    """

    file: str = ""
    offset: int = 0
    seconds: int = 0


class EventRuns:
    """The runs of one stream, as an iterator. Once it has begun, a run that holds nothing comes at the latest after
    `tick_seconds`, so that whoever iterates can look after other things.

    is_stopped  whether the place or time to stop at is reached: the run that came last is the last
    is_drained  whether nothing more is there for the moment
    """

    def __init__(self, reopened: Reopened, tick_seconds: float, stop: Stop | None = None) -> None:
        self._stream: Any = reopened.stream
        self._events = iter(reopened)
        self._stop = stop or Stop()
        self._state = Unpacking(Area(_FIRST_SIZE), Area(_FIRST_SIZE), stop_time=self._stop.seconds)
        self._packets = PacketBuffer(self._stream._channel, tick_seconds, self._state)
        self._unpacker = Unpacker()
        self._other_target = Area(_FIRST_SIZE)
        self._heard = time.monotonic()
        self._outcome = Outcome.MORE
        self.is_stopped = False

    @property
    def is_drained(self) -> bool:
        return self._outcome == Outcome.MORE and self._packets.is_drained

    def __iter__(self) -> Iterator[Run]:
        return self

    def __next__(self) -> Run:
        while self._is_bulk and not self.is_stopped:
            self._outcome = outcome = self._unpack()
            self.is_stopped = outcome == Outcome.STOPPED
            if self._state.out:
                return self._copied()
            if outcome == Outcome.PYTHON:
                break
            if outcome == Outcome.FULL:
                self._state.target = Area(self._state.needed)
            elif outcome == Outcome.MORE and not self._receive():
                return self._nothing()
        return self._nothing() if self.is_stopped else self._single()

    @property
    def _is_bulk(self) -> bool:
        """Whether the stream is one whose packets can be unpacked, and has begun."""
        stream, log_format = self._stream, self._format
        if not stream.file or stream._skip_to or stream.session.semi_sync:
            return False
        return log_format.header_length == HEADER_LENGTH and log_format.event_codes is None

    @property
    def _format(self) -> LogFormat:
        log_format: LogFormat = self._stream._framer.format
        return log_format

    def _unpack(self) -> Outcome:
        state = self._state
        state.offset = self._stream.offset
        state.checksum = bool(self._format.checksum_length)
        state.out = state.whole = 0
        state.is_odd = False
        state.stop = self._stop.offset if self._stream.file == self._stop.file else 0
        return self._unpacker(state)

    def _copied(self) -> Run:
        """Return what was copied out of packets."""
        state, start = self._state, self._stream.offset
        self._stream._tracker.advance(state.offset)
        data, last = state.target.view[: state.out], state.last
        seconds = int.from_bytes(data[last : last + 4], "little")
        whole_end = start + state.whole if state.whole else None
        state.target, self._other_target = self._other_target, state.target
        return Run(self._stream.file, start, data, whole_end, start + last, seconds, self._format, state.is_odd)

    def _nothing(self) -> Run:
        offset = self._stream.offset
        return Run(self._stream.file, offset, _NOTHING, None, offset, 0, self._format)

    def _single(self) -> Run:
        """Let the stream read one event."""
        self._packets.give_back()
        event = next(self._events)
        self._packets.take_over()
        self._outcome = Outcome.PYTHON
        self._heard = time.monotonic()
        self._note(event)
        whole_end = event.end_offset if self._state.opened == Progress.NONE and event.in_file else None
        data = memoryview(_in_clear(event)) if event.in_file else _NOTHING
        seconds, is_odd = event.frame.header.timestamp, event.type_code in ODD_CODES
        return Run(event.file, event.offset, data, whole_end, event.offset, seconds, event.frame.format, is_odd, event)

    def _note(self, event: StreamEvent) -> None:
        """Note what is in progress after an event. Whether its body is sound is for those to say who decode it."""
        if event.in_file:
            with suppress(DecodeError):
                role = boundary_of(event.decode()).role
                self._state.opened = progress_after(role, Progress(self._state.opened))
        elif event.type_code == EventCode.ROTATE:
            self._state.opened = Progress.NONE

    def _receive(self) -> bool:
        if self._packets.receive(self._stream.position):
            self._heard = time.monotonic()
            return True
        silence_seconds = self._stream._settings.silence_seconds
        if time.monotonic() - self._heard > silence_seconds:
            message = f"nothing came for {silence_seconds:g} seconds, not even a heartbeat"
            raise ConnectionLost(message, self._stream.position)
        return False


def _in_clear(event: StreamEvent) -> bytes:
    """Return the bytes of an event as they belong to what follows.

    MariaDB sends an encrypted log in clear, together with the event that says that it is encrypted. What comes is not:
    an event that is to be ignored takes that event's place.
    """
    if event.type_code != EventCode.START_ENCRYPTION:
        return event.data
    ignored = bytearray(event.data)
    ignored[_TYPE] = EventCode.IGNORABLE
    if event.frame.format.checksum_length:
        ignored[-CHECKSUM_LENGTH:] = checksum_of(bytes(ignored[:-CHECKSUM_LENGTH]))
    return bytes(ignored)
