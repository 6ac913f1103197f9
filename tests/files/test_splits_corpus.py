"""The splits of every recorded log together are the log, whatever their size."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.files.sources import LogSource
from binspark.files.split_reader import SplitReader
from binspark.files.splits import plan_logs, split_logs
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.files.split_reading import (
    Events,
    Rows,
    all_events,
    all_rows,
    history_of,
    plan,
    split_events,
    split_rows,
)

ALL_LOGS = corpus_logs(encrypted=True, truncated=True)
LARGE_LOGS = [path for path in ALL_LOGS if path.stat().st_size > 9000]
SIZES_OF_ROWS = (1777, 10007)
SIZES_OF_EVENTS = (1024, 4096)
RELAY_CASES = ("mysql/replica", "mysql/replica-compressed", "mariadb/replica", "mysql/group-replication")


def rows_both_ways(path: Path, sizes: tuple[int, ...]) -> tuple[Rows, list[Rows]]:
    """Read the rows of a planned log: without splits, and in splits of these sizes."""
    log = plan(path)
    reader = SplitReader(history_of(log))
    in_splits = [split_rows(split_logs([log], size), reader) for size in (*sizes, log.size)]
    return all_rows(path.read_bytes()[: log.size], str(path)), in_splits


def events_both_ways(path: Path, sizes: tuple[int, ...]) -> tuple[Events, list[Events]]:
    log = plan(path)
    reader = SplitReader(history_of(log))
    in_splits = [split_events(split_logs([log], size), reader) for size in (*sizes, log.size)]
    return all_events(path.read_bytes()[: log.size], str(path)), in_splits


@pytest.mark.parametrize("path", ALL_LOGS, ids=log_id)
def test_splits_have_the_rows_and_the_errors_of_the_log(path: Path) -> None:
    unsplit, in_splits = rows_both_ways(path, SIZES_OF_ROWS)
    assert in_splits == [unsplit] * len(in_splits)


@pytest.mark.parametrize("path", ALL_LOGS, ids=log_id)
def test_splits_have_the_events_and_transactions_of_the_log(path: Path) -> None:
    unsplit, in_splits = events_both_ways(path, SIZES_OF_EVENTS)
    assert in_splits == [unsplit] * len(in_splits)


@pytest.mark.slow
@pytest.mark.parametrize("path", LARGE_LOGS, ids=log_id)
def test_splits_of_many_sizes_have_the_rows_of_the_log(path: Path) -> None:
    size = path.stat().st_size
    unsplit, in_splits = rows_both_ways(path, tuple(range(max(1024, size // 9), size, size // 5)))
    assert in_splits == [unsplit] * len(in_splits)


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL_LOGS, ids=log_id)
def test_splits_of_many_sizes_have_the_events_of_the_log(path: Path) -> None:
    size = path.stat().st_size
    unsplit, in_splits = events_both_ways(path, tuple(range(1024, size, 1 + size // 40)))
    assert in_splits == [unsplit] * len(in_splits)


@pytest.mark.parametrize("case", RELAY_CASES)
def test_relay_logs_are_read_in_order_in_one_split(case: str) -> None:
    relay_logs = [path for path in case_logs(case) if path.name.startswith("relay")]
    logs = plan_logs([LogSource(str(path)) for path in relay_logs])
    [split] = split_logs(logs, 1)
    assert [log.name for log in split.logs] == list(map(str, relay_logs))
    found = split_events([split], SplitReader(history_of(*logs)))
    each = [all_events(path.read_bytes()[: log.size], str(path)) for path, log in zip(relay_logs, logs, strict=True)]
    assert found.events == [event for read in each for event in read.events]
    assert found.refusal is None
