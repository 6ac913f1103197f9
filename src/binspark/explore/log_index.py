"""Where the units of a log are: transactions, and the bytes between them. Units have all bytes of a log, each once.

Only some positions are kept, checkpoints; the units between two of them are read again when somebody looks at them. So
the memory that an index needs is bounded, whatever the log contains.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from binspark.columns.log_scan import Numbers
from binspark.files.damage import Damage
from binspark.frames import LogFormat

UNITS_PER_CHECKPOINT = 128
MAX_CHECKPOINTS = 1 << 14
MAX_DAMAGES = 256


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a unit begins. Reading can begin there.

    time     when its transaction was committed, in microseconds since 1970; 0 for the beginning of a log
    is_kept  whether it is never dropped: it is where reading continues after damage
    """

    unit: int
    offset: int
    time: int
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class LogRange:
    """A part of a log that is read as one: from a checkpoint to another, to the end of damage, or to the end.

    damage    what is at its end, if that cannot be read
    is_last   whether the log ended there when it was read
    """

    start: Checkpoint
    end: int
    damage: Damage | None
    is_last: bool

    @property
    def sound_end(self) -> int:
        """The offset up to which it can be read."""
        return self.end if self.damage is None else self.damage.start

    @property
    def bounds(self) -> tuple[int, int]:
        """The offsets between which it is read."""
        return self.start.offset, self.sound_end

    @property
    def has_tail(self) -> bool:
        """Whether a transaction in progress at its end is a unit."""
        return self.is_last or self.damage is not None


class LogIndex:
    """The units of one log, as far as it was read.

    end          the offset after the last transaction that has ended, or after damage
    size         how much of the log was read, and is in units
    tail_damage  what cannot be read at the end of the log; it may only be incomplete
    """

    def __init__(self, max_checkpoints: int = MAX_CHECKPOINTS) -> None:
        self.format: LogFormat | None = None
        self.can_split = False
        self.end = 0
        self.size = 0
        self.tail_damage: Damage | None = None
        self._units = 0
        self._tail_units = 0
        self._step = UNITS_PER_CHECKPOINT
        self._max = max_checkpoints
        self._checkpoints = [Checkpoint(0, 0, 0)]
        self._damages: list[Damage] = []

    @property
    def units(self) -> int:
        """How many units there are, the tail's included."""
        return self._units + self._tail_units

    @property
    def damages(self) -> list[Damage]:
        """What cannot be read, in the order of the log."""
        return [*self._damages, *([] if self.tail_damage is None else [self.tail_damage])]

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

    def add_tail(self, size: int, damage: Damage | None = None) -> LogRange:
        """Note how much of the log there is, and what cannot be read at its end; return the range at its end.

        The units in it must be counted (`count_tail`).
        """
        self._tail_units, self.size, self.tail_damage = 1, size, damage
        return self.range_at(size)

    def count_tail(self, part: LogRange, units: int) -> None:
        """Note how many units there are in the range at the end."""
        self._tail_units = part.start.unit + units - self._units

    def continue_after_damage(self) -> None:
        """Keep the tail, which ends with damage: reading continues after it."""
        assert self.tail_damage is not None
        self._damages.append(self.tail_damage)
        self._units += self._tail_units
        self._tail_units, self.end, self.tail_damage = 0, self.size, None
        self._checkpoints.append(Checkpoint(self._units, self.end, self._checkpoints[-1].time, is_kept=True))

    def range_of(self, first: int, count: int) -> LogRange:
        """Return what must be read for some units."""
        begin = bisect_right(self._checkpoints, first, key=lambda each: each.unit) - 1
        after = bisect_left(self._checkpoints, first + count, key=lambda each: each.unit)
        return self._range(begin, after)

    def range_at(self, offset: int, min_bytes: int = 0) -> LogRange:
        """Return the range that an offset is in; of at least `min_bytes`, if the log has them."""
        begin = bisect_right(self._checkpoints, offset, key=lambda each: each.offset) - 1
        end = self._checkpoints[begin].offset + max(1, min_bytes)
        return self._range(begin, bisect_left(self._checkpoints, end, key=lambda each: each.offset))

    def range_at_time(self, time: int) -> LogRange:
        """Return the first range in which a transaction may be that was committed at a time or later."""
        begin = max(0, bisect_left(self._checkpoints, time, key=lambda each: each.time) - 1)
        return self._range(begin, begin + 1)

    def next_range(self, after: LogRange, min_bytes: int = 0) -> LogRange | None:
        """Return the range that follows another one."""
        return None if after.is_last else self.range_at(after.end, min_bytes)

    def _range(self, begin: int, after: int) -> LogRange:
        starts = self._checkpoints
        start = starts[begin]
        following = bisect_right(self._damages, start.offset, key=lambda each: each.end)
        end = self.size if after >= len(starts) else starts[after].offset
        if following < len(self._damages) and self._damages[following].end <= end:
            damage = self._damages[following]
            return LogRange(start, damage.end, damage, is_last=False)
        if after < len(starts):
            return LogRange(start, end, None, is_last=False)
        return LogRange(start, end, self.tail_damage, is_last=True)

    def _add_checkpoints(self, numbers: Numbers, starts: Numbers, times: Numbers) -> None:
        buckets = numbers // self._step
        last = self._checkpoints[-1]
        is_first = np.diff(buckets, prepend=last.unit // self._step) > 0
        for row in np.flatnonzero(is_first).tolist():
            # Times of transactions are not always in order. Those of checkpoints are: they are searched.
            time = max(last.time, int(times[row]))
            last = Checkpoint(int(numbers[row]), int(starts[row]), time)
            self._checkpoints.append(last)
        while len(self._checkpoints) > self._max + len(self._damages):
            self._step *= 2
            self._checkpoints = [
                each for number, each in enumerate(self._checkpoints) if number % 2 == 0 or each.is_kept
            ]
