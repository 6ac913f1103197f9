"""Events into transactions: where they begin and end, what they change, and which of them could run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.transactions.assembler import Assembler, transactions
    from binspark.transactions.grammar import Ending
    from binspark.transactions.parallelism import Parallelism, ParallelismMeter, overlapping_groups
    from binspark.transactions.transaction import TableChanges, Transaction

__all__ = [
    "Assembler",
    "Ending",
    "Parallelism",
    "ParallelismMeter",
    "TableChanges",
    "Transaction",
    "overlapping_groups",
    "transactions",
]

__getattr__ = names_in(
    __name__,
    {
        "assembler": "Assembler transactions",
        "grammar": "Ending",
        "parallelism": "Parallelism ParallelismMeter overlapping_groups",
        "transaction": "TableChanges Transaction",
    },
)
