"""A log that is read event by event, or by more: what is next is in memory."""

from __future__ import annotations

from binspark.errors import DecodeError
from binspark.event import Event, EventDecoder
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.frames import Framer, LogFormat
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import source_errors
from binspark.position import Position

_WINDOW = 1 << 20
_SIZE_AT, _SIZE_END = 9, 13


class LogReader:
    """Reads a log from its beginning to its end.

    window   bytes of the log
    at       where what comes next begins in them
    offset   the same in the log
    """

    def __init__(self, log: LogSource, file: LogFile) -> None:
        self.window = b""
        self.at = self.offset = 0
        self._log = log
        self._file = file
        self._framer = Framer()
        self._decoder = EventDecoder(log.name)

    @property
    def format(self) -> LogFormat | None:
        """The format of the next event, as far as it is known."""
        return self._framer.format

    @property
    def available(self) -> int:
        """How many bytes from `at` on are in memory."""
        return len(self.window) - self.at

    def fill(self, length: int) -> bool:
        """Bring bytes into memory; return False if the log ends before."""
        if self.available < length:
            parts = [self.window[self.at :]]
            missing = max(length, _WINDOW) - self.available
            with source_errors(self._log.name):
                while missing > 0 and (part := self._file.read(missing)):
                    parts.append(part)
                    missing -= len(part)
            self.window, self.at = b"".join(parts), 0
        return self.available >= length

    def skip(self, length: int) -> None:
        """Skip complete events."""
        self.at += length
        self.offset += length
        self._framer = Framer(self._framer.format, self.offset)

    def next_event(self) -> Event | None:
        """Return the next event, None at the end of the log."""
        try:
            return self._next_event()
        except DecodeError as error:
            raise error.at(Position(file=self._log.name)) from None

    def _next_event(self) -> Event | None:
        before = FIRST_EVENT_OFFSET if self._framer.format is None else 0
        self.fill(before + HEADER_LENGTH)
        start = self.at + before
        size = int.from_bytes(self.window[start + _SIZE_AT : start + _SIZE_END], "little")
        # What is too short is not an event: the framer says why. So it does of a log that ends too early.
        length = before + max(size, HEADER_LENGTH)
        self.fill(length)
        length = min(length, self.available)
        if length == 0:
            self._framer.finish()
            return None
        content = self.window[self.at : self.at + length]
        self.at += length
        self.offset += length
        for frame in self._framer.feed(content):
            return self._decoder.decode(frame)
        self._framer.finish()
        return None
