"""The parallelism of transactions that are given as columns: what `transactions.parallelism` measures, only faster."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from binspark.columns.log_scan import Numbers
from binspark.kernels.list_layout import NULL
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.kernels.parallelism import Clock, Maximum, Moments, Steps, measure_clocks
from binspark.transactions.parallelism import HISTORY, DomainChain, Parallelism, is_optimistic

_FIRST_MOMENTS = 1 << 16


class BulkParallelism:
    """Measures the parallelism of the complete transactions of one file."""

    def __init__(self, history: int = HISTORY) -> None:
        self._clock = _LogicalClock(history)
        self._domains: dict[int, _Domain] = {}
        self._largest_group = 0
        self._optimistic = 0
        self._transactions = 0
        self._bytes = 0

    def add(self, rows: Numbers) -> None:
        """Take the next transactions of the log: the numbers of `TransactionNumber` of each."""
        self._transactions += rows.shape[1]
        self._bytes += int(rows[N.LENGTH].sum())
        in_domain = rows[N.DOMAIN] != NULL
        if not in_domain.any():
            self._clock.add(rows)
            return
        self._add_groups(rows[:, in_domain])
        self._clock.add(rows[:, ~in_domain])

    def result(self) -> Parallelism:
        """Return what was measured so far."""
        clock, domains = self._clock, self._domains.values()
        return Parallelism(
            transactions=self._transactions,
            critical_path=clock.depth + max((domain.steps for domain in domains), default=0),
            largest_group=max(clock.largest_group, self._largest_group),
            bytes=self._bytes,
            critical_path_bytes=clock.weight + max((domain.bytes for domain in domains), default=0),
            optimistic=self._optimistic,
        )

    def _add_groups(self, rows: Numbers) -> None:
        flags = np.where(rows[N.GTID_FLAGS] == NULL, 0, rows[N.GTID_FLAGS])
        self._optimistic += sum(map(is_optimistic, flags.tolist()))
        for number in sorted(set(rows[N.DOMAIN].tolist())):
            domain = self._domains.setdefault(number, _Domain())
            self._largest_group = max(self._largest_group, domain.add(rows[:, rows[N.DOMAIN] == number]))


class _LogicalClock:
    """The state of the kernel that measures transactions with sequence numbers."""

    def __init__(self, history: int) -> None:
        self._numbers = np.zeros(Clock.WIDTH, dtype=np.int64)
        self._numbers[Clock.HISTORY] = history
        self._steps: Numbers | None = None
        self._moments = np.empty((Moments.COUNT, _FIRST_MOMENTS), dtype=np.int64)

    def add(self, rows: Numbers) -> None:
        """Take transactions."""
        if self._steps is None:
            self._steps = np.empty((Steps.COUNT, 2 * int(self._numbers[Clock.HISTORY])), dtype=np.int64)
        last, sequence, size = (
            np.ascontiguousarray(rows[number]) for number in (N.LAST_COMMITTED, N.SEQUENCE_NUMBER, N.LENGTH)
        )
        done = measure_clocks(self._numbers, self._steps, self._moments, last, sequence, size, 0)
        while done < len(size):
            self._make_room()
            done = measure_clocks(self._numbers, self._steps, self._moments, last, sequence, size, done)

    @property
    def largest_group(self) -> int:
        """The most transactions that can run at the same time."""
        return int(self._numbers[Clock.LARGEST_GROUP])

    @property
    def depth(self) -> int:
        """The length of the longest chain."""
        return self._largest(Clock.DEPTH, Steps.DEPTH)

    @property
    def weight(self) -> int:
        """The bytes of the heaviest chain."""
        return self._largest(Clock.WEIGHT, Steps.WEIGHT)

    def _largest(self, maximum: Clock, row: Steps) -> int:
        count = int(self._numbers[maximum + Maximum.STEPS])
        if not count or self._steps is None:
            return int(self._numbers[maximum + Maximum.FLOOR])
        return int(self._steps[row + 1, count - 1])

    def _make_room(self) -> None:
        """Drop the moments that can no longer be the latest, and grow if many are left."""
        left = self._moments[:, : int(self._numbers[Clock.MOMENTS])]
        left = left[:, left[Moments.DROP] > 0]
        count, capacity = left.shape[1], self._moments.shape[1]
        left[Moments.BEFORE] = np.arange(count)
        self._moments = np.empty((Moments.COUNT, capacity * (2 if 2 * count > capacity else 1)), dtype=np.int64)
        self._moments[:, :count] = left
        self._numbers[Clock.MOMENTS] = count


class _Domain(DomainChain):
    """A chain that takes many transactions at once."""

    def add(self, rows: Numbers) -> int:
        """Take transactions; return how many the largest group has. A group may continue the last one."""
        ids, known, sizes = rows[N.COMMIT_ID], rows[N.HAS_COMMIT_ID] == 1, rows[N.LENGTH]
        begins = np.ones(len(ids), dtype=np.bool_)
        begins[1:] = ~(known[1:] & known[:-1] & (ids[1:] == ids[:-1]))
        begins[0] = not (self.members and known[0] and ids[0] == self.commit_id)
        self.steps += int(begins.sum())
        if begins[0]:
            self.members = self.largest_bytes = 0
        starts = _with_first(np.flatnonzero(begins))
        members = np.diff(starts, append=len(ids))
        largest = np.maximum.reduceat(sizes, starts)
        members[0] += self.members
        self.bytes -= self.largest_bytes
        largest[0] = max(int(largest[0]), self.largest_bytes)
        self.bytes += int(largest.sum())
        self.commit_id = int(ids[-1]) if known[-1] else None
        self.members, self.largest_bytes = int(members[-1]), int(largest[-1])
        return int(members.max())


def _with_first(starts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return starts if len(starts) and starts[0] == 0 else np.concatenate([np.zeros(1, dtype=np.intp), starts])
