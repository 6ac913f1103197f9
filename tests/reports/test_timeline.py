"""Counts over time keep every number, whatever the range of times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.reports.timeline import SECOND, Timeline

DAY = 86400 * SECOND
moments = st.lists(st.tuples(st.integers(1, 40 * 365 * DAY), st.integers(0, 10**12)), min_size=1, max_size=60)


def filled(parts: list[list[tuple[int, int]]], max_intervals: int = 20) -> Timeline[str]:
    timeline: Timeline[str] = Timeline(max_intervals)
    for part in parts:
        times, amounts = (np.array(column, dtype=np.int64) for column in zip(*part, strict=True))
        timeline.add("all", times, amounts)
    timeline.finish()
    return timeline


@given(st.lists(moments, min_size=1, max_size=4))
def test_every_amount_is_in_the_interval_of_its_time(parts: list[list[tuple[int, int]]]) -> None:
    timeline = filled(parts)
    expected: dict[int, int] = {}
    for time, amount in (each for part in parts for each in part):
        start = time // timeline.width * timeline.width
        expected[start] = expected.get(start, 0) + amount
    found = dict(zip(timeline.times, timeline.sums("all"), strict=True))
    assert {time: found[time] for time in expected} == expected
    assert sum(found.values()) == sum(expected.values()) == timeline.total("all")


@given(st.lists(moments, min_size=1, max_size=4))
def test_there_are_never_more_intervals_than_allowed(parts: list[list[tuple[int, int]]]) -> None:
    assert len(filled(parts).times) <= 20


def test_times_without_fractions_have_intervals_of_a_second_at_least() -> None:
    assert filled([[(5 * SECOND, 1), (6 * SECOND, 2)]]).width == SECOND
    assert filled([[(5 * SECOND, 1), (5 * SECOND + 1, 2)]]).width == 1000


@pytest.mark.parametrize("time", [0, -5])
def test_what_has_no_time_is_not_counted(time: int) -> None:
    timeline: Timeline[str] = Timeline()
    timeline.add("all", np.array([time], dtype=np.int64), np.array([7], dtype=np.int64))
    assert (timeline.times, timeline.keys) == ([], [])
