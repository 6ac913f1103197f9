"""The frames of a part of a log, and those inside its payloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from binspark.event import EventDecoder
from binspark.explore.log_index import LogIndex
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class UnitFrames:
    """The frames between two offsets, at which a unit begins and ends."""

    file: LogFile
    name: str
    index: LogIndex
    start: int
    end: int

    def __iter__(self) -> Iterator[Frame]:
        start = self.start if self.index.can_split else 0
        framer = Framer(report_checksums=True)
        if start >= FIRST_EVENT_OFFSET:
            framer = Framer(self.index.format, start, report_checksums=True)
        while start < self.end:
            chunk = self.file.read_at(start, min(_CHUNK, self.end - start))
            if not chunk:
                return
            start += len(chunk)
            yield from (frame for frame in framer.feed(chunk) if frame.end_offset > self.start)

    def expanded(self) -> Iterator[Frame]:
        """Yield each frame, and those inside it."""
        for frame in self:
            yield frame
            if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
                yield from self.inside(frame)

    def inside(self, frame: Frame) -> Iterator[Frame]:
        """Yield the frames inside a payload."""
        decoder = EventDecoder(self.name)
        yield from decoder.inner_frames(decoder.decode(frame))
