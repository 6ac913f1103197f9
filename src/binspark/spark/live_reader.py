"""A range of a server's log, read by an executor: over a connection of its own, with the kernels that read files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from binspark.client.connect import connect
from binspark.client.follow import follow
from binspark.client.follow_files import follow_files
from binspark.client.identity import identify
from binspark.client.options import ConnectionOptions
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings, StreamSettings
from binspark.columns.reader import BatchReader, Span, TableBatch
from binspark.errors import Purged
from binspark.event import Event, EventDecoder
from binspark.files.sources import log_order
from binspark.frames import EventCode, Frame
from binspark.schema.history import SchemaHistory

MakeReader = Callable[[SchemaHistory], BatchReader]


@dataclass(frozen=True)
class LiveRange:
    """The transactions between two places of a server's log."""

    connection: ConnectionOptions
    start: ResumePoint
    end: ResumePoint


@dataclass(frozen=True)
class LiveReader:
    """Reads ranges as `SplitReader` reads splits. A connection that is lost is made again, at the next event."""

    history: SchemaHistory

    def batches(self, part: LiveRange, make_reader: MakeReader) -> Iterator[TableBatch]:
        """Yield the rows of a range."""
        reader = make_reader(self.history)
        runs = _Runs(range_frames(part))
        while (span := runs.next_span()) is not None:
            yield from reader.read(runs.read_into, runs.file, span)

    def events(self, part: LiveRange, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events of a range."""
        for file, frame in range_frames(part):
            decoder = EventDecoder(file)
            event = decoder.decode(frame)
            yield event
            if event.type_code == EventCode.TRANSACTION_PAYLOAD and expand:
                yield from decoder.inner_events(event)


def range_frames(part: LiveRange) -> Iterator[tuple[str, Frame]]:
    """Yield the events of a range that are in the server's files, each with its file."""
    if part.start.server == part.end.server and part.start.by_file and part.end.by_file and _is_there(part):
        return _frames_by_file(part)
    return _frames_by_gtid(part)


def _is_there(part: LiveRange) -> bool:
    with connect(part.connection) as connection:
        return identify(connection).uuid == part.start.server


def _frames_by_file(part: LiveRange) -> Iterator[tuple[str, Frame]]:
    end = (log_order(part.end.file), part.end.offset)
    start = ResumePoint(part.start.file, part.start.offset, None, part.start.server, part.start.created)
    if (log_order(start.file), start.offset) >= end:
        return
    follower = follow_files(part.connection, start, FollowSettings(stream=StreamSettings(until_end=True)))
    try:
        for event in follower:
            if event.in_file and (log_order(event.file), event.offset) < end:
                yield event.file, event.frame
            if event.in_file and (log_order(event.file), event.end_offset) >= end:
                return
    finally:
        follower.close()
    raise Purged(f"the server's log ends before {part.end.file}:{part.end.offset}, which was there before")


def _frames_by_gtid(part: LiveRange) -> Iterator[tuple[str, Frame]]:
    """Yield the transactions of a range from another server of the same topology, by their GTIDs."""
    wanted = part.end.gtids
    if wanted is None:
        message = f"the server of {part.end.file}:{part.end.offset} is gone, and the GTIDs up to there are not known"
        raise Purged(message, part.end.position)
    follower = follow(part.connection, part.start, FollowSettings(stream=StreamSettings(until_end=True)))
    try:
        for group in follower:
            gtid = None if group.transaction is None else group.transaction.gtid
            if gtid is not None and gtid in wanted:
                for event in group.events(expand_payloads=False):
                    yield event.file, event.frame
            if group.resume.gtids is not None and wanted <= group.resume.gtids:  # type: ignore[operator]
                return
    finally:
        follower.close()


class _Runs:
    """Frames as runs of bytes that follow each other in one file, as a reader of files wants them."""

    def __init__(self, frames: Iterator[tuple[str, Frame]]) -> None:
        self._frames = frames
        self._next = next(frames, None)
        self._left = memoryview(b"")
        self._due: tuple[str, int] | None = None
        self.file = ""

    def next_span(self) -> Span | None:
        """Begin the next run; None when there is none."""
        if self._next is None:
            return None
        self.file, frame = self._next
        self._due = (self.file, frame.offset)
        return Span(frame.format, frame.offset, None, lambda _offset: False)

    def read_into(self, buffer: memoryview) -> int:
        """Fill a buffer with bytes of the run, 0 at its end."""
        filled = 0
        while filled < len(buffer):
            if not self._left and not self._take():
                break
            count = min(len(self._left), len(buffer) - filled)
            buffer[filled : filled + count] = self._left[:count]
            self._left = self._left[count:]
            filled += count
        return filled

    def _take(self) -> bool:
        """Take the next frame if it goes on where the last one ended."""
        if self._next is None or (self._next[0], self._next[1].offset) != self._due:
            return False
        file, frame = self._next
        self._left = memoryview(frame.data)
        self._due = (file, frame.end_offset)
        self._next = next(self._frames, None)
        return True
