"""The first event of a log: what must be known to read it from anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from binspark.errors import DecodeError, Truncated
from binspark.files.storage_file import LogFile
from binspark.frames import Frame, Framer, HeaderFlag, LogFormat
from binspark.frames.magic import FIRST_EVENT_OFFSET
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


def fingerprint(file: LogFile) -> int:
    """Return what tells one log from another: a checksum of how it begins, without what changes when it is closed."""
    start = bytearray(file.read_at(0, _MARK))
    if len(start) > _FLAGS:
        start[_FLAGS] &= ~HeaderFlag.BINLOG_IN_USE
    whole = min(_first_event_end(start), len(start))
    return crc32(bytes(start[:whole]))


def _first_event_end(start: bytearray) -> int:
    size = int.from_bytes(start[FIRST_EVENT_OFFSET + 9 : FIRST_EVENT_OFFSET + 13], "little")
    return FIRST_EVENT_OFFSET + size


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
