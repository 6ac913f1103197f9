"""What is in bytes of a log without decoding them: where transactions begin, what they are called, which statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from binspark.client.bulk.names import Names
from binspark.client.facts import Gtids
from binspark.event import Event, EventDecoder, GtidList, PreviousGtids
from binspark.frames import EventCode, Framer, LogFormat
from binspark.gtid import MariadbState
from binspark.kernels.starts import NAME_LENGTH, count_starts, find_starts
from binspark.kernels.walk import Look, Met, Walk, hop

Bytes = npt.NDArray[np.uint8]

_TYPE = 4
_WINDOW = 1 << 20


@dataclass(frozen=True, eq=False)
class Chunk:
    """Whole events that follow each other in a file.

    file, offset  where the first of them stands
    format        how it is laid out
    data          the bytes of all of them
    """

    file: str
    offset: int
    format: LogFormat
    data: Bytes = field(repr=False)

    @property
    def end(self) -> int:
        """The offset behind the last event."""
        return self.offset + len(self.data)

    def events(self, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events; behind a compressed payload come the events inside, unless they are not wanted."""
        framer, decoder = Framer(self.format, self.offset), EventDecoder(self.file)
        for start in range(0, len(self.data), _WINDOW):
            for frame in framer.feed(self.data[start : start + _WINDOW].tobytes()):
                event = decoder.decode(frame)
                yield event
                if expand and event.type_code == EventCode.TRANSACTION_PAYLOAD:
                    yield from decoder.inner_events(event)


@dataclass(frozen=True, eq=False)
class Outline:
    """The transactions of a chunk.

    starts  the offsets in the file where they begin
    names   what they are called
    told    the GTIDs before the file, if the chunk holds the event that tells them
    format  how events are laid out behind the first
    """

    starts: npt.NDArray[np.int64]
    names: Names
    told: Gtids | None
    format: LogFormat


def outline(chunk: Chunk) -> Outline:
    """Find the transactions of a chunk."""
    base = int(chunk.data.ctypes.data)
    end = base + len(chunk.data)
    count = count_starts(base, end)
    starts, heads = np.zeros(count, dtype=np.int64), np.zeros((count, NAME_LENGTH), dtype=np.uint8)
    told_at = find_starts(base, end, starts, int(heads.ctypes.data))
    starts += chunk.offset - base
    within = _format_within(chunk)
    tagged = {
        int(number): _event_at(chunk, within, int(starts[number])).body.gtid
        for number in np.flatnonzero(heads[:, _TYPE] == EventCode.GTID_TAGGED)
    }
    told = _told(_event_at(chunk, within, told_at - base + chunk.offset)) if told_at else None
    return Outline(starts, Names(heads, tagged), told, within)


def statements(chunk: Chunk) -> Iterator[Event]:
    """Yield the statements of a chunk that are not only the begin or the end of a transaction."""
    base = int(chunk.data.ctypes.data)
    walk = np.zeros(Walk.WIDTH, dtype=np.int64)
    walk[Walk.AT] = base
    within, end, origin = _format_within(chunk), base + len(chunk.data), chunk.offset - base
    while hop(walk, end, origin, within.checksum_length, Look.STATEMENTS, 0, 0) == Met.EVENT:
        event = _event_at(chunk, within, int(walk[Walk.AT]) + origin)
        yield event
        walk[Walk.AT] += len(event.frame.data)


def _format_within(chunk: Chunk) -> LogFormat:
    """Return how the events behind the first are laid out: the first of a file says it."""
    if len(chunk.data) <= _TYPE or chunk.data[_TYPE] != EventCode.FORMAT_DESCRIPTION:
        return chunk.format
    framer = Framer(chunk.format, chunk.offset)
    next(framer.feed(_event_bytes(chunk, chunk.offset)))
    assert framer.format is not None
    return framer.format


def _event_at(chunk: Chunk, log_format: LogFormat, offset: int) -> Event:
    frame = next(Framer(log_format, offset).feed(_event_bytes(chunk, offset)))
    return EventDecoder(chunk.file).decode(frame)


def _event_bytes(chunk: Chunk, offset: int) -> bytes:
    at = offset - chunk.offset
    size = int.from_bytes(chunk.data[at + 9 : at + 13].tobytes(), "little")
    return chunk.data[at : at + size].tobytes()


def _told(event: Event) -> Gtids | None:
    """Return the GTIDs that an event tells came before its file."""
    match event.body:
        case PreviousGtids() as previous:
            return previous.gtid_set
        case GtidList() as listed:
            return MariadbState.of(listed.gtids).position
    return None
