"""The logical clock of the new log: `last_committed` and `sequence_number` of its transactions."""

from __future__ import annotations

from bisect import bisect_right
from ctypes import addressof, c_int64
from dataclasses import replace

from binspark.event import GtidEvent, GtidTagged, MariadbGtidEvent
from binspark.kernels.cut.layout import KEPT_NUMBERS, Clock

GtidBody = GtidEvent | GtidTagged | MariadbGtidEvent


class LogicalClock:
    """Numbers the transactions of the new log, so that replicas apply in parallel what they could before.

    A transaction follows the last one that is kept of those that it had to follow. For a bounded number of the last
    transactions that is known exactly; before them, it follows the first of these. The numbers are in memory that
    `kernels.cut.transactions` uses, too.
    """

    def __init__(self) -> None:
        self._numbers = (c_int64 * (Clock.FIRST + KEPT_NUMBERS))()

    @property
    def address(self) -> int:
        """The address of the numbers, see `Clock`."""
        return addressof(self._numbers)

    def begin_file(self) -> None:
        """Begin another log: its numbers begin with 1 again, and nothing in it runs before what earlier logs have."""
        self._numbers[Clock.BEFORE_FILE] = self._numbers[Clock.LAST]
        self._numbers[Clock.KEPT] = 0

    def moved(self, body: GtidBody) -> GtidBody:
        """Return a GTID with its numbers in the new log."""
        if isinstance(body, MariadbGtidEvent) or body.sequence_number is None:
            return body
        parent = self._parent(body.last_committed or 0)
        numbers = self._numbers
        numbers[Clock.LAST] = number = numbers[Clock.LAST] + 1
        numbers[Clock.FIRST + number % KEPT_NUMBERS] = body.sequence_number
        numbers[Clock.KEPT] = min(numbers[Clock.KEPT] + 1, KEPT_NUMBERS)
        return replace(body, last_committed=parent, sequence_number=number)

    def undo(self, body: GtidBody) -> None:
        """Take back the last number."""
        if not isinstance(body, MariadbGtidEvent) and body.sequence_number is not None:
            self._numbers[Clock.LAST] -= 1
            self._numbers[Clock.KEPT] -= 1

    def _parent(self, old: int) -> int:
        kept = self._numbers[Clock.KEPT]
        first = self._numbers[Clock.LAST] - kept + 1
        if not kept or old < self._old(first):
            return first - 1 if kept == KEPT_NUMBERS else self._numbers[Clock.BEFORE_FILE]
        return first - 1 + bisect_right(range(first, first + kept), old, key=self._old)

    def _old(self, number: int) -> int:
        return self._numbers[Clock.FIRST + number % KEPT_NUMBERS]
