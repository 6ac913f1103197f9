"""The chunks of one stream. There are two ways to read it, in bulk and event by event; the follower chooses.

BulkSource      bytes as they come: what was unpacked from packets, or a single event that the stream itself has read
CompleteSource  the same in complete transactions
EventSource     one transaction at a time, event by event: if the server skips transactions by their GTIDs, if it does
                not begin each with a GTID event, or if it waits for acknowledgements

A chunk without bytes has an artificial event: a heartbeat, a rotation, a repeated format description.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from binspark.encryption.start_event import without_encryption
from binspark.errors import DecodeError, Malformed
from binspark.frames import EventCode, LogFormat
from binspark.frames.checksum import ChecksumState
from binspark.kernels.packet_layout import ODD_CODES, PACKET_ROLES, Outcome
from binspark.position import Position
from binspark.replication.activity import Activity
from binspark.replication.buffer import TransactionBuffer
from binspark.replication.channel import Memory
from binspark.replication.chunk import LogChunk
from binspark.replication.resume import ResumedStream
from binspark.replication.stop import NEVER, StopCondition
from binspark.replication.stream import StreamEvent, has_current_layout
from binspark.replication.unpack import Unpacked, Unpacker
from binspark.transactions.byte_tables import STARTS_NOTHING, role_in_bytes
from binspark.transactions.grammar import (
    Progress,
    Role,
    begins_another,
    boundary_of,
    breaks_transaction,
    progress_after,
)

_FIRST_SIZE = 1 << 20
_ENOUGH_BYTES = 2 << 20
_NOTHING = memoryview(b"")

log = logging.getLogger("binspark.replication")


class BulkSource:
    """Chunks of bytes as they come, as an iterator.

    Once the stream has begun, an empty one comes at the latest after `wait_seconds`, so that the caller can
    attend to other things.

    activity    counts what comes
    is_stopped  whether the position or time to stop at is reached: the last chunk is the last
    """

    def __init__(
        self,
        resumed: ResumedStream,
        wait_seconds: float,
        stop: StopCondition = NEVER,
        activity: Activity | None = None,
    ) -> None:
        self._stream = resumed.stream
        self._channel = resumed.stream.channel
        self._events = iter(resumed)
        self._wait_seconds = wait_seconds
        self._stop = stop
        self.activity = activity or Activity()
        self._unpacker = Unpacker()
        self._unpacked = Unpacked(Memory(_FIRST_SIZE), stop_time=stop.seconds)
        self._other_target = Memory(_FIRST_SIZE)
        self._last_heard = time.monotonic()
        self._is_waiting = False
        self.is_stopped = False

    @property
    def is_drained(self) -> bool:
        """Whether nothing more is there for the moment."""
        unread = self._channel.unread
        return unread.start == unread.end or (self._is_waiting and self._channel.is_drained)

    def __iter__(self) -> Iterator[LogChunk]:
        return self

    def __next__(self) -> LogChunk:
        while self._stream.can_unpack and not self.is_stopped:
            outcome = self._unpack()
            self.is_stopped = outcome == Outcome.STOPPED
            self._is_waiting = outcome == Outcome.MORE
            if self._unpacked.size:
                return self._copied()
            if outcome == Outcome.PYTHON:
                break
            if outcome == Outcome.FULL:
                self._unpacked.target = Memory(self._channel.unread.needed)
            elif outcome == Outcome.MORE and not self._receive():
                return self._nothing()
        return self._nothing() if self.is_stopped else self._single()

    def _unpack(self) -> Outcome:
        stream = self._stream
        checksum = bool(stream.format.checksum_length)
        self._unpacked.begin(stream.offset, checksum=checksum, stop_offset=self._stop.offset_in(stream.file))
        return self._unpacker(self._channel.unread, self._unpacked)

    def _copied(self) -> LogChunk:
        """Return what was copied out of packets. It stays as it is until the next copy but one."""
        unpacked, start = self._unpacked, self._stream.offset
        self._stream.advance(unpacked.offset)
        data = unpacked.target.view[: unpacked.size]
        self.activity.count(unpacked.size, unpacked.events, unpacked.transactions)
        timestamp = int.from_bytes(data[unpacked.last : unpacked.last + 4], "little")
        complete_end = start + unpacked.complete_size if unpacked.complete_size else None
        unpacked.target, self._other_target = self._other_target, unpacked.target
        return LogChunk(
            self._stream.file, start, self._stream.format, data, complete_end, timestamp, unpacked.indirect_rows
        )

    def _nothing(self) -> LogChunk:
        return LogChunk(self._stream.file, self._stream.offset, self._stream.format, _NOTHING)

    def _single(self) -> LogChunk:
        """Read one event from the stream."""
        event = next(self._events)
        self._is_waiting = False
        self._last_heard = time.monotonic()
        is_start = self._begins_transaction(event)
        if is_start and 0 < self._stop.seconds <= event.frame.header.timestamp:
            self.is_stopped = True
            return LogChunk(event.file, event.offset, event.frame.format, _NOTHING)
        is_complete = event.in_file and self._unpacked.progress == Progress.NONE
        chunk = _event_chunk(event, event.end_offset if is_complete else None)
        self.activity.count(len(chunk.data), event.in_file, is_start)
        return chunk

    def _begins_transaction(self, event: StreamEvent) -> bool:
        """Note what is in progress after an event; return whether it begins a transaction.

        Whether its body is valid is for those to say who decode it.
        """
        before = Progress(self._unpacked.progress)
        if event.is_rotation:
            self._unpacked.progress = Progress.NONE
        if not event.in_file:
            return False
        with suppress(DecodeError):
            role = boundary_of(event.decode()).role
            self._unpacked.progress = progress_after(role, before)
            return before is Progress.NONE and not _is_outside(role)
        return False

    def _receive(self) -> bool:
        if self._channel.receive(self._wait_seconds):
            self._last_heard = time.monotonic()
            return True
        silence_seconds = self._stream.silence_seconds
        if time.monotonic() - self._last_heard > silence_seconds:
            raise self._channel.silence(silence_seconds).at(self._stream.position)
        return False


class CompleteSource:
    """Chunks of complete transactions, as large as what has come. What is incomplete is kept back."""

    def __init__(self, source: BulkSource, memory_bytes: int) -> None:
        self._source = source
        self._memory_bytes = memory_bytes
        self._buffer: TransactionBuffer | None = None

    def __iter__(self) -> Iterator[LogChunk]:
        source = self._source
        log_format: LogFormat | None = None
        for chunk in source:
            log_format = chunk.format
            if chunk.data:
                self._add(chunk)
            is_artificial = chunk.event is not None and not chunk.data
            if is_artificial or source.is_drained or source.is_stopped or self._has_enough:
                yield from self._complete(log_format)
            if is_artificial:
                yield self._after_complete(chunk)
            if source.is_stopped:
                return
        if log_format is not None:
            yield from self._complete(log_format)

    @property
    def _has_enough(self) -> bool:
        return self._buffer is not None and self._buffer.end - self._buffer.offset >= _ENOUGH_BYTES

    def _add(self, chunk: LogChunk) -> None:
        if self._buffer is not None and self._buffer.file == chunk.file:
            self._buffer.add(chunk)
        else:
            self._buffer = TransactionBuffer(chunk, self._memory_bytes)

    def _complete(self, log_format: LogFormat) -> Iterator[LogChunk]:
        """Yield what is complete, if there is something."""
        if self._buffer is not None and self._buffer.is_complete:
            yield self._buffer.take(log_format)

    def _after_complete(self, artificial: LogChunk) -> LogChunk:
        """Return an artificial event at the position after what is complete."""
        buffer = self._buffer
        if buffer is None or buffer.end == buffer.offset:
            return artificial
        if artificial.is_rotation:
            _warn_of_incomplete(buffer)
            self._buffer = None
            return artificial
        return replace(artificial, file=buffer.file, offset=buffer.offset)


class EventSource:
    """Transactions one by one, each a chunk, and events that belong to none."""

    def __init__(self, events: Iterable[StreamEvent], memory_bytes: int, activity: Activity | None = None) -> None:
        self._events = events
        self._memory_bytes = memory_bytes
        self._activity = activity or Activity()
        self._buffer: TransactionBuffer | None = None
        self._progress = Progress.NONE

    def __iter__(self) -> Iterator[LogChunk]:
        for streamed in self._events:
            role = _role_of(streamed)
            if self._buffer is not None and self._is_cut_short(self._buffer, streamed, role):
                _warn_of_incomplete(self._buffer)
                self._buffer, self._progress = None, Progress.NONE
            if streamed.in_file and not (self._buffer is None and _is_outside(role)):
                yield from self._add(streamed, role)
            elif self._buffer is None:
                outside = _log_event_chunk(streamed)
                self._activity.count(len(outside.data), streamed.in_file, 0)
                yield outside
            else:
                yield LogChunk(self._buffer.file, self._buffer.offset, streamed.frame.format, _NOTHING, event=streamed)

    def _is_cut_short(self, buffer: TransactionBuffer, streamed: StreamEvent, role: Role) -> bool:
        """Whether an event shows that the transaction in progress is not continued."""
        if streamed.file != buffer.file or begins_another(role, self._progress):
            return True
        return role is Role.BREAKS and breaks_transaction(streamed.decode(), in_relay_log=False)

    def _add(self, streamed: StreamEvent, role: Role) -> Iterator[LogChunk]:
        """Add an event to its transaction; yield it if it is complete then."""
        self._progress = progress_after(role, self._progress)
        is_complete = self._progress is Progress.NONE
        chunk = _event_chunk(streamed, streamed.end_offset if is_complete else None)
        self._activity.count(len(chunk.data), 1, self._buffer is None)
        if self._buffer is None:
            self._buffer = TransactionBuffer(chunk, self._memory_bytes)
        elif self._buffer.end == chunk.offset:
            self._buffer.add(chunk)
        else:
            message = f"expected the next event of the transaction at {self._buffer.end}, found one at {chunk.offset}"
            raise Malformed(message, Position(chunk.file, chunk.offset))
        if is_complete:
            yield self._buffer.take(chunk.format, is_transaction=True)
            self._buffer = None


def _role_of(event: StreamEvent) -> Role:
    """Return the role of an event, from its bytes if they decide it: decoding takes longer."""
    role: int = Role.UNDECIDED
    if has_current_layout(event.frame.format):
        role = role_in_bytes(PACKET_ROLES[event.type_code], event.frame.body)
    return boundary_of(event.decode()).role if role == Role.UNDECIDED else Role(role)


def _is_outside(role: Role) -> bool:
    """Whether an event belongs to no transaction if none is in progress."""
    return role in STARTS_NOTHING or role is Role.BREAKS


def _event_chunk(event: StreamEvent, complete_end: int | None) -> LogChunk:
    data = memoryview(_in_clear(event)) if event.in_file else _NOTHING
    timestamp, indirect_rows = event.frame.header.timestamp, event.type_code in ODD_CODES
    return LogChunk(event.file, event.offset, event.frame.format, data, complete_end, timestamp, indirect_rows, event)


def _log_event_chunk(event: StreamEvent) -> LogChunk:
    """Return an event that belongs to no transaction.

    By GTIDs, the first event of a file may not be that of the file, and then its checksum does not match: nobody reads
    it, so the chunk has no bytes.
    """
    frame = event.frame
    has_other_checksum = frame.checksum is ChecksumState.NONE and frame.body_end < len(frame.data)
    if event.in_file and event.type_code == EventCode.FORMAT_DESCRIPTION and has_other_checksum:
        return LogChunk(event.file, event.end_offset, event.frame.format, _NOTHING, event=event)
    return _event_chunk(event, event.end_offset if event.in_file else None)


def _in_clear(event: StreamEvent) -> bytes:
    """Return the bytes of an event that match those which follow.

    MariaDB sends an encrypted log decrypted, but with the event that says that it is encrypted. An event that is to be
    ignored replaces it.
    """
    if event.type_code != EventCode.START_ENCRYPTION:
        return event.data
    return without_encryption(event.data, has_checksum=bool(event.frame.format.checksum_length))


def _warn_of_incomplete(buffer: TransactionBuffer) -> None:
    message = "%s:%d: skipping an incomplete transaction: the server crashed before it was committed"
    log.warning(message, buffer.file, buffer.offset)
