"""Where the units of a log are: transactions, and the bytes between them. Units have all bytes of a log, each once.

Only some positions are kept, checkpoints; the units between two of them are read again when somebody looks at them. So
the memory that an index needs is bounded, whatever the log contains.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from binspark.columns.log_scan import Numbers
from binspark.frames import LogFormat

UNITS_PER_CHECKPOINT = 128
MAX_CHECKPOINTS = 1 << 14


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a unit begins. Reading can begin there.

    time   when its transaction was committed, in microseconds since 1970; 0 for the beginning of a log
    """

    unit: int
    offset: int
    time: int


@dataclass(frozen=True, slots=True)
class LogRange:
    """A part of a log that is read as one: from a checkpoint to another, or to where the log ended.

    is_tail   whether a transaction in progress at its end is a unit
    """

    start: Checkpoint
    end: int
    is_tail: bool


class LogIndex:
    """The units of one log, as far as it was read.

    end      the offset after the last transaction that has ended
    size     how much of the log was read, and is in units
    damage   what is wrong with the log, where reading ended
    """

    def __init__(self, max_checkpoints: int = MAX_CHECKPOINTS) -> None:
        self.format: LogFormat | None = None
        self.can_split = False
        self.end = 0
        self.size = 0
        self.damage: str | None = None
        self.damage_offset: int | None = None
        self._units = 0
        self._tail_units = 0
        self._step = UNITS_PER_CHECKPOINT
        self._max = max_checkpoints
        self._checkpoints = [Checkpoint(0, 0, 0)]

    @property
    def units(self) -> int:
        """How many units there are, the tail's included."""
        return self._units + self._tail_units

    def add(self, starts: Numbers, ends: Numbers, times: Numbers) -> None:
        """Add transactions that have ended, in the order of the log."""
        if not len(starts):
            return
        before = np.concatenate([np.array([self.end], dtype=np.int64), ends[:-1]])
        numbers = self._units + np.arange(len(starts)) + np.cumsum(starts > before)
        if self.can_split:
            self._add_checkpoints(numbers, starts, times)
        self._tail_units = 0
        self._units = int(numbers[-1]) + 1
        self.size = self.end = int(ends[-1])

    def add_tail(self, count: int, size: int) -> None:
        """Note how many units there are after the last transaction that has ended, up to a size of the log."""
        self._tail_units, self.size = count, size

    def range_of(self, first: int, count: int) -> LogRange:
        """Return what must be read for some units."""
        begin = bisect_right(self._checkpoints, first, key=lambda each: each.unit) - 1
        after = bisect_left(self._checkpoints, first + count, key=lambda each: each.unit)
        return self._range(begin, after)

    def range_at(self, offset: int, min_bytes: int = 0) -> LogRange:
        """Return the range that an offset is in; of at least so many bytes, if the log has them."""
        begin = bisect_right(self._checkpoints, offset, key=lambda each: each.offset) - 1
        end = self._checkpoints[begin].offset + max(1, min_bytes)
        return self._range(begin, bisect_left(self._checkpoints, end, key=lambda each: each.offset))

    def range_at_time(self, time: int) -> LogRange:
        """Return the first range in which a transaction may be that was committed at a time or later."""
        begin = max(0, bisect_left(self._checkpoints, time, key=lambda each: each.time) - 1)
        return self._range(begin, begin + 1)

    def next_range(self, after: LogRange, min_bytes: int = 0) -> LogRange | None:
        """Return the range that follows another one."""
        return None if after.is_tail else self.range_at(after.end, min_bytes)

    def _range(self, begin: int, after: int) -> LogRange:
        starts = self._checkpoints
        if after < len(starts):
            return LogRange(starts[begin], starts[after].offset, is_tail=False)
        return LogRange(starts[begin], self.size, is_tail=True)

    def _add_checkpoints(self, numbers: Numbers, starts: Numbers, times: Numbers) -> None:
        buckets = numbers // self._step
        last = self._checkpoints[-1]
        is_first = np.diff(buckets, prepend=last.unit // self._step) > 0
        for row in np.flatnonzero(is_first).tolist():
            # Times of transactions are not always in order. Those of checkpoints are: they are searched.
            time = max(last.time, int(times[row]))
            last = Checkpoint(int(numbers[row]), int(starts[row]), time)
            self._checkpoints.append(last)
        while len(self._checkpoints) > self._max:
            self._step *= 2
            self._checkpoints = self._checkpoints[:1] + self._checkpoints[2::2]
