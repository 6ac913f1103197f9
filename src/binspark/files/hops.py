"""A log from header to header: the few events that must be known before rows are read, without reading the rest."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.splits import PlannedLog
from binspark.files.storage.file import LogFile
from binspark.frames import Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.resync import find_event
from binspark.kernels.walk import Look, Met, Walk, hop
from binspark.position import Position

_WINDOW = 1 << 20
_NEAR = 1 << 16


@dataclass(frozen=True, slots=True)
class Hopper:
    """Goes through an open log whose events have today's layout."""

    log: PlannedLog
    file: LogFile
    head: LogHead

    def events(
        self, looks: int, start: int = FIRST_EVENT_OFFSET, end: int | None = None, name: bytes = b""
    ) -> Iterator[Event]:
        """Yield events that are looked for between two offsets; `start` is where an event begins.

        `name` is how a TABLE_MAP writes the name of its table. What is damaged is stepped over: whoever reads rows
        reports it.
        """
        decoder = EventDecoder(self.log.name)
        for stop in self._sought(looks, start, self.log.size if end is None else end, name):
            with suppress(DecodeError):
                for frame in Framer(self.head.format, stop.offset).feed(stop.data):
                    yield decoder.decode(frame)

    def sound_end(self, start: int, stop: int) -> int:
        """Return the offset behind the last event between two offsets that tells its true position.

        What is found damaged at `stop` may be damaged from there on: a wrong size leads somewhere else, and without
        checksums that is noticed only when what stands there is no event.
        """
        way = _Way(self, 0, b"")
        for _ in way.go(start, stop):
            pass
        return way.sound_end

    def _sought(self, looks: int, start: int, end: int, name: bytes) -> Iterator[_Stop]:
        """Yield where such events are. Where the way through the log was wrong, it is gone again."""
        way = _Way(self, looks, name)
        offset: int | None = start
        while offset is not None:
            stops, offset = way.go(offset, end), None
            for stop in stops:
                if stop.met == Met.EVENT:
                    yield stop
                else:
                    offset = self._stepped_over(way.sound_end, stop)
                if offset is not None:
                    break

    def _stepped_over(self, sound_end: int, stop: _Stop) -> int | None:
        """Return where an event is that the way through the log has missed.

        Where transactions may be unnamed, statements may stand between them, which are looked for too.
        """
        log = LogBytes(self.file.read_at, self.log.size, self.head.format)
        found = None
        if stop.met == Met.BROKEN and log.may_begin_unnamed:
            found = find_event(log.read_at, sound_end + 1, min(stop.offset, sound_end + _NEAR), log.format)
        return log.find_start(sound_end + 1, stop.offset) if found is None else found


class _Stop(NamedTuple):
    """What is met on the way through a log; of an event that is looked for, also its bytes."""

    offset: int
    met: Met
    data: bytes = b""


class _Way:
    """The way through a log from event to event, a window at a time."""

    def __init__(self, hopper: Hopper, looks: int, name: bytes) -> None:
        self._file, self._size = hopper.file, hopper.log.size
        self._window = np.zeros(_WINDOW + 64, dtype=np.uint8)
        self._base = int(self._window.ctypes.data)
        self._walk = np.zeros(Walk.WIDTH, dtype=np.int64)
        self._name = np.frombuffer(name + bytes(8), dtype=np.uint8)
        self._sought = (hopper.head.format.checksum_length, looks, int(self._name.ctypes.data), len(name))

    @property
    def sound_end(self) -> int:
        """The offset behind the last event that told its true position."""
        return int(self._walk[Walk.SOUND])

    def go(self, start: int, end: int) -> Iterator[_Stop]:
        """Yield what is met between two offsets, and at last that the way is broken, unless it led to the end."""
        self._walk[Walk.SOUND], self._walk[Walk.DOUBT] = start, 0
        offset, before = start, -1
        while before < offset < end:
            before, offset = offset, (yield from self._in_window(offset, end))
        if offset != end:
            yield _Stop(end, Met.BROKEN)

    def _in_window(self, offset: int, end: int) -> Generator[_Stop, None, int]:
        """Yield what is met in a window that begins at an offset; return how far the way led."""
        walk, base = self._walk, self._base
        length = self._read(offset, end)
        walk[Walk.AT] = base
        while (met := Met(hop(walk, base + length, offset - base, *self._sought))) not in (Met.END, Met.BROKEN):
            at = int(walk[Walk.AT]) - base
            if met == Met.EVENT:
                yield _Stop(offset + at, met, self._event(offset, at, length))
                walk[Walk.AT] += self._event_size(at)
            else:
                yield _Stop(offset + at, met)
                walk[Walk.DOUBT] = 0
        return offset + int(walk[Walk.AT]) - base

    def _event_size(self, at: int) -> int:
        return int.from_bytes(self._window[at + 9 : at + 13].tobytes(), "little")

    def _event(self, offset: int, at: int, length: int) -> bytes:
        """Return the bytes of an event; those behind the window are read for it alone."""
        size = self._event_size(at)
        if at + size <= length:
            return self._window[at : at + size].tobytes()
        return self._file.read_at(offset + at, min(size, self._size - offset - at))

    def _read(self, offset: int, end: int) -> int:
        self._file.seek(offset)
        view = memoryview(self._window.data)[: min(_WINDOW, end - offset)]
        filled = 0
        while filled < len(view) and (count := self._file.readinto(view[filled:])):
            filled += count
        return filled


@contextmanager
def opened(log: PlannedLog) -> Iterator[Hopper]:
    """Open a log to hop through."""
    try:
        with log.source.open() as file:
            yield Hopper(log, file, read_head(file, log.name))
    except OSError as error:
        raise SourceError(error.strerror or str(error), Position(file=log.name)) from None


__all__ = ["Hopper", "Look", "opened"]
