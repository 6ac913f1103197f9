"""One connection's events as they come: exactly the server's bytes, each with its position in the server's logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from binspark.errors import BinlogError, ConnectionLost, Malformed, Purged, Server
from binspark.event import Event, EventDecoder, Heartbeat, HeartbeatV2
from binspark.frames import ChecksumAlgorithm, EventCode, Family, Frame, Framer, LogFormat
from binspark.frames.checksum import ChecksumState, check_format_description, checksum_mismatch
from binspark.frames.codes import type_name
from binspark.frames.format import SERVER_VERSION_LENGTH, version_numbers
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position
from binspark.replication.channel import PacketChannel
from binspark.replication.event_positions import EventPositions, widened
from binspark.replication.packets import (
    ERROR,
    EVENT,
    SEMI_SYNC_LENGTH,
    decode_error,
    decode_semi_sync_header,
    encode_acknowledgement,
    is_end,
)
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import StreamSettings
from binspark.server.errors import explain_dump_error
from binspark.wire import Cursor

_HEARTBEATS = frozenset({EventCode.HEARTBEAT, EventCode.HEARTBEAT_V2})
_HEARTBEAT_V2_SINCE = (8, 0, 26)


class StreamEvent(NamedTuple):
    """An event as the server sent it. `in_file` is false for an artificial one, which is in none of the files."""

    file: str
    frame: Frame
    in_file: bool

    @property
    def data(self) -> bytes:
        """The event's bytes: header, body, checksum."""
        return self.frame.data

    @property
    def type_code(self) -> int:
        """The current meaning of the header's type code."""
        return self.frame.type_code

    @property
    def offset(self) -> int:
        """Where it begins in its file; where the next event is expected, for an artificial one."""
        return self.frame.offset

    @property
    def end_offset(self) -> int:
        """Where it ends in its file; where it begins, for an artificial one."""
        return self.frame.end_offset

    @property
    def is_heartbeat(self) -> bool:
        """Whether it only says that the server is alive."""
        return self.frame.type_code in _HEARTBEATS

    @property
    def is_rotation(self) -> bool:
        """Whether this is the artificial event that says in which file the stream continues."""
        return self.frame.type_code == EventCode.ROTATE and not self.in_file

    def decode(self) -> Event:
        """Decode the event."""
        return EventDecoder(self.file).decode(self.frame)


@dataclass(frozen=True, slots=True)
class Session:
    """What both sides agreed on before a dump.

    `checksum` is for what comes before the first file: each file says itself whether its events have checksums, and the
    server sends them as they are, whatever was agreed on.
    """

    family: Family
    server_version: str
    checksum: ChecksumAlgorithm
    semi_sync: bool
    gtids_enabled: bool

    @property
    def has_heartbeat_v2(self) -> bool:
        """Whether the server can send heartbeats with positions past 4 GiB."""
        return self.family is Family.MYSQL and version_numbers(self.server_version) >= _HEARTBEAT_V2_SINCE


class BinlogStream:
    """The events of one dump, as an iterator; made by `open_stream`.

    It ends where the log ends if that was requested, otherwise only with an error: `ConnectionLost` when the connection
    ends or falls silent, other `SourceError`s when the server refuses, `DecodeError` when bytes are wrong. Heartbeats
    come between events, so that the caller never waits longer than their period.

    A server that waits for an acknowledgement gets it when the next event is requested: until then, the event can be
    stored safely.

    channel   where packets come from; packets that need no look at events can be unpacked there, see `can_unpack`
    gaps      whether the server may skip transactions, because it was given GTIDs
    skip_to   the offset in the first file up to which events come that were not requested
    """

    def __init__(
        self,
        channel: PacketChannel,
        session: Session,
        settings: StreamSettings,
        start: Position,
        *,
        gaps: bool,
        skip_to: int = 0,
        until_end: bool = False,
    ) -> None:
        self.channel = channel
        self.session = session
        self._settings = settings
        self._start = start
        self._positions = EventPositions(gaps=gaps)
        self._skip_to = skip_to
        self._until_end = until_end
        self._framer = _framer(LogFormat(4, session.server_version, HEADER_LENGTH, b"", session.checksum))
        self._has_begun = False
        self._unacknowledged: BinlogPosition | None = None

    @property
    def file(self) -> str:
        """The file of the last event; empty before the first."""
        return self._positions.file

    @property
    def offset(self) -> int:
        """Where the next event of that file is expected, not counting those before the requested position."""
        return max(self._positions.offset, self._skip_to)

    @property
    def position(self) -> Position:
        """Where the stream is, for errors; before its first event, where it was requested to begin."""
        if not self._positions.file:
            return self._start
        return self._positions.position.or_else(Position(source=self._start.source))

    @property
    def format(self) -> LogFormat:
        """How the next event is laid out."""
        log_format = self._framer.format
        assert log_format is not None
        return log_format

    @property
    def silence_seconds(self) -> float:
        """How long the server may be silent. Before the first event it searches its logs."""
        silence_seconds = self._settings.silence_seconds
        return silence_seconds if self._has_begun else max(self._settings.first_seconds, silence_seconds)

    @property
    def can_unpack(self) -> bool:
        """Whether the packets of the channel can be unpacked by others, who call `advance` afterwards.

        Not before the first file is known, while events are skipped, in logs whose headers or type codes differ from
        those of today, and where bytes of semi-synchronous replication come before each event.
        """
        if not self.file or self._skip_to or self.session.semi_sync:
            return False
        return has_current_layout(self.format)

    def advance(self, end_offset: int) -> None:
        """Continue after events that were unpacked from the channel, up to this offset of the file."""
        self._positions.advance(end_offset)

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
            self.channel.send(answer, self.silence_seconds)

    def abort(self) -> None:
        """Stop a thread that waits for the next event: it gets `ConnectionLost`."""
        self.channel.abort()

    def _next_event(self) -> StreamEvent:
        packet = self.channel.read(self.silence_seconds)
        try:
            return self._event(packet)
        except BinlogError as error:
            raise error.at(self.position) from None

    def _event(self, packet: bytes) -> StreamEvent:
        if not packet or packet[0] != EVENT:
            raise self._ended(packet)
        self._has_begun = True
        start, waits = self._event_start(packet)
        event = self._framed(packet[start:])
        if waits and event.in_file:
            self._unacknowledged = BinlogPosition(event.file, event.end_offset)
        return event

    def _event_start(self, packet: bytes) -> tuple[int, bool]:
        """Return where the event begins in its packet, and whether the server waits for an acknowledgement."""
        if not self.session.semi_sync:
            return 1, False
        return 1 + SEMI_SYNC_LENGTH, decode_semi_sync_header(Cursor(packet, 1))

    def _ended(self, packet: bytes) -> Exception:
        if is_end(packet):
            return StopIteration() if self._until_end else ConnectionLost("the server ended the dump")
        if packet[:1] == bytes((ERROR,)):
            error = decode_error(packet)
            return explain_dump_error(error.code, error.message, self.position)
        return Malformed(f"expected an event, an end or an error, found a packet that begins 0x{packet[:16].hex()}")

    def _framed(self, data: bytes) -> StreamEvent:
        positions = self._positions
        frame = self._frame(data)
        end_offset = positions.end_of(frame.header)
        if end_offset is None:
            return self._artificial(frame)
        if end_offset != frame.end_offset:
            frame = frame._replace(offset=end_offset - len(data), end_offset=end_offset)
        positions.advance(end_offset)
        return StreamEvent(positions.file, frame, True)

    def _frame(self, data: bytes) -> Frame:
        """Frame an event as if it were where the next one is expected."""
        self._framer.offset = self._positions.offset
        frame = next(self._framer.feed(data), None)
        if frame is None or self._framer.pending_bytes:
            raise Malformed(f"expected one event in a packet of {len(data)} bytes, found more or less")
        if frame.checksum is ChecksumState.BAD:
            return self._with_other_checksum(frame)
        if frame.type_code == EventCode.START_ENCRYPTION:
            self._framer = _framer(self._framer.format)  # the server decrypts what it sends
        return frame

    def _with_other_checksum(self, frame: Frame) -> Frame:
        """Refuse an event whose checksum does not match, unless the server changed it and kept the old checksum."""
        if self._positions.may_be_changed(frame.header) and _has_checksum_of_file(frame):
            return frame._replace(checksum=ChecksumState.NONE)
        name = type_name(frame.type_code)
        raise checksum_mismatch(frame.data, name).at(Position(offset=self._positions.offset, event=name))

    def _artificial(self, frame: Frame) -> StreamEvent:
        """Take an event that is in no file; some say where the server is."""
        event = StreamEvent(self._positions.file, frame, in_file=False)
        if event.is_heartbeat:
            self._hear(event)
        elif event.is_rotation:
            self._rotate(event)
        return self._here(frame)

    def _here(self, frame: Frame) -> StreamEvent:
        """Return an event that takes no bytes of the file, at the offset where the next one is expected."""
        here = self.offset
        return StreamEvent(self._positions.file, frame._replace(offset=here, end_offset=here), in_file=False)

    def _hear(self, event: StreamEvent) -> None:
        body: Heartbeat | HeartbeatV2 = event.decode().body
        offset = body.log_position or 0
        if isinstance(body, Heartbeat) and body.log_position is None:
            offset = widened(event.frame.header.next_position, self._positions.offset)
        self._positions.heartbeat(body.log_file or "", offset)

    def _rotate(self, event: StreamEvent) -> None:
        rotate = event.decode().body
        if self._positions.file:
            self._refuse_short_log()
            self._skip_to = 0
        self._positions.rotate(rotate.next_file, rotate.position)

    def _skip(self, event: StreamEvent) -> None:
        """Continue after an event that was not requested."""
        if event.end_offset > self._skip_to:
            message = f"no event begins at {self._skip_to}: one begins at {event.offset} and ends at {event.end_offset}"
            raise Server(message, Position(file=event.file, offset=self._skip_to, source=self._start.source))
        if event.end_offset == self._skip_to:
            self._skip_to = 0

    def _refuse_short_log(self) -> None:
        if self._positions.offset < self._skip_to:
            message = f"the log ends at {self._positions.offset}, before the requested position {self._skip_to}"
            raise Purged(message, Position(file=self._positions.file, offset=self._skip_to))


def has_current_layout(log_format: LogFormat) -> bool:
    """Return whether events are laid out as by current servers, so that readers of bytes find what they need."""
    return log_format.is_v4 and log_format.header_length == HEADER_LENGTH and log_format.event_codes is None


def _framer(log_format: LogFormat | None) -> Framer:
    return Framer(log_format, report_checksums=True)


# --- Format descriptions ----------------------------------------------------------------------------------------------
# A server that starts in the middle of a file begins with the file's format description, without its next position
# and its creation time: the reader is to take no position from it, and to keep its temporary tables. By GTIDs it clears
# the creation time alone, if it skips transactions. It computes the checksum anew only if the file has checksums. If
# the file has none, the event still ends with one: that of the event as it is in the file.

_TIME = slice(0, 4)
_NEXT_POSITION = slice(13, 17)
_CREATED = slice(HEADER_LENGTH + 2 + SERVER_VERSION_LENGTH, HEADER_LENGTH + 2 + SERVER_VERSION_LENGTH + 4)
_CLEARED = bytes(4)


def _has_checksum_of_file(description: Frame) -> bool:
    """Return whether a format description has the checksum of its file, and is the file's but for what is cleared."""
    if description.format.checksum_length:
        return False
    return any(check_format_description(event) is ChecksumState.OK for event in _as_in_file(description.data))


def _as_in_file(sent: bytes) -> Iterator[bytes]:
    """Yield what may be in the file: a creation time is that of the event itself, or none."""
    event = bytearray(sent)
    if event[_NEXT_POSITION] == _CLEARED:
        event[_NEXT_POSITION] = (FIRST_EVENT_OFFSET + len(event)).to_bytes(4, "little")
    yield bytes(event)
    if event[_CREATED] == _CLEARED:
        event[_CREATED] = event[_TIME]
        yield bytes(event)
