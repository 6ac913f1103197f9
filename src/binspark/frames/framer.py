"""Bytes into frames: feed chunks of any size, get complete events."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from binspark.errors import DecodeError, Encrypted, Malformed, Truncated
from binspark.frames.checksum import (
    RESIDUE,
    ChecksumState,
    check_event,
    check_format_description,
    checksum_mismatch,
)
from binspark.frames.codes import EventCode, type_name
from binspark.frames.format import CHECKSUM_LENGTH, LogFormat, description_end, read_description
from binspark.frames.frame import Frame
from binspark.frames.header import HEADER, HEADER_LENGTH, V1_HEADER, V1_HEADER_LENGTH, Header
from binspark.frames.magic import FIRST_EVENT_OFFSET, GIVE_KEYRING, VERSION_EVIDENCE, check_magic, log_version
from binspark.position import Position


class Pending:
    """A queue of bytes. A large event that comes in many chunks is joined once, when it is complete.

    Joining at every chunk would copy an event of n chunks n times. The size in the header only decides when to join:
    memory is used for the bytes that came, whatever the size claims.
    """

    __slots__ = ("_chunks", "_total", "buffer", "offset", "wanted")

    def __init__(self) -> None:
        self.buffer = b""
        self.offset = 0
        self._chunks: list[bytes] = []
        self._total = 0
        self.wanted = 0

    def __len__(self) -> int:
        return self._total

    @property
    def available(self) -> int:
        """The number of bytes in `buffer` from `offset` on."""
        return len(self.buffer) - self.offset

    def add(self, chunk: bytes) -> None:
        """Append bytes."""
        self._chunks.append(chunk)
        self._total += len(chunk)
        if self._total >= self.wanted:
            self._join()

    def want(self, length: int) -> None:
        """Set the size of the next event, so that chunks are not joined before it is complete."""
        self.wanted = length

    def peek(self, length: int) -> bytes:
        """Return the next bytes without taking them."""
        if self.available < length:
            self._join()
        return self.buffer[self.offset : self.offset + length]

    def take(self, length: int) -> bytes:
        """Return the next bytes, which must be in the buffer, and skip them."""
        start = self.offset
        self.offset = start + length
        self._total -= length
        self.wanted = 0
        return self.buffer[start : self.offset]

    def _join(self) -> None:
        rest = self.buffer[self.offset :]
        self.buffer = b"".join([rest, *self._chunks]) if rest else b"".join(self._chunks)
        self.offset = 0
        self._chunks.clear()


_CHANGES_FORMAT = frozenset({EventCode.FORMAT_DESCRIPTION, EventCode.START_V3, EventCode.START_ENCRYPTION})
_OK, _BAD, _NO_CHECKSUM = ChecksumState.OK, ChecksumState.BAD, ChecksumState.NONE
# Frames and headers are created for every event: this skips the argument handling of their constructors.
_new_tuple = tuple.__new__


class Framer:
    """Cuts a log into events. The same code serves a file, a socket and a test.

    Without a format it expects a log from its beginning, magic first. With one it expects events only, the first at
    `offset`: that is how a split or a resumed read begins. A checksum that does not match is an error, unless
    `report_checksums`: then the frame has `ChecksumState.BAD`.
    """

    def __init__(self, log_format: LogFormat | None = None, offset: int = 0, *, report_checksums: bool = False) -> None:
        self.format = log_format
        self.offset = offset
        self._report_checksums = report_checksums
        self.verifies_checksums = True
        """Whether checksums are computed. What a kernel has verified need not be verified again."""
        self._pending = Pending()
        self._encrypted = False

    @property
    def pending_bytes(self) -> int:
        """The number of bytes that wait for the rest of their event."""
        return len(self._pending)

    @property
    def expected_bytes(self) -> int:
        """The size that the event which waits for the rest of its bytes has by its header; 0 if none waits."""
        return self._pending.wanted

    @property
    def encrypted(self) -> bool:
        """Whether the rest of the log is encrypted, so that no further event can be framed."""
        return self._encrypted

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Take more bytes and yield the events that are now complete. Events before damage come before the error."""
        self._pending.add(chunk)
        if self.format is None and not self._begin():
            return
        while (frame := self._next_frame()) is not None:
            yield frame

    def finish(self) -> None:
        """End the log: bytes that are still pending are a truncated event."""
        left = len(self._pending)
        if self.format is None:
            self._finish_before_first_event(left)
        if left:
            raise self._truncated(left)

    def _begin(self) -> bool:
        """Check the magic and detect the version; return False if more bytes are needed for that."""
        if len(self._pending) < FIRST_EVENT_OFFSET + VERSION_EVIDENCE:
            if len(self._pending) >= FIRST_EVENT_OFFSET:
                self._checked_magic(self._pending.peek(FIRST_EVENT_OFFSET))
            return False
        start = self._pending.peek(FIRST_EVENT_OFFSET + VERSION_EVIDENCE)
        self._checked_magic(start)
        self._pending.take(FIRST_EVENT_OFFSET)
        self.offset += FIRST_EVENT_OFFSET
        try:
            version = log_version(start[FIRST_EVENT_OFFSET:])
        except DecodeError as error:
            raise error.at(Position(offset=self.offset)) from None
        # The first event of a version 4 log defines its format; until then only the fixed header length is needed.
        self.format = LogFormat.before_v4(version) if version < 4 else _BEFORE_DESCRIPTION
        return True

    def _next_frame(self) -> Frame | None:
        log_format = self.format
        assert log_format is not None
        header_length = log_format.header_length
        pending = self._pending
        buffer, at = pending.buffer, pending.offset
        available = len(buffer) - at
        if available < header_length:
            return None
        header = _read_header(buffer, at, header_length)
        size = header.event_size
        if size < header_length or self._encrypted:
            raise self._unframed(header, header_length)
        if available < size:
            pending.want(size)
            return None
        frame = self._frame(header, pending.take(size), log_format)
        if frame.checksum is _BAD and not self._report_checksums:
            raise self._refused(checksum_mismatch(frame.data, type_name(frame.type_code)), header)
        self.offset = frame.end_offset
        return frame

    def _frame(self, header: Header, data: bytes, log_format: LogFormat) -> Frame:
        """Return the frame. A format description or start event changes the format, beginning with itself."""
        type_code = header.type_code
        if type_code in _CHANGES_FORMAT:
            try:
                return self._format_change(header, data, log_format)
            except DecodeError as error:
                raise self._refused(error, header) from None
        if log_format.event_codes is not None:
            type_code = log_format.current_code(type_code)
        start, end, checksum = log_format.header_length, len(data), _NO_CHECKSUM
        if log_format.checksum_length:
            end -= CHECKSUM_LENGTH
            if end < start:
                raise self._refused(_no_room_for_checksum(data), header)
            checksum = _BAD if self.verifies_checksums and crc32(data) != RESIDUE else _OK
        offset = self.offset
        after = offset + len(data)
        return _new_tuple(Frame, (offset, after, header, type_code, data, start, end, checksum, log_format, None))

    def _format_change(self, header: Header, data: bytes, log_format: LogFormat) -> Frame:
        if header.type_code == EventCode.FORMAT_DESCRIPTION:
            return self._description(header, data)
        if header.type_code == EventCode.START_ENCRYPTION:
            self._encrypted = True  # the event itself is readable, all that follow are not, not even their sizes
        elif not log_format.is_v4:  # a relay log of version 4 may contain the START_V3 of an old source
            server_version = data[log_format.header_length + 2 :][:50].partition(b"\0")[0].decode("latin-1")
            log_format = LogFormat.before_v4(log_format.version, server_version)
            self.format = log_format
        end = len(data) - log_format.checksum_length
        if end < log_format.header_length:
            raise _no_room_for_checksum(data)
        checksum = check_event(data) if log_format.checksum_length else _NO_CHECKSUM
        after = self.offset + len(data)
        start = log_format.header_length
        return Frame(self.offset, after, header, header.type_code, data, start, end, checksum, log_format)

    def _description(self, header: Header, data: bytes) -> Frame:
        # The new format applies to this event, too: whether it has a checksum depends on what is inside it.
        self.format = LogFormat.from_description(read_description(data))
        end, checksum = description_end(data), ChecksumState.NONE
        if end < len(data):
            checksum = check_format_description(data)
        after = self.offset + len(data)
        return Frame(self.offset, after, header, header.type_code, data, HEADER_LENGTH, end, checksum, self.format)

    def _checked_magic(self, start: bytes) -> None:
        try:
            check_magic(start)
        except DecodeError as error:
            raise error.at(Position(offset=self.offset)) from None

    def _finish_before_first_event(self, left: int) -> None:
        self._checked_magic(self._pending.peek(min(left, FIRST_EVENT_OFFSET)))
        message = f"the log ends before its first event, {left - FIRST_EVENT_OFFSET} bytes after the magic"
        raise Truncated(message, Position(offset=self.offset + FIRST_EVENT_OFFSET))

    def _truncated(self, left: int) -> Truncated:
        assert self.format is not None
        if left < self.format.header_length:
            message = f"the log ends {left} bytes into an event header"
            return Truncated(message, Position(offset=self.offset))
        start = self._pending.peek(VERSION_EVIDENCE)
        size = int.from_bytes(start[9:13], "little")
        message = f"the log ends {left} bytes into a {size}-byte event"
        return Truncated(message, Position(offset=self.offset, event=type_name(start[4])))

    def _unframed(self, header: Header, header_length: int) -> DecodeError:
        if self._encrypted:
            message = f"the rest of the log is encrypted (MariaDB's encrypt_binlog=ON); {GIVE_KEYRING}"
            return Encrypted(message, Position(offset=self.offset))
        message = f"event size is {header.event_size}, expected at least the {header_length} bytes of the header"
        return self._refused(Malformed(message), header)

    def _refused(self, error: DecodeError, header: Header) -> DecodeError:
        return error.at(Position(offset=self.offset, event=type_name(header.type_code)))


def _no_room_for_checksum(data: bytes) -> Malformed:
    return Malformed(f"event size is {len(data)}, too small for a header and a checksum")


def _read_header(buffer: bytes, offset: int, header_length: int) -> Header:
    if header_length == V1_HEADER_LENGTH:
        return Header._make((*V1_HEADER.struct.unpack_from(buffer, offset), 0, 0))
    return _new_tuple(Header, _unpack_header(buffer, offset))


_unpack_header = HEADER.struct.unpack_from
_BEFORE_DESCRIPTION = LogFormat(4, "", HEADER_LENGTH, b"")
