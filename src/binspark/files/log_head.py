"""The first event of a log: what must be known to read it from anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from binspark.errors import DecodeError, Truncated
from binspark.files.storage.file import LogFile
from binspark.frames import Frame, Framer, HeaderFlag, LogFormat
from binspark.frames.magic import FIRST_EVENT_OFFSET, MAGIC
from binspark.position import Position

_HEAD = 1 << 12
_MARK = 512
_FLAGS = FIRST_EVENT_OFFSET + 17


@dataclass(frozen=True, slots=True)
class LogHead:
    """The first event of a log, and what it says."""

    frame: Frame

    @property
    def format(self) -> LogFormat:
        return self.frame.format

    @property
    def relay(self) -> bool:
        return bool(self.frame.header.flags & HeaderFlag.RELAY_LOG)

    @property
    def in_use(self) -> bool:
        """Whether a server writes this log, or was when it crashed."""
        return self.format.version >= 4 and bool(self.frame.header.flags & HeaderFlag.BINLOG_IN_USE)

    @property
    def can_split(self) -> bool:
        """Whether events can be found from anywhere: positions must be there, true, and their types today's."""
        return self.format.version >= 4 and not self.relay and self.format.event_codes is None


def fingerprint(file: LogFile, size: int | None = None) -> int:
    """Return what tells one log from another: a checksum of how its first `size` bytes begin, and of how many of them.

    The first event alone would not do: two logs that a server begins in the same second begin with the same one.
    """
    length = min(_MARK, file.size if size is None else size)
    return length << 32 | _start_checksum(file, length)


def has_fingerprint(file: LogFile, mark: int) -> bool:
    """Tell whether a log is the one that a fingerprint was taken of; it may have grown, or been closed."""
    return _start_checksum(file, mark >> 32) == mark & 0xFFFFFFFF


def _start_checksum(file: LogFile, length: int) -> int:
    """Return a checksum of how a log begins, without the flag that changes when it is closed."""
    start = bytearray(file.read_at(0, length))
    if len(start) > _FLAGS:
        start[_FLAGS] &= ~HeaderFlag.BINLOG_IN_USE
    return crc32(start)


def is_begun(file: LogFile) -> bool:
    """Tell whether a server has only begun to write a log: its first event is not whole, but says that it is in use."""
    start = file.read_at(0, _FLAGS + 1)
    return len(start) > _FLAGS and start.startswith(MAGIC) and bool(start[_FLAGS] & HeaderFlag.BINLOG_IN_USE)


def read_head(file: LogFile, name: str) -> LogHead:
    """Read the first event of a log; one that has none is `Truncated`."""
    framer = Framer()
    offset, length = 0, _HEAD
    try:
        while chunk := file.read_at(offset, length):
            for frame in framer.feed(chunk):
                return LogHead(frame)
            offset, length = offset + len(chunk), 2 * length
        framer.finish()
        raise Truncated("the log ends inside its first event", Position(offset=FIRST_EVENT_OFFSET))
    except DecodeError as error:
        raise error.at(Position(file=name)) from None
