"""How long transactions took: from the earliest time of their events to the latest, in seconds.

A GTID event opens a transaction, and has the time at which it was committed. The events after it have the times at
which their statements began, so the difference is how long the transaction was open, at least. Logs without GTID events
do not say where a transaction begins in a way that events alone show, and have no durations.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from binspark.columns.log_scan import Numbers
from binspark.frames.codes import EventCode
from binspark.kernels.list_layout import EventNumber as E

MAX_LONGEST = 10
_OPENING = np.array(
    [EventCode.GTID, EventCode.ANONYMOUS_GTID, EventCode.GTID_TAGGED, EventCode.MARIADB_GTID], dtype=np.int64
)
_CLOSING = np.array([EventCode.ROTATE, EventCode.STOP], dtype=np.int64)
_POWERS = 32


class Durations:
    """Measures the transactions of one log after the other.

    histogram   how many transactions took 0 seconds, 1, 2 to 3, 4 to 7, …: powers of two
    """

    def __init__(self) -> None:
        self.histogram: npt.NDArray[np.int64] = np.zeros(_POWERS, dtype=np.int64)
        self._longest: list[tuple[int, int]] = []
        self._start: int | None = None
        self._first = self._last = 0

    def add(self, numbers: Numbers) -> None:
        """Take listed events of a log, in their order."""
        codes = numbers[E.TYPE]
        marks = np.flatnonzero(np.isin(codes, _OPENING) | np.isin(codes, _CLOSING))
        times = numbers[E.TIMESTAMP]
        head = int(marks[0]) if len(marks) else len(codes)
        self._extend(times[:head])
        if not len(marks):
            return
        self._close()
        is_opening = np.isin(codes[marks], _OPENING)
        lows = np.minimum.reduceat(times, marks)
        highs = np.maximum.reduceat(times, marks)
        self._count(numbers[E.OFFSET][marks[:-1]], (highs - lows)[:-1], is_opening[:-1])
        if is_opening[-1]:
            self._start = int(numbers[E.OFFSET][marks[-1]])
            self._first, self._last = int(lows[-1]), int(highs[-1])

    def end_file(self) -> dict[int, int]:
        """Note that a file is complete; return the seconds of its longest transactions, by their offsets."""
        self._close()
        longest = {offset: seconds for seconds, offset in self._longest if seconds}
        self._longest = []
        return longest

    def _extend(self, times: npt.NDArray[np.int64]) -> None:
        if self._start is not None and len(times):
            self._first = min(self._first, int(times.min()))
            self._last = max(self._last, int(times.max()))

    def _close(self) -> None:
        if self._start is not None:
            seconds = np.array([self._last - self._first], dtype=np.int64)
            self._count(np.array([self._start], dtype=np.int64), seconds, np.ones(1, dtype=np.bool_))
        self._start = None

    def _count(self, offsets: Numbers, seconds: Numbers, wanted: npt.NDArray[np.bool_]) -> None:
        offsets, seconds = offsets[wanted], seconds[wanted]
        if not len(seconds):
            return
        powers = np.ceil(np.log2(seconds + 1)).astype(np.int64)
        self.histogram += np.bincount(np.minimum(powers, _POWERS - 1), minlength=_POWERS)
        some = np.argsort(-seconds, kind="stable")[:MAX_LONGEST]
        found = [(int(seconds[number]), int(offsets[number])) for number in some]
        self._longest = heapq.nlargest(MAX_LONGEST, [*self._longest, *found])
