"""What a dump remembers of the transactions and statements that it printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Progress:
    """How far the current transaction and statement are.

    in_transaction           whether a BEGIN was printed and no end of its transaction
    seen_gtid                whether a GTID was printed and no end of its transaction
    skipped_in_transaction   whether an event of the transaction was left out
    unfinished_statement     whether rows or table maps were printed and not the last rows of their statement
    """

    in_transaction: bool = False
    seen_gtid: bool = False
    skipped_in_transaction: bool = False
    unfinished_statement: bool = False

    def end_transaction(self) -> None:
        """Note that a transaction has ended."""
        self.in_transaction = self.seen_gtid = self.skipped_in_transaction = False
