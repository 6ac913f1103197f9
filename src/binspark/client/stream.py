"""One connection's events as they come: exactly the server's bytes, each with its place in the server's logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from binspark.client.advice import explained_dump
from binspark.client.description import has_checksum_of_file
from binspark.client.packets import ERROR, EVENT, decode_error, is_end
from binspark.client.semi_sync import HEADER_LENGTH as SEMI_SYNC_LENGTH
from binspark.client.semi_sync import Acknowledgement, decode_header, encode_acknowledgement
from binspark.client.session import Session
from binspark.client.settings import StreamSettings
from binspark.client.tracker import Tracker, widened
from binspark.client.wire_access import PacketChannel
from binspark.errors import BinlogError, ConnectionLost, Malformed, Purged, Server
from binspark.event import Event, EventDecoder, Heartbeat, HeartbeatV2
from binspark.frames import EventCode, Frame, Framer, LogFormat
from binspark.frames.checksum import ChecksumState, checksum_mismatch
from binspark.frames.codes import type_name
from binspark.frames.header import HEADER_LENGTH
from binspark.position import Position
from binspark.wire import Cursor

OnHeartbeat = Callable[[Position], None]
"""Is told where the server is, each time that it says so."""

_HEARTBEATS = frozenset({EventCode.HEARTBEAT, EventCode.HEARTBEAT_V2})


class StreamEvent(NamedTuple):
    """An event as the server sent it. `in_file` is false for one that stands in none of the server's files."""

    file: str
    frame: Frame
    in_file: bool

    @property
    def data(self) -> bytes:
        """The event's bytes: header, body, checksum."""
        return self.frame.data

    @property
    def type_code(self) -> int:
        return self.frame.type_code

    @property
    def offset(self) -> int:
        return self.frame.offset

    @property
    def end_offset(self) -> int:
        return self.frame.end_offset

    @property
    def heartbeat(self) -> bool:
        return self.frame.type_code in _HEARTBEATS

    def decode(self) -> Event:
        """Decode the event."""
        return EventDecoder(self.file).decode(self.frame)


class BinlogStream:
    """The events of one dump, as an iterator; made by `open_stream`.

    It ends where the log ends if `until_end` was asked for, otherwise only with an error: `ConnectionLost` when the
    connection ends or falls silent, other `SourceError`s when the server refuses, `DecodeError` when bytes are wrong.
    Heartbeats come between events, so that whoever iterates is never kept waiting longer than their period.

    A server that waits for an acknowledgement gets it when the next event is asked for: until then, the event that it
    is for may be put away safely.
    """

    def __init__(
        self,
        channel: PacketChannel,
        session: Session,
        settings: StreamSettings,
        *,
        place: Position,
        gaps: bool,
        skip_to: int = 0,
        on_heartbeat: OnHeartbeat | None = None,
    ) -> None:
        self.session = session
        self._channel = channel
        self._settings = settings
        self._start = place
        self._tracker = Tracker(gaps=gaps)
        self._skip_to = skip_to
        self._on_heartbeat = on_heartbeat
        self._framer = _framer(LogFormat(4, session.server_version, HEADER_LENGTH, b"", session.checksum))
        self._silence_seconds = max(settings.first_seconds, settings.silence_seconds)
        self._unacknowledged: Acknowledgement | None = None

    @property
    def file(self) -> str:
        """The file that the last event was of; empty before the first."""
        return self._tracker.file

    @property
    def offset(self) -> int:
        """Where the next event of that file is due; those before the place that was asked for are left out."""
        return max(self._tracker.offset, self._skip_to)

    @property
    def position(self) -> Position:
        """Where the stream is; before its first event, where it was asked to begin."""
        if not self._tracker.file:
            return self._start
        return self._tracker.position.or_else(Position(source=self._start.source))

    def __iter__(self) -> Iterator[StreamEvent]:
        return self

    def __next__(self) -> StreamEvent:
        self.acknowledge()
        while True:
            event = self._next_event()
            if not event.in_file or event.offset >= self._skip_to:
                return event
            self._skip(event)
            if event.type_code == EventCode.FORMAT_DESCRIPTION:
                return self._here(event.frame)

    def acknowledge(self) -> None:
        """Acknowledge the last event now, if the server waits for it."""
        if self._unacknowledged is not None:
            answer, self._unacknowledged = encode_acknowledgement(self._unacknowledged), None
            self._channel.send_answer(answer)

    def abort(self) -> None:
        """Stop a thread that waits for the next event: it gets `ConnectionLost`."""
        self._channel.abort()

    def _next_event(self) -> StreamEvent:
        packet = self._channel.read(self._silence_seconds)
        try:
            return self._event(packet)
        except BinlogError as error:
            raise error.at(self.position) from None

    def _event(self, packet: bytes) -> StreamEvent:
        if not packet or packet[0] != EVENT:
            raise self._ended(packet)
        self._silence_seconds = self._settings.silence_seconds
        start, waits = self._event_start(packet)
        event = self._framed(packet[start:])
        if waits and event.in_file:
            self._unacknowledged = Acknowledgement(event.file, event.end_offset)
        return event

    def _event_start(self, packet: bytes) -> tuple[int, bool]:
        """Return where the event begins in its packet, and whether the server waits for an acknowledgement."""
        if not self.session.semi_sync:
            return 1, False
        return 1 + SEMI_SYNC_LENGTH, decode_header(Cursor(packet, 1))

    def _ended(self, packet: bytes) -> Exception:
        if is_end(packet):
            return StopIteration() if self._settings.until_end else ConnectionLost("the server ended the dump")
        if packet[:1] == bytes((ERROR,)):
            error = decode_error(packet)
            return explained_dump(error.code, error.message, self.position)
        return Malformed(f"a packet that is neither event, end nor error: 0x{packet[:16].hex()}")

    def _framed(self, data: bytes) -> StreamEvent:
        tracker = self._tracker
        frame = self._frame(data)
        end_offset = tracker.end_of(frame.header)
        if end_offset is None:
            return self._made_up(frame)
        if end_offset != frame.end_offset:
            frame = frame._replace(offset=end_offset - len(data), end_offset=end_offset)
        tracker.advance(end_offset)
        return StreamEvent(tracker.file, frame, True)

    def _frame(self, data: bytes) -> Frame:
        """Frame an event as if it stood where the next one is due."""
        self._framer.offset = self._tracker.offset
        frame = next(self._framer.feed(data), None)
        if frame is None or self._framer.pending_bytes:
            raise Malformed(f"a packet of {len(data)} bytes does not hold one event")
        if frame.checksum is ChecksumState.BAD:
            return self._unsummed(frame)
        if frame.type_code == EventCode.START_ENCRYPTION:
            self._framer = _framer(self._framer.format)  # the server decrypts what it sends
        return frame

    def _unsummed(self, frame: Frame) -> Frame:
        """Refuse an event whose checksum does not hold, unless the server changed it and left it the old checksum."""
        if self._tracker.may_be_changed(frame.header) and has_checksum_of_file(frame):
            return frame._replace(checksum=ChecksumState.NONE)
        name = type_name(frame.type_code)
        raise checksum_mismatch(frame.data, name).at(Position(offset=self._tracker.offset, event=name))

    def _made_up(self, frame: Frame) -> StreamEvent:
        """Take an event that is in no file; some tell where the server is."""
        event = StreamEvent(self._tracker.file, frame, in_file=False)
        if event.heartbeat:
            self._hear(event)
        elif frame.type_code == EventCode.ROTATE:
            self._rotate(event)
        return self._here(frame)

    def _here(self, frame: Frame) -> StreamEvent:
        """Return an event that takes no room in the file, at the place where the next one is due."""
        here = self.offset
        return StreamEvent(self._tracker.file, frame._replace(offset=here, end_offset=here), in_file=False)

    def _hear(self, event: StreamEvent) -> None:
        body: Heartbeat | HeartbeatV2 = event.decode().body
        offset = body.log_position or 0
        if isinstance(body, Heartbeat) and body.log_position is None:
            offset = widened(event.frame.header.next_position, self._tracker.offset)
        self._tracker.heard(body.log_file or "", offset)
        if self._on_heartbeat is not None:
            self._on_heartbeat(self.position)

    def _rotate(self, event: StreamEvent) -> None:
        rotate = event.decode().body
        if self._tracker.file:
            self._refuse_unreached()
            self._skip_to = 0
        self._tracker.rotate(rotate.next_file, rotate.position)

    def _skip(self, event: StreamEvent) -> None:
        """Go behind an event that was not asked for."""
        if event.end_offset > self._skip_to:
            message = f"no event begins at {self._skip_to}: one begins at {event.offset} and ends at {event.end_offset}"
            raise Server(message, Position(file=event.file, offset=self._skip_to, source=self._start.source))
        if event.end_offset == self._skip_to:
            self._skip_to = 0

    def _refuse_unreached(self) -> None:
        if self._tracker.offset < self._skip_to:
            message = f"the log ends at {self._tracker.offset}, before the place that was asked for, {self._skip_to}"
            raise Purged(message, Position(file=self._tracker.file, offset=self._skip_to))


def _framer(log_format: LogFormat | None) -> Framer:
    return Framer(log_format, report_checksums=True)
