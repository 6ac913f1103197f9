"""Sets of positive numbers as runs: sorted pairs (start, stop), `stop` exclusive, a gap between each two.

The form is unique, so equal sets are equal tuples. Every operation is one pass over both operands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

Run = tuple[int, int]
Runs = tuple[Run, ...]

_BEYOND = 1 << 64


def join(runs: Iterable[Run]) -> Runs:
    """Bring runs in any order, overlapping or adjacent, into the unique form."""
    joined: list[Run] = []
    start, stop = 0, -1
    for next_start, next_stop in sorted(runs):
        if next_start > stop:
            if start:
                joined.append((start, stop))
            start, stop = next_start, next_stop
        elif next_stop > stop:
            stop = next_stop
    if start:
        joined.append((start, stop))
    return tuple(joined)


def unite(left: Runs, right: Runs) -> Runs:
    """Return the numbers in either."""
    return join(left + right)  # sorting two sorted halves is one merge


def intersect(left: Runs, right: Runs) -> Runs:
    """Return the numbers in both."""
    common: list[Run] = []
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


def subtract(left: Runs, right: Runs) -> Runs:
    """Return the numbers in `left` that are not in `right`."""
    rest: list[Run] = []
    others = iter(right)
    other_start, other_stop = next(others, (_BEYOND, _BEYOND))
    for run_start, stop in left:
        start = run_start
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


def covers(outer: Runs, inner: Runs) -> bool:
    """Say whether every number of `inner` is in `outer`."""
    return all(stop <= _stop_of_run_at(outer, start) for start, stop in inner)


def first_free(runs: Runs) -> int:
    """Return the smallest positive number that is not there."""
    return runs[0][1] if runs and runs[0][0] == 1 else 1


def count(runs: Runs) -> int:
    """Return how many numbers there are."""
    return sum(stop - start for start, stop in runs)


def _stop_of_run_at(runs: Runs, number: int) -> int:
    """Return where the run that holds a number stops; 0 when none holds it."""
    index = bisect_right(runs, (number, _BEYOND)) - 1
    if index < 0 or runs[index][1] <= number:
        return 0
    return runs[index][1]
