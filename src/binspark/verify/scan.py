"""A log into frames, past its damage: what cannot be read is reported and stepped over.

An event whose checksum does not hold is still a frame if its size can be trusted: its next position agrees with it, or
another event follows. Otherwise the bytes up to the next event that can be found are a hole.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from binspark.errors import DecodeError, Malformed, Truncated, Unsupported
from binspark.files.sources import STANDARD_INPUT, LogSource
from binspark.frames import (
    KNOWN_CODES,
    MAGIC,
    ChecksumAlgorithm,
    ChecksumState,
    EventCode,
    Frame,
    Framer,
    HeaderFlag,
    LogFormat,
    type_name,
)
from binspark.frames.checksum import checksum_mismatch
from binspark.frames.header import HEADER, HEADER_LENGTH
from binspark.frames.magic import VERSION_EVIDENCE, check_magic
from binspark.frames.resync import find_event
from binspark.verify.findings import Code, Findings

_CHUNK = 1 << 16


class LogFile:
    """An open log."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end of the log."""
        self._file.seek(offset)
        return self._file.read(max(0, min(length, self.size - offset)))

    def first_nonzero(self, offset: int) -> int:
        """Return where the zeros that begin at an offset end; the size of the log if they do not."""
        while chunk := self.read_at(offset, _CHUNK):
            rest = chunk.lstrip(b"\0")
            if rest:
                return offset + len(chunk) - len(rest)
            offset += len(chunk)
        return self.size


@contextmanager
def open_log(source: LogSource) -> Iterator[LogFile]:
    """Open a log; standard input is copied to a temporary file first, because damage makes verify go back."""
    with source.open() as file:
        if source.name != STANDARD_INPUT:
            yield LogFile(file)
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            yield LogFile(copy)


_U32 = 1 << 32
_SIZE = slice(9, 13)
_START = len(MAGIC)


class Lost(NamedTuple):
    """Bytes that are no events."""

    start: int
    end: int


class Scanner:
    """Reads one log. `sound_bytes` is where the first damage begins, None as long as there is none."""

    def __init__(self, log: LogFile, findings: Findings) -> None:
        self.tail_lost = False
        self.sound_bytes: int | None = None
        self._log = log
        self._findings = findings
        self._format: LogFormat | None = None
        self._relay = False

    def pieces(self) -> Iterator[Frame | Lost]:
        """Yield every event that can be read, and every hole between them."""
        offset = self._begin()
        while offset is not None and offset < self._log.size:
            piece = self._piece(offset)
            yield piece
            if isinstance(piece, Lost):
                offset = piece.end
            elif self._is_encrypted(piece):
                return
            else:
                offset = piece.end_offset

    def damaged(self, offset: int) -> None:
        """Note where damage is."""
        self.sound_bytes = offset if self.sound_bytes is None else min(offset, self.sound_bytes)

    def _begin(self) -> int | None:
        """Check the magic; return where the first event begins, None if there is nothing to read."""
        start = self._log.read_at(0, _START)
        try:
            check_magic(start)
        except Truncated as error:
            self._end(Code.TRUNCATED, error.message, 0)
            return None
        except Unsupported as error:
            self._end(Code.ENCRYPTED, error.message, 0)
            return None
        except Malformed as error:
            return self._begin_without_magic(error)
        if self._log.size == _START:
            self._end(Code.TRUNCATED, "the log ends before its first event; nothing but its magic is there", _START)
            return None
        return _START

    def _begin_without_magic(self, error: Malformed) -> int | None:
        """Go on behind a magic that is damaged, if there stands a format description whose checksum holds."""
        try:
            frame = self._event(_START)
        except DecodeError:
            frame = None
        if frame is None or frame.type_code != EventCode.FORMAT_DESCRIPTION or frame.checksum is not ChecksumState.OK:
            self._end(Code.NOT_A_LOG, error.message, 0)
            return None
        self._findings.error(Code.BAD_MAGIC, error.message, 0)
        self.damaged(0)
        return _START

    def _piece(self, offset: int) -> Frame | Lost:
        """Return the event at an offset, or the bytes that are lost there."""
        try:
            frame = self._event(offset)
            if not self._size_holds(frame):
                raise Malformed(f"no event follows an event of {len(frame.data)} bytes, its size cannot be right")
        except DecodeError as error:
            return self._lost(offset, error)
        if frame.checksum is ChecksumState.BAD:
            return self._with_bad_checksum(frame)
        self._learn(frame)
        return frame

    def _event(self, offset: int) -> Frame:
        """Cut out one event, without believing a size that the log does not have."""
        length = VERSION_EVIDENCE if self._format is None else self._format.header_length
        header = self._log.read_at(offset, length)
        size = int.from_bytes(header[_SIZE], "little")
        left = self._log.size - offset
        if len(header) < length:
            raise Truncated(f"the log ends {left} bytes into an event's header")
        if size < length:
            raise Malformed(f"an event of {size} bytes, its header alone takes {length}")
        if size > left:
            raise Truncated(f"the log ends {left} bytes into an event {type_name(header[4])} of {size} bytes")
        event = self._log.read_at(offset, size)
        if self._format is None:
            return _one_frame(Framer(report_checksums=True), MAGIC + event)
        return _one_frame(Framer(self._format, offset, report_checksums=True), event)

    def _size_holds(self, frame: Frame) -> bool:
        """Say whether the next event begins where this one says that it ends."""
        if frame.checksum is ChecksumState.OK:
            return True
        if frame.header.next_position == frame.end_offset % _U32 and not self._relay:
            return True
        return self._could_be_event(frame.end_offset, frame.format)

    def _could_be_event(self, offset: int, log_format: LogFormat) -> bool:
        left = self._log.size - offset
        header = self._log.read_at(offset, log_format.header_length)
        if len(header) < log_format.header_length:
            return left >= 0
        size = int.from_bytes(header[_SIZE], "little")
        return header[4] in KNOWN_CODES and log_format.header_length <= size <= left

    def _with_bad_checksum(self, frame: Frame) -> Frame:
        name = type_name(frame.type_code)
        self._findings.error(Code.CHECKSUM, checksum_mismatch(frame.data, name).message, frame.offset, name)
        self.damaged(frame.offset)
        if self._format is None:
            self._relay = bool(frame.header.flags & HeaderFlag.RELAY_LOG)
            self._format = self._probe(frame)
            return frame._replace(format=self._format)
        return frame

    def _probe(self, frame: Frame) -> LogFormat:
        """Find out how events end after a format description that cannot be trusted: see what the next one tells."""
        for checksum in (ChecksumAlgorithm.CRC32, ChecksumAlgorithm.NONE):
            log_format = replace(frame.format, checksum=checksum)
            if (
                find_event(self._log.read_at, frame.end_offset, self._log.size, log_format, relay=self._relay)
                == frame.end_offset
            ):
                return log_format
        return frame.format

    def _learn(self, frame: Frame) -> None:
        if self._format is None:
            self._relay = bool(frame.header.flags & HeaderFlag.RELAY_LOG)
        self._format = frame.format

    def _lost(self, offset: int, error: DecodeError) -> Lost:
        """Report what cannot be read, and find where reading can go on."""
        if self._log.read_at(offset, len(MAGIC)) == MAGIC:
            self._end(Code.AFTER_END, "another log begins here: files were joined", offset)
            return Lost(offset, self._log.size)
        if isinstance(error, Truncated) and self._header_holds(offset):
            return self._truncated(offset, error)
        found = self._find(offset)
        if found is None and isinstance(error, Truncated):
            return self._truncated(offset, error)
        if found is None:
            left = self._log.size - offset
            self._end(Code.UNREADABLE_TAIL, f"the last {left} bytes cannot be read: {error.message}", offset)
            return Lost(offset, self._log.size)
        size, code = found - offset, Code.HOLE if offset > _START else Code.BAD_FORMAT
        message = f"{size} bytes, {offset} to {found}, cannot be read: {error.message}"
        self._findings.error(code, message, offset)
        self.damaged(offset)
        return Lost(offset, found)

    def _header_holds(self, offset: int) -> bool:
        """Say whether a header is sound by itself: its size and its next position agree."""
        header = self._log.read_at(offset, HEADER_LENGTH)
        if len(header) < HEADER_LENGTH:
            return True
        _, _, _, size, next_position, _ = HEADER.struct.unpack(header)
        return bool(next_position == (offset + size) % _U32)

    def _find(self, offset: int) -> int | None:
        """Find the next sound event."""
        start = max(offset + 1, self._log.first_nonzero(offset) - HEADER_LENGTH)
        formats = (self._format,) if self._format else _GUESSES
        if formats[0].version < 4:
            return None  # headers that do not say where the next event begins
        for log_format in formats:
            found = find_event(self._log.read_at, start, self._log.size, log_format, relay=self._relay)
            if found is not None:
                self._format = log_format
                return found
        return None

    def _truncated(self, offset: int, error: DecodeError) -> Lost:
        self._end(Code.TRUNCATED, f"{error.message}; it can be cut to {offset} bytes, which are whole events", offset)
        return Lost(offset, self._log.size)

    def _end(self, code: Code, message: str, offset: int) -> None:
        """Report that nothing can be read from here on."""
        self._findings.error(code, message, offset)
        self.damaged(offset)
        self.tail_lost = True

    def _is_encrypted(self, frame: Frame) -> bool:
        if frame.type_code != EventCode.START_ENCRYPTION or frame.checksum is ChecksumState.BAD:
            return False
        message = "the rest of the log is encrypted (MariaDB's encrypt_binlog) and cannot be verified"
        self._end(Code.ENCRYPTED, message, frame.end_offset)
        return True


def _one_frame(framer: Framer, event: bytes) -> Frame:
    frame = next(framer.feed(event), None)
    if frame is None:
        raise Malformed(f"an event of {len(event)} bytes has no room for its header")
    return frame


# When a log's description of itself is lost: any server of the last ten years, with checksums or without.
_GUESSES = (
    LogFormat(4, "", HEADER_LENGTH, b"", ChecksumAlgorithm.CRC32),
    LogFormat(4, "", HEADER_LENGTH, b"", ChecksumAlgorithm.NONE),
)
