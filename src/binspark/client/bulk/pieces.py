"""Whole transactions of a server's log, in pieces of any number of them, each as it is told by its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from binspark.client.group import Group
from binspark.client.resume import ResumePoint
from binspark.event import Event, EventDecoder
from binspark.frames import EventCode, Framer, LogFormat

_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class BytesPiece:
    """Events that follow each other in a file, from the beginning of a transaction to the end of one.

    file, offset  where the first event stands
    format        how it is laid out
    data          the bytes of all of them
    is_odd        whether they are such that offsets do not tell all of the rows in them
    resume        where to go on
    """

    file: str
    offset: int
    format: LogFormat
    data: npt.NDArray[np.uint8] = field(repr=False)
    is_odd: bool
    resume: ResumePoint

    def events(self) -> Iterator[Event]:
        """Yield the events; behind a compressed payload come the events inside."""
        framer, decoder = Framer(self.format, self.offset), EventDecoder(self.file)
        for start in range(0, len(self.data), _CHUNK):
            for frame in framer.feed(self.data[start : start + _CHUNK].tobytes()):
                event = decoder.decode(frame)
                yield event
                if event.type_code == EventCode.TRANSACTION_PAYLOAD:
                    yield from decoder.inner_events(event)


@dataclass(frozen=True, eq=False)
class GroupPiece:
    """A transaction that was read event by event."""

    group: Group

    @property
    def resume(self) -> ResumePoint:
        return self.group.resume

    def events(self) -> Iterator[Event]:
        """Yield the events; behind a compressed payload come the events inside."""
        return self.group.events()


Piece = BytesPiece | GroupPiece
