"""The events of a transaction that has not ended: in memory while they are few, then in a temporary file."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import IO

from binspark.event import Event, EventDecoder
from binspark.frames import Framer, LogFormat

_CHUNK = 1 << 20


class HeldEvents:
    """Events in the order of the log, one behind the other in one file. They can be read any number of times."""

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._events: list[Event] = []
        self._bytes = 0
        self._spilled: IO[bytes] | None = None
        self._format: LogFormat | None = None
        self._file = ""
        self._offset = 0

    @property
    def spilled(self) -> bool:
        """Whether the events are in a temporary file."""
        return self._spilled is not None

    def add(self, event: Event) -> None:
        """Hold one more event."""
        self._bytes += len(event.frame.data)
        if self._spilled is not None:
            self._spilled.write(event.frame.data)
            return
        self._events.append(event)
        if self._bytes > self._memory_bytes:
            self._spill()

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events) if self._spilled is None else self._read_back(self._spilled)

    def _spill(self) -> None:
        first = self._events[0]
        self._format, self._file, self._offset = first.frame.format, first.file, first.offset
        spilled = tempfile.TemporaryFile(prefix="binspark-")  # noqa: SIM115 (closed with this object)
        weakref.finalize(self, spilled.close)
        for event in self._events:
            spilled.write(event.frame.data)
        self._events.clear()
        self._spilled = spilled

    def _read_back(self, spilled: IO[bytes]) -> Iterator[Event]:
        framer = Framer(self._format, self._offset)
        decoder = EventDecoder(self._file)
        spilled.flush()
        read = 0
        while chunk := os.pread(spilled.fileno(), _CHUNK, read):
            read += len(chunk)
            for frame in framer.feed(chunk):
                yield decoder.decode(frame)
