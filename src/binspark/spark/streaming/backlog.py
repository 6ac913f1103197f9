"""What a follower has delivered of a server's logs and no batch has passed yet."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
import numpy.typing as npt

from binspark.errors import BinlogError
from binspark.replication.chunk import ChunkPositions, LogChunk
from binspark.replication.gtids import includes
from binspark.replication.position import BinlogPosition
from binspark.spark.streaming.limit import Limit

Offsets = npt.NDArray[np.int64]
Times = npt.NDArray[np.uint32]

MAX_CARRIED_BYTES = 1 << 20
"""A range of at most this size travels to its executor with its partition, which then need not ask the server."""

_MAX_AHEAD_BYTES = 256 << 20
_MAX_BUFFERED_BYTES = 16 << 20
_MAX_ENTRIES = 1 << 12
PAUSE_SECONDS = 0.1
"""How long nothing comes until a batch on the way to a target waits for no more."""


@dataclass(slots=True, eq=False)
class BacklogEntry:
    """A chunk, as far as batches must know it.

    begin         the offset of its first byte
    boundaries    the offsets where a batch may end: after each of its transactions, and what follows it outside of them
    first_start   the offset where the first of its transactions begins
    last_end      the offset after the last of them, without what follows it
    times         when each of its transactions began, in seconds since 1970
    end           the position after all of them
    positions     gives the position after each of them
    transactions  whether each boundary is the end of a transaction
    has_rows      whether there is anything in it to read: by GTIDs, only transactions are read
    chunk         the bytes; None if they are too many to be kept
    """

    begin: int
    boundaries: Offsets
    first_start: int
    last_end: int
    times: Times
    end: BinlogPosition
    positions: ChunkPositions | None
    transactions: bool
    has_rows: bool
    chunk: LogChunk | None

    @classmethod
    def of(cls, chunk: LogChunk, *, by_file: bool = True) -> BacklogEntry:
        """Return the entry of a chunk. `by_file`: the position before it is one in the files of the same server."""
        end = chunk.end_position
        if not chunk.data or not (chunk.event is None or (by_file and end.by_file)):
            times = np.array([chunk.timestamp], dtype=np.uint32)
            boundary = np.array([chunk.end], dtype=np.int64)
            return cls(chunk.end, boundary, chunk.end, chunk.end, times, end, None, False, False, None)
        index = chunk.transactions
        kept = chunk if len(chunk.data) <= MAX_CARRIED_BYTES else None
        boundaries = np.append(index.starts[1:], chunk.end)
        times = _times_at(chunk, index.starts)
        first, last = int(index.starts[0]) if len(index) else chunk.offset, chunk.transactions_end
        return cls(chunk.offset, boundaries, first, last, times, end, chunk.positions, len(index) > 0, True, kept)

    @property
    def way(self) -> tuple[str, bool]:
        """How the entry is found when it is read again: on which server, and whether by its file."""
        return self.end.server, self.end.by_file

    @property
    def size(self) -> int:
        """How many bytes of the log the entry covers, whether or not they are kept."""
        return int(self.boundaries[-1]) - self.begin

    @property
    def carried(self) -> int:
        """How many bytes are kept here."""
        return 0 if self.chunk is None else len(self.chunk.data)

    def drop_bytes(self) -> None:
        """Drop the bytes: from now on they are read from the server."""
        self.chunk = None

    def time_after(self, position: BinlogPosition) -> int:
        """Return when the first transaction after a position began, in seconds since 1970."""
        first = 0
        if self.is_in_file(position):
            first = int(np.searchsorted(self.boundaries, position.offset, side="right"))
        return int(self.times[min(first, len(self.times) - 1)])

    def position_after(self, count: int) -> BinlogPosition:
        """Return the position after the first `count` boundaries."""
        if count == len(self.boundaries) or self.positions is None:
            return self.end
        return self.positions.after(count)

    def chunks_between(self, begin: BinlogPosition, end: BinlogPosition) -> list[LogChunk] | None:
        """Return the part between two positions; None if its bytes are not here."""
        if not self.has_rows:
            return []
        if self.chunk is None:
            return None
        first = begin.offset if self.is_in_file(begin) else self.begin
        last = end.offset if self.is_in_file(end) else int(self.boundaries[-1])
        return [self.chunk.between(first, last)]

    def is_in_file(self, position: BinlogPosition) -> bool:
        """Return whether a position is in the same file."""
        return (position.server, position.file) == (self.end.server, self.end.file)

    def ends_at(self, position: BinlogPosition) -> bool:
        """Return whether a position is the one after the entry."""
        return self.is_in_file(position) and position.offset == self.boundaries[-1]

    def contains(self, position: BinlogPosition) -> bool:
        """Return whether a position is in the entry or right after it."""
        is_inside = self.is_in_file(position) and self.begin < position.offset < self.boundaries[-1]
        return self.ends_at(position) or is_inside

    def is_before(self, position: BinlogPosition) -> bool:
        """Return whether all of it comes before a position: by their files, or by the GTIDs before the position.

        An entry that only says that files are enough from here on comes after a position that does not know it.
        """
        if self._is_news_for(position) and self.end.gtids == position.gtids:
            return False
        if self.ends_at(position):
            return True
        if self.end.server == position.server and self.end.by_file and position.by_file:
            return self.end.order <= position.order
        own, gtids = self.end.gtids, position.gtids
        return own is not None and gtids is not None and includes(gtids, own)

    def _is_news_for(self, position: BinlogPosition) -> bool:
        is_passed = self.is_in_file(position) and self.boundaries[-1] < position.offset
        return self.end.by_file and not (self.has_rows or position.by_file or is_passed)

    def shows(self, position: BinlogPosition) -> bool:
        """Return whether a position is one in a file that was read by file here, with all that comes before it."""
        return self.has_rows and self.end.by_file and self.contains(position)

    def boundaries_after(self, position: BinlogPosition) -> BatchBoundaries:
        """Return where a batch may end that begins at a position."""
        if self.is_in_file(position) and position.offset > self.begin:
            first = int(np.searchsorted(self.boundaries, position.offset, side="right"))
            return BatchBoundaries(self, first, position.offset)
        return BatchBoundaries(self, 0, self.begin)


@dataclass(frozen=True, slots=True)
class BatchBoundaries:
    """The boundaries of an entry from one of them on, for a batch that begins at an offset."""

    entry: BacklogEntry
    first: int
    begin: int

    def __len__(self) -> int:
        return len(self.entry.boundaries) - self.first

    @property
    def size(self) -> int:
        """How many bytes of the log are after the offset at which the batch begins."""
        return int(self.entry.boundaries[-1]) - self.begin

    @property
    def transactions(self) -> int:
        """How many transactions end at these boundaries."""
        return len(self) if self.entry.transactions else 0

    def position_after(self, count: int) -> BinlogPosition:
        """Return the position after the first `count` of them."""
        return self.entry.position_after(self.first + count)

    def allowed(self, limit: Limit, size: int, count: int) -> int:
        """Return how many fit into a batch that has this size and this number of transactions already."""
        fits = np.ones(len(self), dtype=bool)
        if limit.bytes is not None:
            fits &= size + self.entry.boundaries[self.first :] - self.begin <= limit.bytes
        if limit.transactions is not None and self.entry.transactions:
            fits &= count + np.arange(1, len(self) + 1) <= limit.transactions
        return _leading(fits)

    def up_to(self, target: BinlogPosition | None) -> int:
        """Return how many do not come after a target."""
        if target is None or not self.entry.end.is_ordered_with(target):
            return len(self)
        file, target_file = self.entry.end.order[0], target.order[0]
        if file != target_file:
            return len(self) if file < target_file else 0
        return _leading(self.entry.boundaries[self.first :] <= target.offset)

    def target_after(self, count: int, target: BinlogPosition | None) -> BinlogPosition | None:
        """Return a target as a position here, if it is before the boundary after the first `count`, in no transaction.

        Events that belong to none are around it then, such as those at the beginning of a file, or what the server
        wrote after it had reported the target as its position.
        """
        entry, number = self.entry, self.first + count
        if target is None or number == len(entry.boundaries) or not entry.is_in_file(target):
            return None
        before = entry.boundaries[number - 1] if number else entry.begin
        if not max(before, self.begin) < target.offset < entry.boundaries[number]:
            return None
        if target.offset <= entry.first_start:
            return replace(entry.position_after(0), offset=target.offset)
        after = entry.position_after(number + 1)
        is_in_rest = number + 1 == len(entry.boundaries) and target.offset >= entry.last_end
        is_same = after.gtids is not None and after.gtids == target.gtids
        return replace(after, offset=target.offset) if is_in_rest or is_same else None


def _times_at(chunk: LogChunk, starts: Offsets) -> Times:
    """Return the times of the events at these offsets, the first field of their headers; at least one."""
    if not len(starts):
        return np.array([chunk.first_timestamp], dtype=np.uint32)
    fields = chunk.array[(starts - chunk.offset)[:, np.newaxis] + np.arange(4)]
    return np.ascontiguousarray(fields).view(np.uint32)[:, 0]


def _leading(fits: npt.NDArray[np.bool_]) -> int:
    """Return how many are true before the first that is not."""
    return len(fits) if fits.all() else int(np.argmin(fits))


class Backlog:
    """Takes chunks from a thread that follows a server, and decides how far the next batch goes.

    The follower waits when it is far ahead of the batches. The bytes of what it delivered are kept while they are few.
    """

    def __init__(self, start: BinlogPosition) -> None:
        self._changed = threading.Condition()
        self._entries: deque[BacklogEntry] = deque()
        self._last_dropped: BacklogEntry | None = None
        self._failure: BinlogError | None = None
        self._is_closed = False
        self._ahead = self._carried = 0
        self.begin = start
        """The position after which everything is here, or still to come."""
        self.end = start
        """The position after everything that is here."""

    def add(self, chunk: LogChunk) -> None:
        """Take what was delivered; wait while it is too much."""
        is_by_file = self.end.by_file and self.end.server == chunk.origin.server
        if not chunk.data and is_by_file and self.begin.by_file:
            return  # an artificial event is of interest only if it says that files are enough
        entry = BacklogEntry.of(chunk, by_file=is_by_file)
        end = entry.end
        with self._changed:
            is_news = end.coordinates != self.end.coordinates or end.by_file > self.end.by_file
            if not (is_news and (entry.has_rows or end.by_file)):
                return
            self._changed.wait_for(lambda: self._is_closed or self._has_room)
            if self._carried + entry.carried > _MAX_BUFFERED_BYTES:
                entry.drop_bytes()
            self._ahead += entry.size
            self._carried += entry.carried
            self._entries.append(entry)
            self.end = end
            self._changed.notify_all()

    def fail(self, error: BinlogError) -> None:
        """Note why nothing more comes."""
        with self._changed:
            self._failure = error
            self._changed.notify_all()

    def close(self) -> None:
        """Wake the follower up, and do not let it wait again."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def wait(
        self, start: BinlogPosition, seconds: float, target: BinlogPosition | None, limit: Limit | None = None
    ) -> None:
        """Wait for something after a position, or until there is nothing more to wait for.

        On the way to a target also for what follows without a pause, up to a limit: small batches cost as much as large
        ones.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_ready(start, target), seconds)
            while target is not None and limit is not None and not self._is_enough(target, limit):
                if not self._changed.wait_for(partial(self._has_come_after, self.end), PAUSE_SECONDS):
                    break

    def next_end(self, start: BinlogPosition, limit: Limit, target: BinlogPosition | None) -> BinlogPosition:
        """Return where a batch that starts at a position ends: within the limit, but after at least one transaction.

        The error that made the follower fail is raised when everything before it was taken.
        """
        with self._changed:
            self._drop_before(start)
            if self._is_known_in_file(start):
                return replace(start, by_file=True)
            if self._failure is not None and not self._entries:
                raise self._failure
            return self._end_of_batch(start, limit, target)

    def time_after(self, position: BinlogPosition) -> int | None:
        """Return when the first transaction after a position began, if it has come."""
        with self._changed:
            following = (entry for entry in self._entries if entry.has_rows and not entry.is_before(position))
            return next((entry.time_after(position) for entry in following), None)

    def carried(self, start: BinlogPosition, end: BinlogPosition) -> tuple[LogChunk, ...] | None:
        """Return the bytes of a range, if they are few and still here."""
        if start.coordinates == end.coordinates:
            return ()
        with self._changed:
            self._drop_before(start)
            chunks: list[LogChunk] = []
            for entry in self._entries:
                found = entry.chunks_between(start, end)
                if found is None:
                    return None
                chunks += found
                if sum(len(chunk.data) for chunk in chunks) > MAX_CARRIED_BYTES:
                    return None
                if entry.contains(end):
                    return tuple(chunks)
            return None

    def _is_ready(self, start: BinlogPosition, target: BinlogPosition | None) -> bool:
        self._drop_before(start)
        is_there = target is not None and self.end.reaches(target)
        return self._failure is not None or bool(self._entries) or is_there

    def _is_enough(self, target: BinlogPosition, limit: Limit) -> bool:
        """Return whether a batch need not wait for more."""
        is_full = not self._has_room or not limit.allows(self._ahead, len(self._entries))
        return self._failure is not None or is_full or self.end.reaches(target)

    def _has_come_after(self, end: BinlogPosition) -> bool:
        return self._failure is not None or self.end != end

    @property
    def _has_room(self) -> bool:
        return len(self._entries) < _MAX_ENTRIES and self._ahead < _MAX_AHEAD_BYTES

    def _drop_before(self, start: BinlogPosition) -> None:
        """Drop what comes before a position, also what has come only since the last time."""
        if start.coordinates != self.begin.coordinates:
            self.begin = start
        while self._entries and self._entries[0].is_before(start):
            self._drop_first()

    def _is_known_in_file(self, start: BinlogPosition) -> bool:
        """Return whether a position by GTIDs is known by now as one in a file."""
        found = (self._last_dropped, *islice(self._entries, 1))
        return not start.by_file and any(entry is not None and entry.shows(start) for entry in found)

    def _drop_first(self) -> None:
        dropped = self._last_dropped = self._entries.popleft()
        self._ahead -= dropped.size
        self._carried -= dropped.carried
        dropped.drop_bytes()
        self._changed.notify_all()

    def _end_of_batch(self, start: BinlogPosition, limit: Limit, target: BinlogPosition | None) -> BinlogPosition:
        """Find the end of a batch.

        An executor reads a batch in one way: from one server, and by file or by GTIDs. So a batch ends where the way
        changes, and so does the batch that makes the change.
        """
        found: tuple[BatchBoundaries, int] | None = None
        size = count = 0
        for entry in self._entries:
            is_other_way = entry.way != (start.server, start.by_file)
            if is_other_way and found is not None:
                break
            boundaries = entry.boundaries_after(start)
            wanted, allowed = boundaries.up_to(target), boundaries.allowed(limit, size, count)
            taken = min(wanted, allowed)
            if taken == wanted and (allowed > taken or (found is None and not taken)):
                at_target = boundaries.target_after(taken, target)
                if at_target is not None:
                    return at_target
            if found is None and wanted and not taken:
                taken = 1
            if taken:
                found = boundaries, taken
            if taken < len(boundaries) or is_other_way:
                break
            size, count = size + boundaries.size, count + boundaries.transactions
        return start if found is None else found[0].position_after(found[1])
