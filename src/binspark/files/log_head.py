"""The head of a log: its first event, without which the log cannot be read from anywhere else."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from binspark.errors import DecodeError, Truncated
from binspark.files.storage.store import LogFile
from binspark.frames import Frame, Framer, HeaderFlag, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET, MAGIC
from binspark.frames.relay import is_relay_log
from binspark.position import Position

_FIRST_READ = 1 << 12
_FINGERPRINT_BYTES = 512
_FLAGS = FIRST_EVENT_OFFSET + 17


@dataclass(frozen=True, slots=True)
class LogHead:
    """The first event of a log, and what it says about the log.

    relay   whether this is a relay log: a replica's copy of its source's log
    """

    frame: Frame
    relay: bool

    @property
    def format(self) -> LogFormat:
        """The format that the first event describes."""
        return self.frame.format

    @property
    def in_use(self) -> bool:
        """Whether a server is writing this log, or was when it crashed."""
        return self.format.is_v4 and bool(self.frame.header.flags & HeaderFlag.BINLOG_IN_USE)

    @property
    def can_split(self) -> bool:
        """Whether events can be found from any offset: their headers have their positions and current type codes."""
        return self.format.is_v4 and not self.relay and self.format.event_codes is None


def read_head(file: LogFile, name: str) -> LogHead:
    """Read the first event of a log; raise `Truncated` if it is not complete."""
    framer = Framer()
    offset, length = 0, _FIRST_READ
    try:
        while chunk := file.read_at(offset, length):
            for frame in framer.feed(chunk):
                after = chunk[frame.end_offset - offset :]
                if len(after) < HEADER_LENGTH:
                    after = file.read_at(frame.end_offset, HEADER_LENGTH)
                return LogHead(frame, is_relay_log(frame, after))
            offset, length = offset + len(chunk), 2 * length
        framer.finish()
        raise Truncated("the log ends inside its first event", Position(offset=FIRST_EVENT_OFFSET))
    except DecodeError as error:
        raise error.at(Position(file=name)) from None


def is_writing_head(file: LogFile) -> bool:
    """Return whether the first event of a log is incomplete, but already says that a server is writing the log."""
    start = file.read_at(0, _FLAGS + 1)
    return len(start) > _FLAGS and start.startswith(MAGIC) and bool(start[_FLAGS] & HeaderFlag.BINLOG_IN_USE)


def fingerprint(file: LogFile, size: int | None = None) -> int:
    """Return a number that identifies a log: a checksum of its first bytes, and how many bytes that covers.

    The first event alone is not enough: two logs that a server creates in the same second have the same one. `size` is
    how many bytes of the log count.
    """
    length = min(_FINGERPRINT_BYTES, file.size if size is None else size)
    return length << 32 | _start_checksum(file, length)


def has_fingerprint(file: LogFile, mark: int) -> bool:
    """Return whether a fingerprint is of this log, which may have grown or been closed since."""
    return _start_checksum(file, mark >> 32) == mark & 0xFFFFFFFF


def _start_checksum(file: LogFile, length: int) -> int:
    """Return a checksum of the first bytes, without the flag that is cleared when a log is closed."""
    start = bytearray(file.read_at(0, length))
    if len(start) > _FLAGS:
        start[_FLAGS] &= ~HeaderFlag.BINLOG_IN_USE
    return crc32(start)
