"""Sets of positive numbers as intervals: sorted pairs (start, stop), `stop` exclusive, a gap between each two.

The form is unique, so equal sets are equal tuples. Every operation is one pass over both operands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

Interval = tuple[int, int]
Intervals = tuple[Interval, ...]

_BEYOND = 1 << 64


def join(intervals: Iterable[Interval]) -> Intervals:
    """Return the unique form of intervals that may be in any order, overlapping or adjacent."""
    joined: list[Interval] = []
    start, stop = 0, -1
    for next_start, next_stop in sorted(intervals):
        if next_start > stop:
            if start:
                joined.append((start, stop))
            start, stop = next_start, next_stop
        elif next_stop > stop:
            stop = next_stop
    if start:
        joined.append((start, stop))
    return tuple(joined)


def unite(left: Intervals, right: Intervals) -> Intervals:
    """Return the numbers in either."""
    return join(left + right)  # sorting two sorted halves is one merge


def intersect(left: Intervals, right: Intervals) -> Intervals:
    """Return the numbers in both."""
    common: list[Interval] = []
    others = iter(right)
    other_start, other_stop = next(others, (_BEYOND, _BEYOND))
    for start, stop in left:
        while other_stop <= start:
            other_start, other_stop = next(others, (_BEYOND, _BEYOND))
        while other_start < stop:
            common.append((max(start, other_start), min(stop, other_stop)))
            if other_stop > stop:
                break
            other_start, other_stop = next(others, (_BEYOND, _BEYOND))
    return tuple(common)


def subtract(left: Intervals, right: Intervals) -> Intervals:
    """Return the numbers in `left` that are not in `right`."""
    rest: list[Interval] = []
    others = iter(right)
    other_start, other_stop = next(others, (_BEYOND, _BEYOND))
    for first, stop in left:
        start = first
        while other_stop <= start:
            other_start, other_stop = next(others, (_BEYOND, _BEYOND))
        while other_start < stop:
            if start < other_start:
                rest.append((start, other_start))
            start = other_stop
            if other_stop >= stop:
                break
            other_start, other_stop = next(others, (_BEYOND, _BEYOND))
        if start < stop:
            rest.append((start, stop))
    return tuple(rest)


def covers(outer: Intervals, inner: Intervals) -> bool:
    """Return whether every number of `inner` is in `outer`."""
    return all(stop <= _stop_of_interval_at(outer, start) for start, stop in inner)


def first_free(intervals: Intervals) -> int:
    """Return the smallest positive number that is not in the set."""
    return intervals[0][1] if intervals and intervals[0][0] == 1 else 1


def count(intervals: Intervals) -> int:
    """Return how many numbers are in the set."""
    return sum(stop - start for start, stop in intervals)


def _stop_of_interval_at(intervals: Intervals, number: int) -> int:
    """Return the stop of the interval that contains a number; 0 if there is none."""
    index = bisect_right(intervals, (number, _BEYOND)) - 1
    if index < 0 or intervals[index][1] <= number:
        return 0
    return intervals[index][1]
