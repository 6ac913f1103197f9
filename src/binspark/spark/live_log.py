"""What a follower has brought of a server's log and no batch has gone behind yet."""

from __future__ import annotations

import threading
from collections import deque

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
        stretch = Stretch.of(piece)
        end = StreamOffset.of_point(stretch.end, self.end.lost)
        with self._changed:
            if end.place == self.end.place or not (stretch.has_bytes or end.by_file):
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
            if self._failure is not None and not self._stretches:
                raise self._failure
            return self._cut(start, limit, target)

    def carried(self, start: StreamOffset, end: StreamOffset) -> tuple[Chunk, ...] | None:
        """Return the bytes of a range, if they are few and still here."""
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

    def _drop(self) -> None:
        dropped = self._stretches.popleft()
        self._ahead -= dropped.size
        self._carried -= dropped.carried
        self._changed.notify_all()

    def _cut(self, start: StreamOffset, limit: Limit, target: StreamOffset | None) -> StreamOffset:
        found: tuple[Cuts, int] | None = None
        size = count = 0
        for stretch in self._stretches:
            cuts = stretch.cuts_behind(start)
            before = cuts.before(target)
            taken = min(before, cuts.allowed(limit, size, count))
            if found is None and before and not taken:
                taken = 1
            if taken:
                found = cuts, taken
            if taken < len(cuts):
                break
            size, count = size + cuts.size, count + cuts.transactions
        return start if found is None else StreamOffset.of_point(found[0].behind(found[1]), start.lost)
