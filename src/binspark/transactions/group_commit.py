"""MariaDB's parallelism, from its group commits, one transaction at a time."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.mariadb import MariadbGtidFlag
from binspark.transactions.parallelism import Parallelism

_OPTIMISTIC = MariadbGtidFlag.ALLOW_PARALLEL | MariadbGtidFlag.TRANSACTIONAL
_IN_TURN = MariadbGtidFlag.DDL | MariadbGtidFlag.WAITED


@dataclass(slots=True)
class _Domain:
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
        self._domains: dict[int, _Domain] = {}
        self._largest_group = 0
        self._transactions = 0
        self._bytes = 0
        self._optimistic = 0

    def add(self, domain_id: int, commit_id: int | None, flags: int, size: int) -> None:
        """Take the next transaction of the log."""
        self._transactions += 1
        self._bytes += size
        self._optimistic += flags & _OPTIMISTIC == _OPTIMISTIC and not flags & _IN_TURN
        domain = self._domains.setdefault(domain_id, _Domain())
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
