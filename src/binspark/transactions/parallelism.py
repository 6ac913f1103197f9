"""How much of a log a replica could apply at the same time.

MySQL gives every transaction two numbers, which begin anew in each file. `sequence_number` counts the transactions;
`last_committed` says that a transaction may begin when all up to that sequence number are done. An example, written
as name(last_committed, sequence_number):

    A(0, 1)   waits for nothing
    B(1, 2)   waits for A
    C(1, 3)   waits for A: B and C may run together
    D(3, 4)   waits for A, B and C

    step 1   A
    step 2   B C
    step 3   D

The longest chain, A C D, has 3 transactions: with as many workers as it likes a replica needs 3 steps for 4
transactions, and its average parallelism is 4 / 3. At most 2 run together.

MariaDB numbers its group commits instead: transactions with the same `commit_id` committed together, so they may run
together, and wait for the group before them. Groups of different domains do not wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How parallel a log is, for a replica with as many workers as it likes.

    transactions         number of transactions
    critical_path        length of the longest chain of transactions that must run one after the other
    largest_group        most transactions that can run at the same time
    bytes                bytes of all transactions
    critical_path_bytes  bytes of the heaviest chain: the time it takes if time goes with bytes
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
