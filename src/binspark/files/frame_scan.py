"""Scan a log into frames, past damage: bytes that cannot be read are skipped, and yielded as holes.

An event with a wrong checksum is still a frame if its size can be trusted: its next position agrees with its size, or
another event follows. Otherwise the bytes up to the next event that can be found are a hole.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from binspark.errors import DecodeError, Encrypted, Malformed, Truncated
from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT
from binspark.files.storage.local import LocalFile
from binspark.files.storage.store import LogFile
from binspark.frames import (
    KNOWN_CODES,
    MAGIC,
    ChecksumAlgorithm,
    ChecksumState,
    EventCode,
    Frame,
    Framer,
    LogFormat,
    type_name,
)
from binspark.frames.header import HEADER, HEADER_LENGTH
from binspark.frames.magic import GIVE_KEYRING, VERSION_EVIDENCE, check_magic
from binspark.frames.relay import is_relay_log
from binspark.frames.resync import begins_event, find_event

_CHUNK = 1 << 18
_FIRST_CHUNK = 1 << 12
_MAX_PENDING = 1 << 22
_U32 = 1 << 32
_SIZE = slice(9, 13)
_START = len(MAGIC)
_OK, _BAD = ChecksumState.OK, ChecksumState.BAD
_ORDINARY_CODES = frozenset(map(int, KNOWN_CODES - {EventCode.START_ENCRYPTION}))

_ALGORITHMS = (ChecksumAlgorithm.CRC32, ChecksumAlgorithm.NONE)


def _guessed_format(checksum: ChecksumAlgorithm, type_code: int = 0) -> LogFormat:
    """Return a format for a log whose format description is lost or damaged; `type_code` is of its next event.

    The layout is the one that all servers since MySQL 5.1 use. What a damaged description says is not used: a wrong
    length in it would give wrong rows. MariaDB writes an event of its own first, GTID_LIST.
    """
    server_version = "MariaDB" if type_code >= EventCode.ANNOTATE_ROWS else ""
    return LogFormat(4, server_version, HEADER_LENGTH, b"", checksum)


@contextmanager
def open_seekable(source: LogSource) -> Iterator[LogFile]:
    """Open a log, to read past damage, which needs to seek.

    Standard input and compressed logs are copied to a temporary file first.
    """
    with source.open() as file:
        if source.name != STANDARD_INPUT and not file.is_compressed:
            yield file
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            copy.flush()
            yield LogFile(LocalFile(copy.fileno()))


class Cause(Enum):
    """Why bytes are a hole.

    BAD_MAGIC   the magic number is damaged, but events follow
    NOT_A_LOG   nothing shows that this is a log
    ENCRYPTED   the rest of the log is encrypted
    TRUNCATED   the log ends inside an event
    JOINED      another log begins here
    DAMAGED     the bytes are not events
    """

    BAD_MAGIC = "bad magic"
    NOT_A_LOG = "not a log"
    ENCRYPTED = "encrypted"
    TRUNCATED = "truncated"
    JOINED = "joined"
    DAMAGED = "damaged"


class Hole(NamedTuple):
    """Bytes of a log that are not events, why, and what was wrong with the first of them."""

    start: int
    end: int
    cause: Cause
    error: DecodeError


Skip = Callable[[int, LogFormat], int]
"""Takes the offset after an event that was yielded, and returns where to continue: there, or at a later event."""


class FrameScanner:
    """Scans one log, which must be one that can be read from any offset. `skip` may skip events that are sound.

    relay   whether this is a relay log, known after its first event
    """

    def __init__(self, log: LogFile, skip: Skip | None = None) -> None:
        self.relay = False
        self._log = log
        self._skip_from = skip
        self._format: LogFormat | None = None
        self._position_before = 0

    def scan(self) -> Iterator[Frame | Hole]:
        """Yield every event that can be read, and every hole between them."""
        offset = yield from self._begin()
        while offset < self._log.size:
            if self._format is not None:
                offset = yield from self._sound_frames(offset)
            if offset == self._log.size:
                return
            item = self._read_item(offset)
            yield item
            offset = item.end if isinstance(item, Hole) else item.end_offset
            if not isinstance(item, Hole) and _begins_encryption(item):
                message = f"the rest of the log is encrypted (MariaDB's encrypt_binlog=ON); {GIVE_KEYRING}"
                yield self._rest(offset, Cause.ENCRYPTED, Encrypted(message))
                return

    def _sound_frames(self, offset: int) -> Generator[Frame, None, int]:
        """Yield events as long as they are sound; return the offset of the first one that needs a closer look.

        Without a checksum, and with a next position of another log, an event is sound if another one follows it. It
        is held until then.
        """
        framer = Framer(self._format, offset, report_checksums=True)
        held: Frame | None = None
        for frame in self._frames(framer, offset):
            if frame.checksum is _BAD or frame.type_code not in _ORDINARY_CODES:
                return frame.offset if held is None else held.offset
            if held is not None:
                yield held
                held = None
            if frame.checksum is _OK or self._position_matches(frame):
                self._format = frame.format
                self._position_before = frame.header.next_position
                yield frame
                after = frame.end_offset if self._skip_from is None else self._skip_from(frame.end_offset, frame.format)
                if after != frame.end_offset:
                    return after
            else:
                held = frame
            self._position_before = frame.header.next_position
        if held is None:
            return framer.offset
        if held.end_offset != self._log.size:
            return held.offset
        yield held
        return held.end_offset

    def _frames(self, framer: Framer, offset: int) -> Iterator[Frame]:
        """Yield frames up to the first that cannot be framed, or is so large that its size must be checked first.

        Chunks are small at first: after damage, the next may not be far.
        """
        self._log.seek(offset)
        length = _FIRST_CHUNK
        try:
            while framer.pending_bytes <= _MAX_PENDING and (
                chunk := self._log.read(min(length, self._log.size - offset))
            ):
                yield from framer.feed(chunk)
                offset += len(chunk)
                length = min(2 * length, _CHUNK)
        except DecodeError:
            return  # the closer look finds the same error

    def _begin(self) -> Generator[Hole, None, int]:
        """Check the magic number; return the offset of the first event, the size of the log if there is none."""
        start = self._read_at(0, _START)
        size = self._log.size
        try:
            check_magic(start)
        except Truncated as error:
            yield Hole(0, size, Cause.TRUNCATED, error)
            return size
        except Encrypted as error:
            yield Hole(0, size, Cause.ENCRYPTED, error)
            return size
        except Malformed as error:
            found = self._begins_without_magic()
            yield Hole(0, _START, Cause.BAD_MAGIC, error) if found else Hole(0, size, Cause.NOT_A_LOG, error)
            return _START if found else size
        if size == _START:
            message = "the log ends before its first event: it has only the magic number"
            yield Hole(_START, size, Cause.TRUNCATED, Truncated(message))
        return _START

    def _begins_without_magic(self) -> bool:
        """Return whether a format description with a correct checksum follows a damaged magic number."""
        try:
            frame = self._event(_START)
        except DecodeError:
            return False
        return frame.type_code == EventCode.FORMAT_DESCRIPTION and frame.checksum is _OK

    def _read_item(self, offset: int) -> Frame | Hole:
        """Return the event at an offset, or the hole that begins there."""
        try:
            frame = self._event(offset)
            if not self._size_is_plausible(frame):
                raise Malformed(f"event size {len(frame.data)} is wrong: no event follows")
        except DecodeError as error:
            return self._skip(offset, error)
        if self._format is None:
            return self._first(frame)
        if frame.checksum is not _BAD:
            self._format = frame.format
        self._position_before = frame.header.next_position
        return frame

    def _first(self, frame: Frame) -> Frame:
        """Take the first event, which defines the format of those that follow, unless it is damaged."""
        after = self._read_at(frame.end_offset, HEADER_LENGTH)
        self.relay = is_relay_log(frame, after)
        if frame.checksum is not _BAD:
            self._format = frame.format
            return frame
        checksum = self._probe(frame)
        self._format = _guessed_format(checksum, after[4] if len(after) == HEADER_LENGTH else 0)
        return frame._replace(format=replace(frame.format, checksum=checksum))

    def _event(self, offset: int) -> Frame:
        """Read one event; refuse a size that is beyond the end of the log."""
        length = VERSION_EVIDENCE if self._format is None else self._format.header_length
        header = self._read_at(offset, length)
        size = int.from_bytes(header[_SIZE], "little")
        left = self._log.size - offset
        if len(header) < length:
            raise Truncated(f"the log ends {left} bytes into an event's header")
        if size < length:
            raise Malformed(f"an event of {size} bytes, its header alone takes {length}")
        if size > left:
            raise Truncated(f"the log ends {left} bytes into an event {type_name(header[4])} of {size} bytes")
        if size > _MAX_PENDING and not self._may_be_large(offset, size):
            raise Malformed(f"event size {size} is wrong: no event follows")
        event = self._read_at(offset, size)
        if self._format is None:
            return _one_frame(Framer(report_checksums=True), MAGIC + event)
        return _one_frame(Framer(self._format, offset, report_checksums=True), event)

    def _may_be_large(self, offset: int, size: int) -> bool:
        """Return whether an event may have a large size, before that many bytes are read."""
        if self._format is None or self._header_is_sound(offset) or offset + size == self._log.size:
            return True
        return self._could_be_event(offset + size, self._format)

    def _size_is_plausible(self, frame: Frame) -> bool:
        """Return whether the next event begins where this one ends according to its size."""
        if frame.checksum is _OK or self._position_matches(frame) or frame.end_offset == self._log.size:
            return True
        if frame.checksum is _BAD and self._format is not None:
            return self._begins_event(frame.end_offset, self._format)
        return self._could_be_event(frame.end_offset, frame.format)

    def _position_matches(self, frame: Frame) -> bool:
        """Return whether the next position agrees with the size: in a relay log, with that of the event before."""
        position = frame.header.next_position
        if not self.relay:
            return position == frame.end_offset % _U32
        return position != 0 and position == (self._position_before + len(frame.data)) % _U32

    def _could_be_event(self, offset: int, log_format: LogFormat) -> bool:
        left = self._log.size - offset
        header = self._read_at(offset, log_format.header_length)
        if len(header) < log_format.header_length:
            return left >= 0
        size = int.from_bytes(header[_SIZE], "little")
        return header[4] in KNOWN_CODES and log_format.header_length <= size <= left

    def _probe(self, frame: Frame) -> ChecksumAlgorithm:
        """Return the checksum algorithm after a damaged format description: the one that fits the next event."""
        for checksum in _ALGORITHMS:
            if self._begins_event(frame.end_offset, _guessed_format(checksum)):
                return checksum
        return frame.format.checksum

    def _skip(self, offset: int, error: DecodeError) -> Hole:
        """Return what cannot be read, up to the event at which reading continues."""
        if self._read_at(offset, len(MAGIC)) == MAGIC:
            return self._rest(offset, Cause.JOINED, Malformed("another log begins here: files were joined"))
        if isinstance(error, Truncated) and self._header_is_sound(offset):
            return self._rest(offset, Cause.TRUNCATED, error)
        found = self._find(offset)
        if found is not None:
            return Hole(offset, found, Cause.DAMAGED, error)
        cause = Cause.TRUNCATED if isinstance(error, Truncated) else Cause.DAMAGED
        return self._rest(offset, cause, error)

    def _rest(self, offset: int, cause: Cause, error: DecodeError) -> Hole:
        return Hole(offset, self._log.size, cause, error)

    def _header_is_sound(self, offset: int) -> bool:
        """Return whether the size and the next position in a header agree, or the header is not complete."""
        header = self._read_at(offset, HEADER_LENGTH)
        if len(header) < HEADER_LENGTH:
            return True
        _, _, _, size, next_position, _ = HEADER.struct.unpack(header)
        return bool(next_position == (offset + size) % _U32)

    def _find(self, offset: int) -> int | None:
        """Find the next sound event."""
        start = max(offset + 1, self._first_nonzero(offset) - HEADER_LENGTH)
        if self._format is not None:
            # headers before version 4 have no next position
            return self._find_event(start, self._format) if self._format.is_v4 else None
        for checksum in _ALGORITHMS:
            found = self._find_event(start, _guessed_format(checksum))
            if found is not None:
                self._format = _guessed_format(checksum, self._read_at(found, HEADER_LENGTH)[4])
                return found
        return None

    def _begins_event(self, offset: int, log_format: LogFormat) -> bool:
        return begins_event(self._read_at, offset, self._log.size, log_format, relay=self.relay)

    def _find_event(self, start: int, log_format: LogFormat) -> int | None:
        return find_event(self._read_at, start, self._log.size, log_format, relay=self.relay)

    def _read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end.

        Damage is searched in order, so the buffered `read` is used: `LogFile.read_at` would be a request to the storage
        for every header.
        """
        self._log.seek(offset)
        return self._log.read(max(0, min(length, self._log.size - offset)))

    def _first_nonzero(self, offset: int) -> int:
        """Return the offset of the first byte that is not zero, the size of the log if there is none."""
        while chunk := self._read_at(offset, _CHUNK):
            rest = chunk.lstrip(b"\0")
            if rest:
                return offset + len(chunk) - len(rest)
            offset += len(chunk)
        return self._log.size


def _begins_encryption(frame: Frame) -> bool:
    return frame.type_code == EventCode.START_ENCRYPTION and frame.checksum is not _BAD


def _one_frame(framer: Framer, event: bytes) -> Frame:
    frame = next(framer.feed(event), None)
    if frame is None:
        raise Malformed(f"event size {len(event)} is too small for an event header")
    return frame
