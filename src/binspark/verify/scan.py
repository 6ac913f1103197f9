"""Scan a log into frames, past damage: bytes that cannot be read are reported and skipped.

An event with a wrong checksum is still a frame if its size can be trusted: its next position agrees with its size, or
another event follows. Otherwise the bytes up to the next event that can be found are a hole.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from binspark.errors import DecodeError, Malformed, Truncated, Unsupported
from binspark.files.sources import STANDARD_INPUT, LogSource
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
_U32 = 1 << 32
_SIZE = slice(9, 13)
_START = len(MAGIC)

# For a log whose format description is lost: any server of the last ten years, with checksums or without.
_GUESSED_FORMATS = (
    LogFormat(4, "", HEADER_LENGTH, b"", ChecksumAlgorithm.CRC32),
    LogFormat(4, "", HEADER_LENGTH, b"", ChecksumAlgorithm.NONE),
)


@contextmanager
def open_log(source: LogSource) -> Iterator[LogFile]:
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


class Hole(NamedTuple):
    """Bytes that are not events."""

    start: int
    end: int


class Scanner:
    """Scans one log.

    sound_bytes   how many bytes come before the first damage; None as long as there is none
    tail_lost     whether the end of the log could not be read
    """

    def __init__(self, log: LogFile, findings: Findings) -> None:
        self.tail_lost = False
        self.sound_bytes: int | None = None
        self._log = log
        self._findings = findings
        self._format: LogFormat | None = None
        self._relay = False

    def scan(self) -> Iterator[Frame | Hole]:
        """Yield every event that can be read, and every hole between them."""
        offset = self._begin()
        while offset is not None and offset < self._log.size:
            item = self._read_item(offset)
            yield item
            if isinstance(item, Hole):
                offset = item.end
            elif self._begins_encryption(item):
                return
            else:
                offset = item.end_offset

    def _note_damage(self, offset: int) -> None:
        self.sound_bytes = offset if self.sound_bytes is None else min(offset, self.sound_bytes)

    def _begin(self) -> int | None:
        """Check the magic number; return the offset of the first event, None if nothing can be read."""
        start = self._read_at(0, _START)
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
            self._end(Code.TRUNCATED, "the log ends before its first event: it has only the magic number", _START)
            return None
        return _START

    def _begin_without_magic(self, error: Malformed) -> int | None:
        """Continue after a damaged magic number, if a format description with a correct checksum follows."""
        try:
            frame = self._event(_START)
        except DecodeError:
            frame = None
        if frame is None or frame.type_code != EventCode.FORMAT_DESCRIPTION or frame.checksum is not ChecksumState.OK:
            self._end(Code.NOT_A_LOG, error.message, 0)
            return None
        self._findings.error(Code.BAD_MAGIC, error.message, 0)
        self._note_damage(0)
        return _START

    def _read_item(self, offset: int) -> Frame | Hole:
        """Return the event at an offset, or the hole that begins there."""
        try:
            frame = self._event(offset)
            if not self._size_is_plausible(frame):
                raise Malformed(f"event size {len(frame.data)} is wrong: no event follows")
        except DecodeError as error:
            return self._skip(offset, error)
        if frame.checksum is ChecksumState.BAD:
            return self._with_bad_checksum(frame)
        self._learn(frame)
        return frame

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
        event = self._read_at(offset, size)
        if self._format is None:
            return _one_frame(Framer(report_checksums=True), MAGIC + event)
        return _one_frame(Framer(self._format, offset, report_checksums=True), event)

    def _size_is_plausible(self, frame: Frame) -> bool:
        """Return whether the next event begins where this one ends according to its size."""
        if frame.checksum is ChecksumState.OK:
            return True
        if frame.header.next_position == frame.end_offset % _U32 and not self._relay:
            return True
        return self._could_be_event(frame.end_offset, frame.format)

    def _could_be_event(self, offset: int, log_format: LogFormat) -> bool:
        left = self._log.size - offset
        header = self._read_at(offset, log_format.header_length)
        if len(header) < log_format.header_length:
            return left >= 0
        size = int.from_bytes(header[_SIZE], "little")
        return header[4] in KNOWN_CODES and log_format.header_length <= size <= left

    def _with_bad_checksum(self, frame: Frame) -> Frame:
        name = type_name(frame.type_code)
        self._findings.error(Code.CHECKSUM, checksum_mismatch(frame.data, name).message, frame.offset, name)
        self._note_damage(frame.offset)
        if self._format is None:
            self._relay = bool(frame.header.flags & HeaderFlag.RELAY_LOG)
            self._format = self._probe(frame)
            return frame._replace(format=self._format)
        return frame

    def _probe(self, frame: Frame) -> LogFormat:
        """Return the format after a damaged format description: try which checksum algorithm fits the next event."""
        for checksum in (ChecksumAlgorithm.CRC32, ChecksumAlgorithm.NONE):
            log_format = replace(frame.format, checksum=checksum)
            if (
                find_event(self._read_at, frame.end_offset, self._log.size, log_format, relay=self._relay)
                == frame.end_offset
            ):
                return log_format
        return frame.format

    def _learn(self, frame: Frame) -> None:
        if self._format is None:
            self._relay = bool(frame.header.flags & HeaderFlag.RELAY_LOG)
        self._format = frame.format

    def _skip(self, offset: int, error: DecodeError) -> Hole:
        """Report what cannot be read, and find the event at which reading continues."""
        if self._read_at(offset, len(MAGIC)) == MAGIC:
            self._end(Code.AFTER_END, "another log begins here: files were joined", offset)
            return Hole(offset, self._log.size)
        if isinstance(error, Truncated) and self._header_is_sound(offset):
            return self._truncated(offset, error)
        found = self._find(offset)
        if found is None and isinstance(error, Truncated):
            return self._truncated(offset, error)
        if found is None:
            left = self._log.size - offset
            self._end(Code.UNREADABLE_TAIL, f"the last {left} bytes cannot be read: {error.message}", offset)
            return Hole(offset, self._log.size)
        size, code = found - offset, Code.HOLE if offset > _START else Code.BAD_FORMAT
        message = f"{size} bytes ({offset} to {found}) cannot be read: {error.message}"
        self._findings.error(code, message, offset)
        self._note_damage(offset)
        return Hole(offset, found)

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
        formats = (self._format,) if self._format else _GUESSED_FORMATS
        if not formats[0].is_v4:
            return None  # headers before version 4 have no next position
        for log_format in formats:
            found = find_event(self._read_at, start, self._log.size, log_format, relay=self._relay)
            if found is not None:
                self._format = log_format
                return found
        return None

    def _truncated(self, offset: int, error: DecodeError) -> Hole:
        message = f"{error.message}; cut to {offset} bytes, the log ends with a complete event"
        self._end(Code.TRUNCATED, message, offset)
        return Hole(offset, self._log.size)

    def _read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end.

        Events are read in order, so the buffered `read` is used: `LogFile.read_at` would be a request to the storage
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

    def _end(self, code: Code, message: str, offset: int) -> None:
        """Report that nothing after an offset can be read."""
        self._findings.error(code, message, offset)
        self._note_damage(offset)
        self.tail_lost = True

    def _begins_encryption(self, frame: Frame) -> bool:
        if frame.type_code != EventCode.START_ENCRYPTION or frame.checksum is ChecksumState.BAD:
            return False
        message = "the rest of the log is encrypted (MariaDB's encrypt_binlog) and cannot be verified"
        self._end(Code.ENCRYPTED, message, frame.end_offset)
        return True


def _one_frame(framer: Framer, event: bytes) -> Frame:
    frame = next(framer.feed(event), None)
    if frame is None:
        raise Malformed(f"event size {len(event)} is too small for an event header")
    return frame
