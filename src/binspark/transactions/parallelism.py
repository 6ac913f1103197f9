"""How much of a log a replica could apply at the same time.

MySQL gives every transaction two numbers, which restart in each file. `sequence_number` counts the transactions;
`last_committed` says that a transaction may begin when all up to that sequence number are done. An example, written
as name(last_committed, sequence_number):

    A(0, 1)   waits for nothing
    B(1, 2)   waits for A
    C(1, 3)   waits for A: B and C may run together
    D(3, 4)   waits for A, B and C

    step 1   A
    step 2   B C
    step 3   D

The longest chain, A C D, has 3 transactions: a replica with enough workers needs 3 steps for 4
transactions, and its average parallelism is 4 / 3. At most 2 run together.

MariaDB numbers its group commits instead: transactions with the same `commit_id` committed together, so they may run
together, and wait for the group before them. Groups of different domains do not wait for each other.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from binspark.event.mariadb import MariadbGtidFlag
from binspark.transactions.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How parallel a log is, for a replica with enough workers.

    transactions         number of transactions
    critical_path        length of the longest chain of transactions that must run one after the other
    largest_group        most transactions that can run at the same time
    bytes                bytes of all transactions
    critical_path_bytes  bytes of the heaviest chain: the time it takes if time is proportional to bytes
    optimistic           MariaDB: transactions that a replica in optimistic mode may try before their turn
    """

    transactions: int = 0
    critical_path: int = 0
    largest_group: int = 0
    bytes: int = 0
    critical_path_bytes: int = 0
    optimistic: int = 0

    @property
    def average(self) -> float:
        """Transactions for each step of the longest chain: 1 for a log that is serial, 0 for an empty one."""
        return self.transactions / self.critical_path if self.critical_path else 0.0

    @property
    def average_by_bytes(self) -> float:
        """The same with transactions that take as long as they are large."""
        return self.bytes / self.critical_path_bytes if self.critical_path_bytes else 0.0

    def followed_by(self, later: Parallelism) -> Parallelism:
        """Return the parallelism of this log and then a later one: sequence numbers do not reach over files."""
        return Parallelism(
            transactions=self.transactions + later.transactions,
            critical_path=self.critical_path + later.critical_path,
            largest_group=max(self.largest_group, later.largest_group),
            bytes=self.bytes + later.bytes,
            critical_path_bytes=self.critical_path_bytes + later.critical_path_bytes,
            optimistic=self.optimistic + later.optimistic,
        )


HISTORY = 1 << 20
"""How far back dependencies are followed exactly, in steps of the chain. No server remembers more rows than this
(`binlog_transaction_dependency_history_size` ends at a million), so none writes an older last_committed in a chain."""


class LogicalClockMeter:
    """Measures the parallelism of one file's transactions; the module describes how.

    A transaction without a sequence number runs alone, as on a replica. When sequence numbers restart, as in a relay
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

    Of more than twice `history` steps the oldest are forgotten; a number from before them is answered with the
    last value that was forgotten, which is never too small.
    """

    def __init__(self, floor: int, history: int = HISTORY) -> None:
        self._floor = floor
        self._history = history
        self._numbers = array("Q")
        self._values = array("Q")

    @property
    def maximum(self) -> int:
        """The largest value so far."""
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


_OPTIMISTIC = MariadbGtidFlag.ALLOW_PARALLEL | MariadbGtidFlag.TRANSACTIONAL
_IN_TURN = MariadbGtidFlag.DDL | MariadbGtidFlag.WAITED


def is_optimistic(flags: int) -> bool:
    """Return whether a replica in optimistic mode may try a transaction of MariaDB before its turn."""
    return flags & _OPTIMISTIC == _OPTIMISTIC and not flags & _IN_TURN


@dataclass(slots=True)
class DomainChain:
    """The chain of groups of one domain: the last group's id and members, the steps and bytes so far."""

    commit_id: int | None = None
    members: int = 0
    largest_bytes: int = 0
    steps: int = 0
    bytes: int = 0


class GroupCommitMeter:
    """Measures the parallelism of one file's transactions for a replica in conservative mode.

    Transactions of a domain that follow each other with the same commit id are a group and run together; a group takes
    as long as its largest transaction, and waits for the group before. Domains run beside each other.
    """

    def __init__(self) -> None:
        self._domains: dict[int, DomainChain] = {}
        self._largest_group = 0
        self._transactions = 0
        self._bytes = 0
        self._optimistic = 0

    def add(self, domain_id: int, commit_id: int | None, flags: int, size: int) -> None:
        """Take the next transaction of the log."""
        self._transactions += 1
        self._bytes += size
        self._optimistic += is_optimistic(flags)
        domain = self._domains.setdefault(domain_id, DomainChain())
        if domain.members == 0 or commit_id is None or commit_id != domain.commit_id:
            domain.commit_id, domain.members, domain.largest_bytes = commit_id, 0, 0
            domain.steps += 1
        domain.members += 1
        domain.bytes += max(0, size - domain.largest_bytes)
        domain.largest_bytes = max(size, domain.largest_bytes)
        self._largest_group = max(self._largest_group, domain.members)

    def result(self) -> Parallelism:
        """Return what was measured so far."""
        domains = self._domains.values()
        return Parallelism(
            transactions=self._transactions,
            critical_path=max((domain.steps for domain in domains), default=0),
            largest_group=self._largest_group,
            bytes=self._bytes,
            critical_path_bytes=max((domain.bytes for domain in domains), default=0),
            optimistic=self._optimistic,
        )


class ParallelismMeter:
    """Measures the parallelism of the transactions of one file; those that the log cuts short do not count."""

    def __init__(self) -> None:
        self._clock = LogicalClockMeter()
        self._groups = GroupCommitMeter()

    def add(self, transaction: Transaction) -> None:
        """Take the next transaction of the log."""
        if not transaction.complete:
            return
        self.measure(
            transaction.domain_id,
            transaction.last_committed,
            transaction.sequence_number,
            transaction.commit_id,
            transaction.gtid_flags or 0,
            transaction.length,
        )

    def measure(
        self,
        domain_id: int | None,
        last_committed: int | None,
        sequence_number: int | None,
        commit_id: int | None,
        flags: int,
        size: int,
    ) -> None:
        """Take a complete transaction, given by its numbers."""
        if domain_id is None:
            self._clock.add(last_committed, sequence_number, size)
        else:
            self._groups.add(domain_id, commit_id, flags, size)

    def result(self) -> Parallelism:
        """Return what was measured so far."""
        return self._clock.result().followed_by(self._groups.result())


class Clock(NamedTuple):
    """The two numbers that say what a transaction waits for."""

    last_committed: int
    sequence_number: int


def overlapping_groups(clocks: Iterable[tuple[int, int]]) -> Iterator[tuple[Clock, ...]]:
    """Yield every largest set of transactions of one file that may all run at the same time, in the order of the log.

    They are given as (last_committed, sequence_number), and kept in memory. A group is what can be in progress when a
    transaction begins: those that wait for no more than it does, and need not be done before it.

    >>> [[clock.sequence_number for clock in group] for group in overlapping_groups([(0, 1), (1, 2), (1, 3), (3, 4)])]
    [[1], [2, 3], [4]]
    """
    running: list[Clock] = []
    for clock in sorted(Clock(*clock) for clock in clocks):
        continuing = [other for other in running if other.sequence_number > clock.last_committed]
        if len(continuing) < len(running):
            yield _in_order(running)
        running = [*continuing, clock]
    if running:
        yield _in_order(running)


def _in_order(clocks: list[Clock]) -> tuple[Clock, ...]:
    return tuple(sorted(clocks, key=lambda clock: clock.sequence_number))
