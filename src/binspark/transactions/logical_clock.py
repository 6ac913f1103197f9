"""MySQL's parallelism, from last_committed and sequence_number, one transaction at a time."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from binspark.transactions.parallelism import Parallelism

HISTORY = 1 << 20
"""How far back dependencies are followed exactly, in steps of the chain. No server remembers more rows than this
(`binlog_transaction_dependency_history_size` ends at a million), so none writes an older last_committed in a chain."""


class LogicalClockMeter:
    """Measures the parallelism of one file's transactions; see `binspark.transactions.parallelism`.

    A transaction without a sequence number runs alone, as on a replica. When sequence numbers begin anew, as in a relay
    log where the source's next file begins, everything before is done first.
    """

    def __init__(self, history: int = HISTORY) -> None:
        self._history = history
        self._depths = RunningMaximum(0, history)
        self._weights = RunningMaximum(0, history)
        self._overlaps = OverlapCounter()
        self._largest_group = 0
        self._last_sequence = 0
        self._transactions = 0
        self._bytes = 0

    def add(self, last_committed: int | None, sequence_number: int | None, size: int) -> None:
        """Take the next transaction of the log."""
        self._transactions += 1
        self._bytes += size
        if last_committed is None or sequence_number is None or sequence_number <= 0:
            self._wait_for_all()
            self._place(0, 1, size)
            self._wait_for_all()
            return
        if sequence_number <= self._last_sequence:
            self._wait_for_all()
        self._place(max(0, min(last_committed, sequence_number - 1)), sequence_number, size)

    def result(self) -> Parallelism:
        """Return what was measured so far."""
        return Parallelism(
            transactions=self._transactions,
            critical_path=self._depths.maximum,
            largest_group=self._largest_group,
            bytes=self._bytes,
            critical_path_bytes=self._weights.maximum,
        )

    def _place(self, last_committed: int, sequence_number: int, size: int) -> None:
        self._depths.add(sequence_number, self._depths.up_to(last_committed) + 1)
        self._weights.add(sequence_number, self._weights.up_to(last_committed) + size)
        self._overlaps.add(last_committed, sequence_number)
        self._largest_group = max(self._largest_group, self._overlaps.largest)
        self._last_sequence = sequence_number

    def _wait_for_all(self) -> None:
        self._depths = RunningMaximum(self._depths.maximum, self._history)
        self._weights = RunningMaximum(self._weights.maximum, self._history)
        self._overlaps = OverlapCounter()
        self._last_sequence = 0


class RunningMaximum:
    """The largest value of all up to a sequence number, for any number: a staircase that keeps only its steps.

    Of more than twice `history` steps the oldest are forgotten; what is asked from before them is answered with the
    last value that was forgotten, which is never too small.
    """

    def __init__(self, floor: int, history: int = HISTORY) -> None:
        self._floor = floor
        self._history = history
        self._numbers = array("Q")
        self._values = array("Q")

    @property
    def maximum(self) -> int:
        return self._values[-1] if self._values else self._floor

    def add(self, number: int, value: int) -> None:
        """Add the value of a number that is larger than all before."""
        if value <= self.maximum:
            return
        self._numbers.append(number)
        self._values.append(value)
        if len(self._values) > 2 * self._history:
            self._floor = self._values[-self._history - 1]
            del self._numbers[: -self._history], self._values[: -self._history]

    def up_to(self, number: int) -> int:
        """Return the largest value of all up to a number."""
        step = bisect_right(self._numbers, number)
        return self._values[step - 1] if step else self._floor


class OverlapCounter:
    """The most transactions that may run at the same time.

    A transaction may run from when `last_committed` is done until it is done itself: the moments (last_committed,
    sequence_number]. At a moment all transactions around it may run at once. A new transaction covers the latest
    moments back to its own last_committed, so of two moments with the same count only the later can still win. The
    moments that are kept have ever smaller counts: they are never more than the largest count.
    """

    def __init__(self) -> None:
        self.largest = 0
        self._moments: list[int] = []
        self._drops: list[int] = []  # by how much the count falls from each moment to the next; the last to 0

    def add(self, last_committed: int, sequence_number: int) -> None:
        """Add a transaction with a larger sequence number than all before, and a smaller last_committed."""
        first_covered = bisect_right(self._moments, last_committed)
        self._moments.append(sequence_number)
        self._drops.append(1)
        if first_covered == 0:
            self.largest += 1
            return
        before = first_covered - 1
        self._drops[before] -= 1
        if self._drops[before] == 0:
            del self._moments[before], self._drops[before]
