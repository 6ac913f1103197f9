"""How parallel a log is, computed slowly and plainly: what the meters must agree with."""

from __future__ import annotations

from binspark.transactions import Parallelism

Clocks = list[tuple[int, int, int]]
"""Transactions as (last_committed, sequence_number, size)."""


def model(transactions: Clocks) -> Parallelism:
    """Run every transaction as soon as all that it waits for are done, and look at every moment."""
    steps: dict[int, int] = {}
    times: dict[int, int] = {}
    for last_committed, sequence, size in transactions:
        steps[sequence] = 1 + max((steps[other] for other in steps if other <= last_committed), default=0)
        times[sequence] = size + max((times[other] for other in times if other <= last_committed), default=0)
    moments = [sequence for _, sequence, _ in transactions]
    together = [sum(last < moment <= sequence for last, sequence, _ in transactions) for moment in moments]
    return Parallelism(
        transactions=len(transactions),
        critical_path=max(steps.values(), default=0),
        largest_group=max(together, default=0),
        bytes=sum(size for _, _, size in transactions),
        critical_path_bytes=max(times.values(), default=0),
    )
