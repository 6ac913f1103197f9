"""The parallelism of a log of either family."""

from __future__ import annotations

from binspark.transactions.group_commit import GroupCommitMeter
from binspark.transactions.logical_clock import LogicalClockMeter
from binspark.transactions.parallelism import Parallelism
from binspark.transactions.transaction import Transaction


class ParallelismMeter:
    """Measures the parallelism of the transactions of one file; those that the log cuts short do not count."""

    def __init__(self) -> None:
        self._clock = LogicalClockMeter()
        self._groups = GroupCommitMeter()

    def add(self, transaction: Transaction) -> None:
        """Take the next transaction of the log."""
        if not transaction.complete:
            return
        size = transaction.length
        if transaction.domain_id is None:
            self._clock.add(transaction.last_committed, transaction.sequence_number, size)
        else:
            self._groups.add(transaction.domain_id, transaction.commit_id, transaction.gtid_flags or 0, size)

    def result(self) -> Parallelism:
        """Return what was measured so far."""
        return self._clock.result().followed_by(self._groups.result())
