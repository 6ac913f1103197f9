"""Planned logs are cut into splits: everything is in exactly one split."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import OptionError
from binspark.files.sources import LogSource
from binspark.files.split_reader import SplitReader
from binspark.files.splits import PlannedLog, Split, plan_logs, split_logs
from binspark.testing.builder import BinlogBuilder, insert
from tests.support.files.split_logs import ITEMS, KINDS, BuiltLog, built_log
from tests.support.files.split_reading import (
    Rows,
    all_events,
    all_rows,
    history_of,
    plan,
    split_events,
    split_rows,
    value_in,
)

kinds = pytest.mark.parametrize("kind", KINDS)


@st.composite
def planned_logs(draw: st.DrawFn) -> list[PlannedLog]:
    """Logs of all sizes; some are relay logs, some cannot be split, some are narrowed."""
    logs = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(("usual", "usual", "usual", "relay", "old", "narrowed")))
        log = PlannedLog(LogSource(f"binlog.{number:06}"), draw(st.integers(1, 5000)), 7, kind == "relay")
        if kind == "narrowed":
            last = draw(st.none() | st.integers(0, 6000))
            log = log.narrowed(draw(st.integers(0, 6000)), last)
        logs.append(PlannedLog(log.source, log.size, 7, can_split=False) if kind == "old" else log)
    return logs


def length_of(log: PlannedLog) -> int:
    """Return the length of the range of a log that is read."""
    return (log.size if log.end is None else min(log.end, log.size)) - log.start


@given(planned_logs(), st.integers(1, 6000))
def test_every_byte_of_a_range_is_in_exactly_one_split(logs: list[PlannedLog], size: int) -> None:
    splits = split_logs(logs, size)
    for log in logs:
        boundaries = [(split.start, split.end) for split in splits if log in split.logs]
        tiles = [] if length_of(log) <= 0 else [(log.start, log.end)]
        assert [(start, end) for (start, _), (_, end) in zip(boundaries[:1], boundaries[-1:], strict=True)] == tiles
        assert all(end == start for (_, end), (start, _) in pairwise(boundaries))
    together = [log for split in splits for log in split.logs]
    assert list(dict.fromkeys(together)) == [log for log in logs if length_of(log) > 0]


@given(planned_logs(), st.integers(1, 6000))
def test_no_split_is_larger_than_the_limit_unless_it_cannot_be_cut(logs: list[PlannedLog], size: int) -> None:
    for split in split_logs(logs, size):
        first = split.logs[0]
        end = min(first.size, first.size if split.end is None else split.end)
        length = end - split.start if split.is_part else sum(log.size for log in split.logs)
        assert length <= size or (not split.is_part and (first.relay or not first.can_split))


@given(planned_logs(), st.integers(1, 6000))
def test_consecutive_relay_logs_always_share_a_split(logs: list[PlannedLog], size: int) -> None:
    split_of = {log: number for number, split in enumerate(split_logs(logs, size)) for log in split.logs}
    with_relay_logs = [pair for pair in pairwise(logs) if pair[0].relay or pair[1].relay]
    for one, next_one in with_relay_logs:
        assert (split_of.get(one) == split_of.get(next_one)) == (one.relay and next_one.relay)


@given(planned_logs(), st.integers(1, 6000))
def test_consecutive_small_logs_share_a_split_if_they_fit(logs: list[PlannedLog], size: int) -> None:
    usual = [split for split in split_logs(logs, size) if not split.is_part and not split.logs[0].relay]
    numbers = {log: number for number, log in enumerate(logs)}
    for one, next_one in pairwise(usual):
        follows = numbers[one.logs[-1]] + 1 == numbers[next_one.logs[0]]
        fits = sum(log.size for log in one.logs) + next_one.logs[0].size <= size
        assert not (follows and fits)


def test_parts_of_a_log_are_of_about_the_same_size() -> None:
    splits = split_logs([PlannedLog(LogSource("binlog.000001"), 1001, 7)], 100)
    lengths = [(1001 if split.end is None else split.end) - split.start for split in splits]
    assert len(splits) == 11
    assert max(lengths) - min(lengths) <= 1


def test_the_size_of_a_split_must_be_positive() -> None:
    with pytest.raises(OptionError, match="at least 1 byte, got 0"):
        split_logs([], 0)


def test_splits_can_be_pickled_and_printed() -> None:
    logs = tuple(PlannedLog(LogSource(f"binlog.00000{number}"), 100, 7) for number in (1, 2, 3))
    splits = [Split(logs), Split(logs[:1]), Split(logs[:1], 10, 20), Split(logs[:1], 20)]
    assert pickle.loads(pickle.dumps(splits)) == splits
    assert list(map(str, splits)) == [
        "binlog.000001 … binlog.000003",
        "binlog.000001",
        "binlog.000001[10:20]",
        "binlog.000001[20:]",
    ]


def saved(log: BuiltLog, folder: Path) -> PlannedLog:
    path = folder / "binlog.000001"
    path.write_bytes(log.content)
    return plan(path)


@kinds
def test_a_narrowed_log_has_the_transactions_that_begin_in_its_range(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 200)
    planned = saved(log, tmp_path)
    reader = SplitReader(history_of(planned))
    events = all_events(log.content, planned.name).events
    for first in (1, log.starts[0], log.starts[2], log.starts[2] + 1, log.starts[-1], len(log.content)):
        for last in (None, log.starts[0], log.starts[3], log.starts[3] + 1, len(log.content) + 5):
            parts = [part for part in log.parts() if first <= part.start and (last is None or part.start < last)]
            expected = [event for event in events if any(event.offset in part for part in parts)]
            narrowed = planned.narrowed(first, last)
            for size in (150, 10_000):
                assert split_events(split_logs([narrowed], size), reader).events == expected


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_rows_of_a_narrowed_log_are_those_of_its_transactions(size: int, tmp_path: Path) -> None:
    log = built_log("named-crc32", 200)
    planned = saved(log, tmp_path)
    unsplit = all_rows(log.content, planned.name).tables
    first, last = log.starts[2], log.starts[5]
    found = split_rows(split_logs([planned.narrowed(first, last)], size), SplitReader(history_of(planned)))
    positions = {name: [value_in(row, "_log_pos") for row in of_table] for name, of_table in found.tables.items()}
    expected = {
        name: [position for position in (value_in(row, "_log_pos") for row in of_table) if first <= position < last]
        for name, of_table in unsplit.items()
    }
    assert positions == {name: of_table for name, of_table in expected.items() if of_table}


def test_a_log_narrowed_to_an_empty_range_has_no_split() -> None:
    log = PlannedLog(LogSource("binlog.000001"), 1000, 7)
    empty = [log.narrowed(1000, None), log.narrowed(500, 500), log.narrowed(700, 3), log.narrowed(0, 0)]
    assert split_logs(empty) == []


def test_a_log_that_cannot_be_split_cannot_be_narrowed() -> None:
    log = PlannedLog(LogSource("relay.000001"), 1000, 7, relay=True, can_split=False)
    assert log.narrowed(0, None) == log
    with pytest.raises(OptionError, match="relay logs"):
        log.narrowed(200, None)
    with pytest.raises(OptionError, match="relay logs"):
        log.narrowed(0, 200)


def test_small_logs_in_one_split_have_the_rows_of_each(tmp_path: Path) -> None:
    kinds = ["named-crc32", "mariadb-none", "5.5-plain", "compressed-crc32"]
    paths = [tmp_path / f"binlog.{number:06}" for number in range(len(kinds))]
    for path, kind in zip(paths, kinds, strict=True):
        path.write_bytes(built_log(kind, 100).content)
    logs = plan_logs([LogSource(str(path)) for path in paths])
    splits = split_logs(logs, 1 << 20)
    assert [len(split.logs) for split in splits] == [4]
    found = split_rows(splits, SplitReader(history_of(*logs)))
    each = [all_rows(path.read_bytes(), str(path)).tables for path in paths]
    assert found == Rows({name: [row for tables in each for row in tables[name]] for name in each[0]})


def test_a_transaction_that_continues_in_the_next_relay_log_keeps_its_gtid(tmp_path: Path) -> None:
    log = BinlogBuilder(relay=True)
    log.transaction(insert(ITEMS, (1,)))
    log.start_file()
    log.write(log.change_specs((insert(ITEMS, (2,)),), log.default_rows_codes()))
    logs = plan_logs([LogSource(str(path)) for path in log.save(tmp_path)])
    found = split_rows(split_logs(logs, 1), SplitReader(history_of(*logs)))
    assert [value_in(row, "_gtid") for row in found.tables["shop.items"]] == [f"{log.server_uuid}:1"] * 2


def test_logs_are_planned_in_order_without_empty_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"binlog.{number:06}" for number in range(40)]
    for number, path in enumerate(paths):
        path.write_bytes(built_log("named-crc32", number).content if number % 3 else b"")
    planned = plan_logs([LogSource(str(path)) for path in paths])
    full = [path for path in paths if path.stat().st_size]
    assert [(log.name, log.size) for log in planned] == [(str(path), path.stat().st_size) for path in full]
