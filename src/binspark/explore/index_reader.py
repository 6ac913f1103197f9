"""Reading a log into its index: transactions by a kernel, past damage, from where it ended when it was last read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import Condition

import pyarrow as pa

from binspark.columns.transaction_batch import ClosedTransactions, transaction_numbers
from binspark.columns.transaction_list import Target, TransactionReader
from binspark.errors import DecodeError, Malformed
from binspark.explore.explored_log import MAX_DEFINITIONS, ExploredLog
from binspark.explore.log_index import MAX_DAMAGES
from binspark.explore.totals import Totals
from binspark.files.damage import Damage
from binspark.files.log_head import is_writing_head, read_head
from binspark.files.parts import LogParts, Part
from binspark.files.splits import PlannedLog
from binspark.files.storage.store import LogFile
from binspark.position import Position

_SECOND = 1_000_000
_HAND_OVER_SECONDS = 0.1


class _EagerReader(TransactionReader):
    """Hands transactions over a few times a second, so that the page shows them while a log is read."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._handed_over = 0.0

    def _leave_bytes(self) -> Iterator[pa.RecordBatch]:
        now = time.monotonic()
        if now - self._handed_over < _HAND_OVER_SECONDS:
            return
        self._handed_over = now
        yield from self._flush()


class IndexReader:
    """Reads one log into its index.

    totals     what all logs contain together
    lock       is held while the index changes
    changed    is called after each change
    stopped    returns whether reading is to end early
    """

    def __init__(
        self,
        explored: ExploredLog,
        totals: Totals,
        lock: Condition,
        changed: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._explored = explored
        self._index = explored.index
        self._totals = totals
        self._lock = lock
        self._changed = changed
        self._stopped = stopped
        self._skip = 0

    def read(self) -> None:
        """Read what was appended to the log since it was read."""
        with self._explored.opened() as file:
            size = file.size
            self._look_at_head(file)
            damage = self._read_parts(file, size)
            if self._stopped():
                return
            self._read_tail(size, damage)

    def _look_at_head(self, file: LogFile) -> None:
        explored = self._explored
        try:
            head = read_head(file, explored.source.name)
        except DecodeError:  # reported where it is read
            explored.is_active = is_writing_head(file)
            return
        explored.is_active = head.in_use
        explored.created = head.frame.header.timestamp * _SECOND

    def _read_parts(self, file: LogFile, size: int) -> Damage | None:
        """Read up to the end, and return what cannot be read there."""
        found: list[Damage] = []
        log = PlannedLog(self._explored.source, size, fingerprint=0)
        parts = LogParts(log, file, found.append)
        start = self._index.end if self._index.can_split else 0
        for part in parts.between() if start == 0 else parts.from_event(start):
            if found:
                self._pass_damage(found.pop())
                if len(self._index.damages) >= MAX_DAMAGES:
                    return self._too_damaged(size)
            self._read_part(part)
            if self._stopped():
                return None
        return found.pop() if found else None

    def _read_part(self, part: Part) -> None:
        index = self._index
        index.format, index.can_split = part.format, part.head.can_split
        self._skip = index.end
        reader = _EagerReader(self)
        for _ in part.until_error(reader.read(part.read_into(), self._explored.source.name, part.span)):
            pass

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Add transactions to the index, and yield nothing. Those that begin before an offset are in it already."""
        numbers = transaction_numbers(closed)
        new = numbers["start"] >= self._skip
        with self._lock:
            self._index.add(numbers["start"][new], numbers["end"][new], closed.commit_times[new])
            self._totals.add(closed, new)
            known = self._explored.definitions
            for row in sorted(row for row, notes in closed.notes.items() if notes.ddl is not None):
                if row < closed.count and new[row] and len(known) < MAX_DEFINITIONS:
                    known.append((int(numbers["start"][row]), int(numbers["end"][row])))
            self._changed()
        return iter(())

    def _pass_damage(self, damage: Damage) -> None:
        """Note damage after which reading continues, and the units before it."""
        self._read_tail(damage.end, damage)
        with self._lock:
            self._index.continue_after_damage()

    def _too_damaged(self, size: int) -> Damage:
        name, start = self._explored.source.name, self._index.end
        message = f"the log is damaged in more than {MAX_DAMAGES} positions; binspark verify lists them all"
        return Damage(Malformed(message, Position(file=name, offset=start)), name, start, size)

    def _read_tail(self, size: int, damage: Damage | None) -> None:
        """Note the units after the last transaction that has ended."""
        with self._lock:
            if damage is not None and damage.start < self._index.end:
                damage = Damage(damage.error, damage.file, self._index.end, damage.end)
            part = self._index.add_tail(size, damage)
        count = sum(1 for _ in self._explored.units(part))
        with self._lock:
            self._index.count_tail(part, count)
            self._changed()
