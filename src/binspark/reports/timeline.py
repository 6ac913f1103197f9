"""Counts over time, in bounded memory: intervals become longer as the range of times does."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

MAX_INTERVALS = 400
SECOND = 1_000_000
_SECONDS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 604800)
_WIDTHS = (1000, 5000, 10_000, 50_000, 100_000, 500_000, *(SECOND * seconds for seconds in _SECONDS))
"""Microseconds. Each is a multiple of the one before, so that intervals can be joined."""

Numbers = npt.NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)


class Timeline(Generic[Key]):
    """Sums of numbers by interval and key. Times are microseconds since 1970.

    width   the length of an interval; a second or more if no time has a fraction
    """

    def __init__(self, max_intervals: int = MAX_INTERVALS) -> None:
        self.width = _WIDTHS[0]
        self._max = max_intervals
        self._first: int | None = None
        self._has_fractions = False
        self._last = 0
        self._sums: dict[Key, dict[int, int]] = {}

    def add(self, key: Key, times: Numbers, amounts: Numbers) -> None:
        """Add amounts at times; 0 is not a time and is not counted."""
        known = times > 0
        if not known.all():
            times, amounts = times[known], amounts[known]
        if not len(times):
            return
        self._has_fractions = self._has_fractions or bool((times % SECOND).any())
        self._widen(int(times.min()), int(times.max()))
        sums = self._sums.setdefault(key, {})
        intervals, inverse = np.unique(times // self.width, return_inverse=True)
        for interval, amount in zip(intervals.tolist(), _sums(inverse, amounts), strict=True):
            sums[interval] = sums.get(interval, 0) + amount

    def finish(self) -> None:
        """Note that all times are known: where they have no fractions, intervals of less than a second say nothing."""
        while self.width < SECOND and not self._has_fractions:
            self._join()

    @property
    def keys(self) -> list[Key]:
        """The keys, those with the largest sums first."""
        return sorted(self._sums, key=lambda key: -sum(self._sums[key].values()))

    @property
    def times(self) -> list[int]:
        """When each interval begins, those without a number included."""
        if self._first is None:
            return []
        return [interval * self.width for interval in self._intervals()]

    def sums(self, key: Key) -> list[int]:
        """Return the numbers of a key, one for each interval."""
        found = self._sums.get(key, {})
        return [found.get(interval, 0) for interval in self._intervals()]

    def total(self, key: Key) -> int:
        """Return the sum over all intervals."""
        return sum(self._sums.get(key, {}).values())

    def _intervals(self) -> Iterator[int]:
        if self._first is not None:
            yield from range(self._first // self.width, self._last // self.width + 1)

    def _widen(self, first: int, last: int) -> None:
        """Take times into account: join intervals until there are not too many."""
        self._first = first if self._first is None else min(first, self._first)
        self._last = max(last, self._last)
        while self._last // self.width - self._first // self.width >= self._max:
            self._join()

    def _join(self) -> None:
        old = self.width
        self.width = next((width for width in _WIDTHS if width > old), 2 * old)
        for key, sums in self._sums.items():
            joined: dict[int, int] = {}
            for interval, amount in sums.items():
                wider = interval * old // self.width
                joined[wider] = joined.get(wider, 0) + amount
            self._sums[key] = joined


def _sums(groups: npt.NDArray[np.intp], amounts: Numbers) -> list[int]:
    """Return the sum of each group, exactly: weights of `bincount` would be floats."""
    totals = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    np.add.at(totals, groups, amounts)
    found: list[int] = totals.tolist()
    return found
