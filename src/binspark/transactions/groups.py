"""Which transactions of a MySQL log may run together, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Clock(NamedTuple):
    """The two numbers that tell what a transaction waits for."""

    last_committed: int
    sequence_number: int


def overlapping_groups(clocks: Iterable[tuple[int, int]]) -> Iterator[tuple[Clock, ...]]:
    """Yield every largest set of transactions of one file that may all run at the same time, in the order of the log.

    They are given as (last_committed, sequence_number), and held in memory. A group is what can be under way when a
    transaction begins: those that wait for no more than it does, and need not be done before it.

    >>> [[clock.sequence_number for clock in group] for group in overlapping_groups([(0, 1), (1, 2), (1, 3), (3, 4)])]
    [[1], [2, 3], [4]]
    """
    running: list[Clock] = []
    for clock in sorted(Clock(*clock) for clock in clocks):
        going_on = [other for other in running if other.sequence_number > clock.last_committed]
        if len(going_on) < len(running):
            yield _in_order(running)
        running = [*going_on, clock]
    if running:
        yield _in_order(running)


def _in_order(clocks: list[Clock]) -> tuple[Clock, ...]:
    return tuple(sorted(clocks, key=lambda clock: clock.sequence_number))
