"""One connection's events as they come: exactly the server's bytes, each with its place in the server's logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from binspark.client.advice import explained_dump
from binspark.client.packets import ERROR, EVENT, decode_error, is_end
from binspark.client.semi_sync import HEADER_LENGTH as SEMI_SYNC_LENGTH
from binspark.client.semi_sync import Acknowledgement, decode_header, encode_acknowledgement
from binspark.client.session import Session
from binspark.client.settings import StreamSettings
from binspark.client.tracker import Tracker, widened
from binspark.client.wire_access import PacketChannel
from binspark.errors import BinlogError, ConnectionLost, Malformed
from binspark.event import Event, EventDecoder, HeartbeatV2
from binspark.frames import EventCode, Frame, Framer, LogFormat
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
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
        self._framer = Framer(LogFormat(4, session.server_version, HEADER_LENGTH, b"", session.checksum))
        self._silence_seconds = max(settings.first_seconds, settings.silence_seconds)
        self._unacknowledged: Acknowledgement | None = None

    @property
    def file(self) -> str:
        """The file that the last event was of; empty before the first."""
        return self._tracker.file

    @property
    def offset(self) -> int:
        """Where the next event of that file is due."""
        return self._tracker.offset

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
            if not (event.in_file and event.end_offset <= self._skip_to):
                return event

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
        if len(data) < HEADER_LENGTH:
            raise Malformed(f"a packet of {len(data)} bytes has no room for an event")
        header = Cursor(data).fields(HEADER)
        offset, end_offset, in_file = self._tracker.locate(Header._make(header))
        frame = self._frame(data, offset)._replace(end_offset=end_offset)
        event = StreamEvent(self._tracker.file, frame, in_file)
        if in_file:
            self._tracker.advance(end_offset)
        elif event.heartbeat:
            event = self._heard(event)
        elif frame.type_code == EventCode.ROTATE:
            event = self._rotated(event)
        return event

    def _frame(self, data: bytes, offset: int) -> Frame:
        self._framer.offset = offset
        frames = list(self._framer.feed(data))
        if len(frames) != 1 or self._framer.pending_bytes:
            raise Malformed(f"a packet of {len(data)} bytes does not hold one event")
        if frames[0].type_code == EventCode.START_ENCRYPTION:
            self._framer = Framer(self._framer.format)  # the server decrypts what it sends
        return frames[0]

    def _heard(self, event: StreamEvent) -> StreamEvent:
        body = event.decode().body
        if isinstance(body, HeartbeatV2):
            offset = body.log_position or 0
        else:
            offset = widened(event.frame.header.next_position, self._tracker.offset)
        self._tracker.heard(body.log_file or "", offset)
        if self._on_heartbeat is not None:
            self._on_heartbeat(self.position)
        return self._here(event)

    def _rotated(self, event: StreamEvent) -> StreamEvent:
        rotate = event.decode().body
        if self._tracker.file:
            self._skip_to = 0
        self._tracker.rotate(rotate.next_file, rotate.position)
        return self._here(event)

    def _here(self, event: StreamEvent) -> StreamEvent:
        """Return a made-up event with the place that it tells."""
        offset = self._tracker.offset
        return StreamEvent(self._tracker.file, event.frame._replace(offset=offset, end_offset=offset), in_file=False)
