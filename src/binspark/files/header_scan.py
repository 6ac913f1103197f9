"""Read a log from header to header, to find the few events that are needed before rows are read: DDL, table maps."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError
from binspark.event import Event, EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.splits import PlannedLog
from binspark.files.storage.store import LogFile
from binspark.frames import Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.resync import find_event
from binspark.kernels.walk import Look, Met, Walk, hop
from binspark.os_errors import source_errors

_WINDOW = 1 << 20
_STATEMENT_SEARCH = 1 << 16


@dataclass(frozen=True, slots=True)
class HeaderScanner:
    """Scans the headers of an open log, which must be one that can be split."""

    log: PlannedLog
    file: LogFile
    head: LogHead

    def events(
        self, looks: int, start: int = FIRST_EVENT_OFFSET, end: int | None = None, name: bytes = b""
    ) -> Iterator[Event]:
        """Yield the events of some kinds between two offsets; an event must begin at `start`.

        `looks` is a bit mask of `Look`. `name` is the name of a table as it is written in a TABLE_MAP. Damage is
        skipped: it is reported when rows are read.
        """
        decoder = EventDecoder(self.log.name)
        for stop in self._sought(looks, start, self.log.size if end is None else end, name):
            with suppress(DecodeError):
                for frame in Framer(self.head.format, stop.offset).feed(stop.data):
                    yield decoder.decode(frame)

    def sound_end(self, start: int, stop: int) -> int:
        """Return the offset after the last event between two offsets whose header has its correct position.

        Damage that is noticed at `stop` may begin as early as that: a wrong size leads to a wrong offset, and without
        checksums that is noticed only where the bytes at such an offset are not an event.
        """
        walk = _HeaderWalk(self, 0, b"")
        for _ in walk.stops(start, stop):
            pass
        return walk.sound_end

    def _sought(self, looks: int, start: int, end: int, name: bytes) -> Iterator[_Stop]:
        """Yield the events that are looked for. Where the walk went wrong, it is repeated from what it missed."""
        walk = _HeaderWalk(self, looks, name)
        offset: int | None = start
        while offset is not None:
            stops, offset = walk.stops(offset, end), None
            for stop in stops:
                if stop.met == Met.EVENT:
                    yield stop
                else:
                    offset = self._missed_event(walk.sound_end, stop)
                if offset is not None:
                    break

    def _missed_event(self, sound_end: int, stop: _Stop) -> int | None:
        """Return the offset of an event that the walk has missed, None if there is none.

        Usually that is the first one of a transaction. Where transactions may have no GTID, statements may be between
        them, which are searched for too.
        """
        log = LogBytes(self.file.read_at, self.log.size, self.head.format)
        found = None
        if stop.met == Met.BROKEN and log.may_begin_unnamed:
            search_end = min(stop.offset, sound_end + _STATEMENT_SEARCH)
            found = find_event(log.read_at, sound_end + 1, search_end, log.format)
        return log.find_start(sound_end + 1, stop.offset) if found is None else found


class _Stop(NamedTuple):
    """Where a walk through the headers stopped, and why; for an event that is looked for, also its bytes."""

    offset: int
    met: Met
    data: bytes = b""


class _HeaderWalk:
    """A walk through a log from header to header, one window of bytes at a time."""

    def __init__(self, scanner: HeaderScanner, looks: int, name: bytes) -> None:
        self._file, self._size = scanner.file, scanner.log.size
        self._window = np.zeros(_WINDOW + 64, dtype=np.uint8)
        self._base = int(self._window.ctypes.data)
        self._walk = np.zeros(Walk.WIDTH, dtype=np.int64)
        self._name = np.frombuffer(name + bytes(8), dtype=np.uint8)
        self._sought = (scanner.head.format.checksum_length, looks, int(self._name.ctypes.data), len(name))

    @property
    def sound_end(self) -> int:
        """The offset after the last event whose header had its correct position."""
        return int(self._walk[Walk.SOUND])

    def stops(self, start: int, end: int) -> Iterator[_Stop]:
        """Yield the stops between two offsets; the last is `BROKEN`, unless the walk ends exactly at `end`."""
        self._walk[Walk.SOUND], self._walk[Walk.DOUBT] = start, 0
        offset, before = start, -1
        while before < offset < end:
            before, offset = offset, (yield from self._in_window(offset, end))
        if offset != end:
            yield _Stop(end, Met.BROKEN)

    def _in_window(self, offset: int, end: int) -> Generator[_Stop, None, int]:
        """Yield the stops in the window that begins at an offset; return the offset at which the walk left it."""
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
        """Return the bytes of an event, which may end after the window."""
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
def open_scanner(log: PlannedLog) -> Iterator[HeaderScanner]:
    """Open a log to scan its headers."""
    with source_errors(log.name), log.source.open() as file:
        yield HeaderScanner(log, file, read_head(file, log.name))


__all__ = ["HeaderScanner", "Look", "open_scanner"]
