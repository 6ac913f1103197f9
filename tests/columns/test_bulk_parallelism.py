"""The parallelism of transactions in columns: the same as the reference measures, one transaction at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.columns import parallelism
from binspark.columns.parallelism import BulkParallelism
from binspark.kernels.list_layout import NULL
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.transactions.parallelism import GroupCommitMeter, LogicalClockMeter, Parallelism
from tests.support.examples import examples

Transaction = tuple[int | None, int | None, int | None, int | None, int, int]
"""domain_id, last_committed, sequence_number, commit_id, flags, size"""

_SIZES = st.integers(19, 500)


@st.composite
def clocks(draw: st.DrawFn) -> list[Transaction]:
    """Draw transactions of MySQL: sequence numbers mostly ascend, some restart, some are missing."""
    found: list[Transaction] = []
    sequence = 0
    for _ in range(draw(st.integers(0, 120))):
        sequence = draw(st.sampled_from([sequence + 1, sequence + 1, sequence + 1, sequence + 3, 1]))
        last = draw(st.integers(max(0, sequence - 12), sequence + 1))
        numbers = draw(st.sampled_from([(last, sequence)] * 12 + [(None, None), (last, 0)]))
        found.append((None, *numbers, None, 0, draw(_SIZES)))
    return found


_GROUPS = st.lists(
    st.tuples(st.integers(0, 2), st.none(), st.none(), st.sampled_from([None, 1, 2, 3]), st.integers(0, 255), _SIZES),
    max_size=80,
)


def reference(transactions: list[Transaction], history: int) -> Parallelism:
    clock, groups = LogicalClockMeter(history), GroupCommitMeter()
    for domain_id, last_committed, sequence_number, commit_id, flags, size in transactions:
        if domain_id is None:
            clock.add(last_committed, sequence_number, size)
        else:
            groups.add(domain_id, commit_id, flags, size)
    return clock.result().followed_by(groups.result())


def in_bulk(transactions: list[Transaction], history: int, at_a_time: int) -> Parallelism:
    meter = BulkParallelism(history)
    for start in range(0, len(transactions), at_a_time):
        some = transactions[start : start + at_a_time]
        rows = np.full((N.COUNT, len(some)), NULL, dtype=np.int64)
        for index, (domain_id, last_committed, sequence_number, commit_id, flags, size) in enumerate(some):
            numbers = {N.DOMAIN: domain_id, N.LAST_COMMITTED: last_committed, N.SEQUENCE_NUMBER: sequence_number}
            numbers |= {N.COMMIT_ID: commit_id, N.GTID_FLAGS: flags, N.LENGTH: size}
            for number, value in numbers.items():
                rows[number, index] = NULL if value is None else value
            rows[N.HAS_COMMIT_ID, index] = commit_id is not None
        meter.add(rows)
    return meter.result()


@settings(max_examples=examples(100), deadline=None)
@given(clocks(), st.sampled_from([1, 3, 1 << 20]), st.sampled_from([1, 7, 1000]))
def test_the_logical_clock_is_measured_alike(transactions: list[Transaction], history: int, at_a_time: int) -> None:
    assert in_bulk(transactions, history, at_a_time) == reference(transactions, history)


@settings(max_examples=examples(100), deadline=None)
@given(_GROUPS, st.sampled_from([1, 5, 1000]))
def test_group_commits_are_measured_alike(transactions: list[Transaction], at_a_time: int) -> None:
    assert in_bulk(transactions, 8, at_a_time) == reference(transactions, 8)


def test_both_kinds_of_transactions_in_one_log_are_measured_alike() -> None:
    transactions: list[Transaction] = [(None, 0, 1, None, 0, 50), (1, None, None, 7, 12, 60), (None, 1, 2, None, 0, 70)]
    assert in_bulk(transactions, 8, 2) == reference(transactions, 8)


@pytest.mark.parametrize("waits_for", [0, 3])
def test_moments_that_cannot_win_are_forgotten(monkeypatch: pytest.MonkeyPatch, waits_for: int) -> None:
    monkeypatch.setattr(parallelism, "_FIRST_MOMENTS", 4)
    transactions: list[Transaction] = [
        (None, max(0, number - waits_for) if waits_for else 0, number, None, 0, 20) for number in range(1, 200)
    ]
    assert in_bulk(transactions, 1 << 20, 50) == reference(transactions, 1 << 20)
