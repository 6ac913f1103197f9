"""What a follower has brought of a server's log and no batch has gone behind yet."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace
from itertools import islice

from binspark.client.bulk.outline import Chunk
from binspark.client.bulk.pieces import Piece
from binspark.errors import BinlogError
from binspark.spark.stream_limit import Limit
from binspark.spark.stream_offset import StreamOffset
from binspark.spark.stretch import MOST_CARRIED, Cuts, Stretch

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
