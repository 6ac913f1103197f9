"""A log from header to header: the few events that must be known before rows are read, without reading the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from binspark.columns.arena import Block
from binspark.columns.kernels.hop import Look, Met, hop
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

    def _offsets(self, looks: int, start: int, end: int, name: bytes) -> Iterator[int]:
        """Yield where such events begin."""
        window = np.zeros(_WINDOW + 64, dtype=np.uint8)
        sought = np.frombuffer(name + bytes(8), dtype=np.uint8)
        base, offset = int(window.ctypes.data), start
        checksum = self.head.format.checksum_length
        while offset < end:
            length = self._read(window, offset)
            at, met = hop(base, base + length, checksum, looks, int(sought.ctypes.data), len(name))
            while met == Met.EVENT and offset + at - base < end:
                yield offset + at - base
                size = int.from_bytes(window[at - base + 9 : at - base + 13].tobytes(), "little")
                at, met = hop(at + size, base + length, checksum, looks, int(sought.ctypes.data), len(name))
            if length < _WINDOW and met == Met.END:
                return
            offset += at - base
            if met == Met.BROKEN:
                found = LogBytes(self.file.read_at, self.log.size, self.head.format).find_start(offset + 1)
                if found is None:
                    return
                offset = found

    def _read(self, window: Block, offset: int) -> int:
        self.file.seek(offset)
        view = memoryview(window.data)[: min(_WINDOW, self.log.size - offset)]
        filled = 0
        while filled < len(view) and (count := self.file.readinto(view[filled:])):
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
