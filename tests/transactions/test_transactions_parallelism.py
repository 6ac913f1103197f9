"""How parallel a log is: the worked example, and a model that tries every moment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.event.mariadb import MariadbGtidFlag
from binspark.transactions import Parallelism, ParallelismMeter, overlapping_groups
from binspark.transactions.parallelism import GroupCommitMeter, LogicalClockMeter, OverlapCounter, RunningMaximum
from tests.support.transactions.parallelism_model import Clocks, model
from tests.support.transactions.transaction_events import Tape, assembled

EXAMPLE = [(0, 1), (1, 2), (1, 3), (3, 4)]


@st.composite
def clocks(draw: st.DrawFn) -> Clocks:
    """Transactions as (last_committed, sequence_number, size), with sequence numbers that may skip some."""
    found: Clocks = []
    sequence = 0
    for step, size in draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 500)), max_size=40)):
        sequence += step
        found.append((draw(st.integers(0, sequence - 1)), sequence, size))
    return found


def measured(transactions: Clocks, history: int = 1000) -> Parallelism:
    meter = LogicalClockMeter(history)
    for transaction in transactions:
        meter.add(*transaction)
    return meter.result()


def test_the_worked_example_has_three_steps_and_two_together() -> None:
    result = measured([(last_committed, sequence, 100) for last_committed, sequence in EXAMPLE])
    assert result == Parallelism(4, 3, 2, 400, 300)
    assert result.average == pytest.approx(4 / 3)
    assert result.average_by_bytes == pytest.approx(4 / 3)


def test_the_worked_example_in_groups_has_b_and_c_together() -> None:
    groups = [[clock.sequence_number for clock in group] for group in overlapping_groups(EXAMPLE)]
    assert groups == [[1], [2, 3], [4]]


def test_a_large_transaction_weighs_more_by_bytes() -> None:
    result = measured([(0, 1, 1000), (0, 2, 10), (2, 3, 10)])
    assert (result.critical_path, result.critical_path_bytes) == (2, 1010)


def test_a_serial_log_has_no_parallelism() -> None:
    result = measured([(number, number + 1, 10) for number in range(50)])
    assert (result.critical_path, result.largest_group, result.average) == (50, 1, 1.0)


def test_an_empty_log_has_an_average_of_zero() -> None:
    assert (Parallelism().average, Parallelism().average_by_bytes) == (0.0, 0.0)


@given(clocks())
def test_the_meter_agrees_with_the_model(transactions: Clocks) -> None:
    assert measured(transactions) == model(transactions)


@given(clocks())
def test_the_largest_group_is_the_largest_of_all_groups(transactions: Clocks) -> None:
    groups = list(overlapping_groups([(last, sequence) for last, sequence, _ in transactions]))
    assert measured(transactions).largest_group == max(map(len, groups), default=0)


@given(clocks())
def test_groups_are_all_the_largest_sets_in_which_every_two_may_overlap(transactions: Clocks) -> None:
    pairs = [(last, sequence) for last, sequence, _ in transactions]
    at_moments = {frozenset(pair for pair in pairs if pair[0] < moment <= pair[1]) for _, moment in pairs}
    starts = {frozenset(pair for pair in pairs if pair[0] <= start < pair[1]) for start, _ in pairs}
    maximal = {one for one in at_moments | starts if not any(one < other for other in at_moments | starts)}
    assert {frozenset(tuple(clock) for clock in group) for group in overlapping_groups(pairs)} == maximal


@given(clocks())
def test_no_more_moments_are_kept_than_run_together(transactions: Clocks) -> None:
    counter = OverlapCounter()
    for last_committed, sequence, _ in transactions:
        counter.add(last_committed, sequence)
        assert len(counter._moments) <= counter.largest


@given(clocks(), st.integers(1, 5))
def test_a_short_history_never_makes_the_chain_shorter(transactions: Clocks, history: int) -> None:
    assert measured(transactions, history).critical_path >= measured(transactions).critical_path


def test_history_is_bounded() -> None:
    running = RunningMaximum(0, history=10)
    for number in range(1, 1001):
        running.add(number, number)
    assert len(running._values) <= 20
    assert running.maximum == 1000
    assert running.up_to(995) == 995
    assert running.up_to(5) >= 5


@given(clocks(), clocks())
def test_sequence_numbers_that_begin_anew_wait_for_all_before(first: Clocks, second: Clocks) -> None:
    again = [(0, 1, 10), *((last + 1, sequence + 1, size) for last, sequence, size in second)]
    assert measured([*first, *again]) == measured(first).followed_by(measured(again))


@pytest.mark.parametrize("clock", [(None, None), (0, 0), (5, 0), (-1, -1)])
def test_a_transaction_without_a_clock_runs_alone(clock: tuple[int | None, int | None]) -> None:
    meter = LogicalClockMeter()
    meter.add(0, 1, 10)
    meter.add(*clock, 10)
    meter.add(0, 2, 10)
    assert (meter.result().critical_path, meter.result().largest_group) == (3, 1)


def test_a_last_committed_that_lies_ahead_waits_for_all_before() -> None:
    assert measured([(0, 1, 10), (9, 2, 10), (2**63, 3, 10)]).critical_path == 3


def groups(*transactions: tuple[int, int | None, int]) -> Parallelism:
    meter = GroupCommitMeter()
    for domain_id, commit_id, size in transactions:
        meter.add(domain_id, commit_id, 0, size)
    return meter.result()


def test_transactions_of_a_group_commit_run_together() -> None:
    result = groups((0, 17, 10), (0, 17, 30), (0, 20, 10), (0, None, 10), (0, None, 10), (0, 21, 5), (0, 21, 5))
    assert result == Parallelism(7, 5, 2, 80, 30 + 10 + 10 + 10 + 5)


def test_domains_run_beside_each_other() -> None:
    result = groups((0, None, 10), (1, None, 50), (0, None, 10), (0, None, 10))
    assert (result.critical_path, result.critical_path_bytes) == (3, 50)


def test_a_group_is_not_interrupted_by_another_domain() -> None:
    assert groups((0, 5, 10), (1, None, 10), (0, 5, 10)).largest_group == 2


def test_transactions_that_may_run_before_their_turn_are_counted() -> None:
    may = MariadbGtidFlag.ALLOW_PARALLEL | MariadbGtidFlag.TRANSACTIONAL
    meter = GroupCommitMeter()
    for flags in (may, may | MariadbGtidFlag.DDL, may | MariadbGtidFlag.WAITED, MariadbGtidFlag.TRANSACTIONAL):
        meter.add(0, None, int(flags), 10)
    assert meter.result().optimistic == 1


def test_what_the_log_cuts_short_does_not_count() -> None:
    log = Tape()
    meter = ParallelismMeter()
    for transaction in assembled(log.gtid(1), log.begin(), log.gtid(2, 1), log.begin(), log.xid()):
        meter.add(transaction)
    assert meter.result().transactions == 1


def test_both_families_are_measured() -> None:
    log = Tape()
    meter = ParallelismMeter()
    mariadb = [log.mariadb_gtid(1, 2, commit_id=3), log.xid()]
    for transaction in assembled(*mariadb, log.gtid(2, 1), log.begin(), log.xid()):
        meter.add(transaction)
    assert (meter.result().transactions, meter.result().critical_path) == (2, 2)
