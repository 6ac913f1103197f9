"""A log from header to header: the few events that must be known before rows are read, without reading the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from binspark.columns.arena import Block
from binspark.columns.kernels.hop import Look, Met, Walk, hop
from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.splits import PlannedLog
from binspark.files.storage_file import LogFile
from binspark.frames import Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position

_WINDOW = 1 << 20
_Numbers = npt.NDArray[np.int64]


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
        for offset in self._offsets(looks, start, self.log.size if end is None else end, name):
            size = int.from_bytes(self.file.read_at(offset + 9, 4), "little")
            framer = Framer(self.head.format, offset)
            try:
                for frame in framer.feed(self.file.read_at(offset, min(size, self.log.size - offset))):
                    yield decoder.decode(frame)
            except DecodeError:
                continue

    def sound_end(self, start: int, stop: int) -> int:
        """Return the offset behind the last event between two offsets that tells its true position.

        What is found damaged at `stop` may be damaged from there on: a wrong size leads somewhere else, and without
        checksums that is noticed only when what stands there is no event.
        """
        walk = _new_walk(start)
        for _ in self._hops(walk, start, stop, 0, b""):
            pass
        return int(walk[Walk.SOUND])

    def _offsets(self, looks: int, start: int, end: int, name: bytes) -> Iterator[int]:
        """Yield where such events begin. Where the way through the log was wrong, it is gone again."""
        offset: int | None = start
        while offset is not None:
            walk = _new_walk(offset)
            hops, offset = self._hops(walk, offset, end, looks, name), None
            for at, met in hops:
                if met == Met.EVENT:
                    yield at
                else:
                    offset = self._stepped_over(int(walk[Walk.SOUND]), end if met == Met.BROKEN else at)
                if offset is not None:
                    break

    def _stepped_over(self, sound_end: int, end: int) -> int | None:
        """Return where a transaction begins that the way through the log has missed."""
        log = LogBytes(self.file.read_at, self.log.size, self.head.format)
        return log.find_start(sound_end + 1, end)

    def _hops(self, walk: _Numbers, start: int, end: int, looks: int, name: bytes) -> Iterator[tuple[int, Met]]:
        """Go from event to event; yield what is met on the way, and at which offset."""
        window = np.zeros(_WINDOW + 64, dtype=np.uint8)
        sought = np.frombuffer(name + bytes(8), dtype=np.uint8)
        base, offset = int(window.ctypes.data), start
        checksum = self.head.format.checksum_length
        while offset < end:
            length = self._read(window, offset, end)
            walk[Walk.AT] = base
            seek = (base + length, offset - base, checksum, looks, int(sought.ctypes.data), len(name))
            while (met := Met(hop(walk, *seek))) != Met.END:
                at = int(walk[Walk.AT]) - base
                yield offset + at, met
                if met == Met.BROKEN:
                    return
                if met == Met.EVENT:
                    walk[Walk.AT] += int.from_bytes(window[at + 9 : at + 13].tobytes(), "little")
                else:
                    walk[Walk.DOUBT] = 0
            offset += int(walk[Walk.AT]) - base
            if length < _WINDOW:
                break
        if offset != end:
            yield end, Met.BROKEN

    def _read(self, window: Block, offset: int, end: int) -> int:
        self.file.seek(offset)
        view = memoryview(window.data)[: min(_WINDOW, end - offset)]
        filled = 0
        while filled < len(view) and (count := self.file.readinto(view[filled:])):
            filled += count
        return filled


def _new_walk(start: int) -> _Numbers:
    walk = np.zeros(Walk.WIDTH, dtype=np.int64)
    walk[Walk.SOUND] = start
    return walk


@contextmanager
def opened(log: PlannedLog) -> Iterator[Hopper]:
    """Open a log to hop through."""
    try:
        with log.source.open() as file:
            yield Hopper(log, file, read_head(file, log.name))
    except OSError as error:
        raise SourceError(error.strerror or str(error), Position(file=log.name)) from None


__all__ = ["Hopper", "Look", "opened"]
