"""What a follower has brought of a server's log and no batch has gone behind yet."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from binspark.client.bulk.outline import Chunk
from binspark.client.bulk.pieces import BytesPiece, GroupPiece, Piece
from binspark.client.facts import Gtids
from binspark.client.group import Group, GroupKind
from binspark.client.resume import ResumePoint
from binspark.errors import BinlogError
from binspark.files.sources import log_order
from binspark.frames import LogFormat
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.offset import StreamOffset

Offsets = npt.NDArray[np.int64]

MOST_CARRIED = 1 << 20
"""A range of at most so many bytes travels to its executor with its partition, which then need not ask the server."""


@dataclass(frozen=True, eq=False)
class _Bytes:
    """The bytes of a stretch. Behind the first event they may have another format."""

    chunk: Chunk
    format_within: LogFormat

    def between(self, begin: int, end: int) -> Chunk:
        """Return the events between two offsets."""
        chunk = self.chunk
        begin, end = max(begin, chunk.offset), min(end, chunk.end)
        log_format = chunk.format if begin == chunk.offset else self.format_within
        return Chunk(chunk.file, begin, log_format, chunk.data[begin - chunk.offset : end - chunk.offset])


@dataclass(slots=True, eq=False)
class Stretch:
    """A piece of a log, as far as batches must know it.

    begin         the offset of its first byte
    cuts          the offsets where a batch may end: behind each of its transactions
    behind        gives the place behind so many of the cuts
    end           the place behind all of them
    has_bytes     whether there is anything in it to read
    transactions  whether each cut ends a transaction
    """

    begin: int
    cuts: Offsets
    behind: Callable[[int], ResumePoint]
    end: ResumePoint
    transactions: bool
    has_bytes: bool
    _bytes: _Bytes | None

    @classmethod
    def of(cls, piece: Piece, *, by_file: bool = True) -> Stretch:
        """Return the stretch of a piece. Bytes are kept if they are few. `by_file` says that the place before it is one
        in the files of the same server.
        """
        return _of_group(piece.group, by_file=by_file) if isinstance(piece, GroupPiece) else _of_bytes(piece)

    @property
    def way(self) -> tuple[str, bool]:
        """How whoever reads the stretch again finds it: on which server, and whether by its file."""
        return self.end.server, self.end.by_file

    @property
    def size(self) -> int:
        return int(self.cuts[-1]) - self.begin

    @property
    def carried(self) -> int:
        """How many bytes are held here."""
        return 0 if self._bytes is None else len(self._bytes.chunk.data)

    def forget_bytes(self) -> None:
        """Hold no bytes: whoever wants them reads them from the server."""
        self._bytes = None

    def bytes_between(self, begin: StreamOffset, end: StreamOffset) -> list[Chunk] | None:
        """Return the bytes of the part that lies between two places; None if they are not here."""
        if not self.has_bytes:
            return []
        if self._bytes is None:
            return None
        first = begin.pos if self.is_in_file(begin) else self.begin
        last = end.pos if self.is_in_file(end) else int(self.cuts[-1])
        return [self._bytes.between(first, last)]

    def is_in_file(self, place: StreamOffset) -> bool:
        """Tell whether a place is in the same file."""
        return (place.server, place.file) == (self.end.server, self.end.file)

    def ends_at(self, place: StreamOffset) -> bool:
        """Tell whether a place is the one behind the stretch."""
        return self.is_in_file(place) and place.pos == self.cuts[-1]

    def holds(self, place: StreamOffset) -> bool:
        """Tell whether a place is in the stretch or right behind it."""
        return self.ends_at(place) or (self.is_in_file(place) and self.begin < place.pos < self.cuts[-1])

    def is_before(self, place: StreamOffset, gtids: Gtids | None) -> bool:
        """Tell whether all of it lies before a place: by their files, or by the GTIDs before the place.

        One that only says that places in files are enough from here on lies behind a place that does not know it.
        """
        if self._is_news_for(place) and self.end.gtids == gtids:
            return False
        if self.ends_at(place):
            return True
        if self.is_beside(place):
            return (log_order(self.end.file), self.cuts[-1]) <= (log_order(place.file), place.pos)
        own = self.end.gtids
        return own is not None and gtids is not None and type(own) is type(gtids) and bool(own <= gtids)  # type: ignore[operator]

    def _is_news_for(self, place: StreamOffset) -> bool:
        is_passed = self.is_in_file(place) and self.cuts[-1] < place.pos
        return self.end.by_file and not (self.has_bytes or place.by_file or is_passed)

    def shows(self, place: StreamOffset) -> bool:
        """Tell whether a place is one in a file that this stretch was read from by file, with all that is before it."""
        return self.has_bytes and self.end.by_file and self.holds(place)

    def is_beside(self, place: StreamOffset) -> bool:
        """Tell whether places of the stretch can be compared with another by their files."""
        return self.end.server == place.server and self.end.by_file and place.by_file

    def cuts_behind(self, place: StreamOffset) -> Cuts:
        """Return where a batch may end that begins at a place."""
        if self.is_in_file(place) and place.pos > self.begin:
            return Cuts(self, int(np.searchsorted(self.cuts, place.pos, side="right")), place.pos)
        return Cuts(self, 0, self.begin)


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cuts of a stretch from one of them on, for a batch that begins at an offset."""

    stretch: Stretch
    first: int
    begin: int

    def __len__(self) -> int:
        return len(self.stretch.cuts) - self.first

    @property
    def size(self) -> int:
        return int(self.stretch.cuts[-1]) - self.begin

    @property
    def transactions(self) -> int:
        return len(self) if self.stretch.transactions else 0

    def behind(self, count: int) -> ResumePoint:
        """Return the place behind the first so many."""
        return self.stretch.end if count == len(self) else self.stretch.behind(self.first + count)

    def allowed(self, limit: Limit, size: int, count: int) -> int:
        """Return how many a batch may go behind which has so many bytes and transactions already."""
        fits = np.ones(len(self), dtype=bool)
        if limit.bytes is not None:
            fits &= size + self.stretch.cuts[self.first :] - self.begin <= limit.bytes
        if limit.transactions is not None and self.stretch.transactions:
            fits &= count + np.arange(1, len(self) + 1) <= limit.transactions
        return _leading(fits)

    def before(self, target: StreamOffset | None) -> int:
        """Return how many do not lie behind a target."""
        if target is None or not self.stretch.is_beside(target):
            return len(self)
        file, target_file = log_order(self.stretch.end.file), log_order(target.file)
        if file != target_file:
            return len(self) if file < target_file else 0
        return _leading(self.stretch.cuts[self.first :] <= target.pos)


def _leading(fits: npt.NDArray[np.bool_]) -> int:
    """Return how many are true before the first that is not."""
    return len(fits) if fits.all() else int(np.argmin(fits))


def _of_bytes(piece: BytesPiece) -> Stretch:
    places = piece.places
    cuts = np.append(places.outline.starts[1:], piece.end)
    is_small = len(piece.data) <= MOST_CARRIED
    chunk = Chunk(piece.file, piece.offset, piece.format, piece.data)
    held = _Bytes(chunk, places.outline.format) if is_small else None
    return Stretch(piece.offset, cuts, places.behind, piece.resume, len(places) > 0, True, held)


def _of_group(group: Group, *, by_file: bool) -> Stretch:
    """A transaction that was read by GTIDs is all that there is to read; by files, other events count too."""
    resume, transaction = group.resume, group.transaction
    is_read = group.kind is GroupKind.TRANSACTION or (by_file and resume.by_file and group.kind is GroupKind.LOG)
    held = _group_bytes(group) if is_read else None
    begin = resume.offset - (0 if transaction is None else transaction.length)
    if held is not None:
        begin = held.chunk.offset
    cuts = np.array([resume.offset], dtype=np.int64)
    has_bytes = is_read and (transaction is not None or held is not None)
    return Stretch(begin, cuts, lambda _count: resume, resume, transaction is not None, has_bytes, held)


def _group_bytes(group: Group) -> _Bytes | None:
    """Return the bytes of a group, if they are few and stand in a file."""
    if group.held.spilled:
        return None
    frames = [event.frame for event in group.events(expand_payloads=False)]
    data = b"".join(frame.data for frame in frames if frame.end_offset > frame.offset)
    if not data or len(data) > MOST_CARRIED:
        return None
    first = frames[0]
    file = next(iter(group.held)).file
    chunk = Chunk(file, first.offset, first.format, np.frombuffer(data, dtype=np.uint8))
    return _Bytes(chunk, first.format)


_MOST_AHEAD = 256 << 20
_MOST_HELD = 16 << 20
_MOST_STRETCHES = 1 << 12


class LiveLog:
    """Takes pieces from a thread that follows a server, and tells another how far the next batch goes.

    The follower waits when it is far ahead of the batches. Of what it brought, the bytes are kept while they are few.
    """

    def __init__(self, start: StreamOffset) -> None:
        self._changed = threading.Condition()
        self._stretches: deque[Stretch] = deque()
        self._dropped: Stretch | None = None
        self._failure: BinlogError | None = None
        self._is_closed = False
        self._ahead = self._carried = 0
        self._at, self._at_point = start, start.point
        self.end = start

    @property
    def begin(self) -> StreamOffset:
        """The place behind which everything is here, or still to come."""
        return self._at

    def add(self, piece: Piece) -> None:
        """Take what came; wait while it is too much."""
        stretch = Stretch.of(piece, by_file=self.end.by_file and self.end.server == piece.resume.server)
        end = StreamOffset.of_point(stretch.end, self.end.lost)
        with self._changed:
            is_news = end.place != self.end.place or end.by_file > self.end.by_file
            if not (is_news and (stretch.has_bytes or end.by_file)):
                return
            self._changed.wait_for(lambda: self._is_closed or self._has_room)
            if self._carried + stretch.carried > _MOST_HELD:
                stretch.forget_bytes()
            self._ahead += stretch.size
            self._carried += stretch.carried
            self._stretches.append(stretch)
            self.end = end
            self._changed.notify_all()

    def fail(self, error: BinlogError) -> None:
        """Say why nothing more comes."""
        with self._changed:
            self._failure = error
            self._changed.notify_all()

    def close(self) -> None:
        """Let the follower wait no more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def wait(self, start: StreamOffset, seconds: float, target: StreamOffset | None) -> None:
        """Wait for something behind a place, or that there is nothing more to wait for."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_ready(start, target), seconds)

    def next_end(self, start: StreamOffset, limit: Limit, target: StreamOffset | None) -> StreamOffset:
        """Return how far a batch goes that begins at a place: as far as the limit allows, and one transaction at least.

        What made the follower fail is raised when everything before it was taken.
        """
        with self._changed:
            self._go_to(start)
            if self._is_enough(start):
                return replace(start, by_file=True)
            if self._failure is not None and not self._stretches:
                raise self._failure
            return self._cut(start, limit, target)

    def carried(self, start: StreamOffset, end: StreamOffset) -> tuple[Chunk, ...] | None:
        """Return the bytes of a range, if they are few and still here."""
        if start.place == end.place:
            return ()
        with self._changed:
            self._go_to(start)
            chunks: list[Chunk] = []
            for stretch in self._stretches:
                found = stretch.bytes_between(start, end)
                if found is None:
                    return None
                chunks += found
                if sum(len(chunk.data) for chunk in chunks) > MOST_CARRIED:
                    return None
                if stretch.holds(end):
                    return tuple(chunks)
            return None

    def _is_ready(self, start: StreamOffset, target: StreamOffset | None) -> bool:
        self._go_to(start)
        is_there = target is not None and self.end.reaches(target)
        return self._failure is not None or bool(self._stretches) or is_there

    @property
    def _has_room(self) -> bool:
        return len(self._stretches) < _MOST_STRETCHES and self._ahead < _MOST_AHEAD

    def _go_to(self, start: StreamOffset) -> None:
        """Forget what lies before a place, also what has come only since the last time."""
        if start.place != self._at.place:
            self._at, self._at_point = start, start.point
        while self._stretches and self._stretches[0].is_before(start, self._at_point.gtids):
            self._drop()

    def _is_enough(self, start: StreamOffset) -> bool:
        """Tell whether a place that GTIDs told is known by now as one in a file."""
        found = (self._dropped, *islice(self._stretches, 1))
        return not start.by_file and any(stretch is not None and stretch.shows(start) for stretch in found)

    def _drop(self) -> None:
        dropped = self._dropped = self._stretches.popleft()
        self._ahead -= dropped.size
        self._carried -= dropped.carried
        dropped.forget_bytes()
        self._changed.notify_all()

    def _cut(self, start: StreamOffset, limit: Limit, target: StreamOffset | None) -> StreamOffset:
        """Find the end of a batch. It is read again in one way: where another begins, on another server or by file
        instead of by GTIDs, a batch ends, and so does the one that takes the first step there.
        """
        found: tuple[Cuts, int] | None = None
        size = count = 0
        for stretch in self._stretches:
            is_other_way = stretch.way != (start.server, start.by_file)
            if is_other_way and found is not None:
                break
            cuts = stretch.cuts_behind(start)
            before = cuts.before(target)
            taken = min(before, cuts.allowed(limit, size, count))
            if found is None and before and not taken:
                taken = 1
            if taken:
                found = cuts, taken
            if taken < len(cuts) or is_other_way:
                break
            size, count = size + cuts.size, count + cuts.transactions
        return start if found is None else StreamOffset.of_point(found[0].behind(found[1]), start.lost)
