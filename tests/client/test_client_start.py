"""Where to start, and where to go on: texts and values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.client.resume import ResumePoint
from binspark.client.start import AtFile, AtGtids, AtTime, Earliest, Latest, StartFrom, parse_start
from binspark.errors import OptionError
from binspark.gtid import GtidSet, MariadbGtid, MariadbPosition

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
TEXTS: dict[str, StartFrom] = {
    "earliest": Earliest(),
    "latest": Latest(),
    "binlog.000003:154": AtFile("binlog.000003", 154),
    "my-bin.x.1234567:5000000000": AtFile("my-bin.x.1234567", 5_000_000_000),
    f"{UUID}:1-5": AtGtids(GtidSet(f"{UUID}:1-5")),
    f"{UUID}:1-5:nightly:7": AtGtids(GtidSet(f"{UUID}:1-5:nightly:7")),
    "0-1-270,7-2-9": AtGtids(MariadbPosition("0-1-270,7-2-9")),
    "gtid:": AtGtids(GtidSet()),
    "timestamp:2026-11-15T09:30:00Z": AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC)),
}


@pytest.mark.parametrize(("text", "start"), TEXTS.items(), ids=TEXTS)
def test_a_start_has_a_text(text: str, start: StartFrom) -> None:
    assert parse_start(text) == start
    assert str(start) == text


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (" latest\n", Latest()),
        ("binlog.000003", AtFile("binlog.000003", 4)),
        (f"gtid:{UUID}:1", AtGtids(GtidSet(f"{UUID}:1"))),
        (f"{UUID.upper()}:1", AtGtids(GtidSet(f"{UUID}:1"))),
        ("timestamp:2026-11-15T10:30:00+01:00", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
    ],
)
def test_a_start_may_be_written_otherwise(text: str, start: StartFrom) -> None:
    assert parse_start(text) == start


@pytest.mark.parametrize(
    "text",
    [
        "erliest", "binlog.000003:x", "binlog:4", "binlog.000001:3", "../binlog.000001:4", f"{UUID}:0", "0-1",
        "timestamp:yesterday", "timestamp:2026-11-15T09:30:00", "timestamp:",
    ],
)  # fmt: skip
def test_a_text_that_is_no_start_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="start"):
        parse_start(text)


TIMES = st.datetimes(datetime(2001, 1, 1), datetime(2100, 1, 1)).map(lambda time: time.replace(tzinfo=UTC))
FILES = st.from_regex(r"[a-z][a-z.-]{0,20}\.[0-9]{1,9}", fullmatch=True)
POSITIONS = st.builds(
    lambda domains: MariadbPosition.of(MariadbGtid(domain, 1, number) for domain, number in domains.items()),
    st.dictionaries(st.integers(0, 99), st.integers(1, 1 << 60), max_size=4),
)
SETS = st.integers(1, 1 << 60).map(lambda number: GtidSet(f"{UUID}:{number}"))


@given(
    st.one_of(
        st.builds(AtFile, FILES, st.integers(4, 1 << 62)),
        st.builds(AtGtids, st.one_of(POSITIONS.filter(bool), SETS)),
        st.builds(AtTime, TIMES),
    )
)
def test_the_text_of_a_start_is_the_start(start: StartFrom) -> None:
    assert parse_start(str(start)) == start


@given(
    st.builds(
        ResumePoint, FILES, st.integers(0, 1 << 62), st.one_of(st.none(), POSITIONS.filter(bool), SETS),
        st.text(max_size=40), st.integers(0, 1 << 32), st.booleans(),
    )
)  # fmt: skip
def test_the_text_of_a_resume_point_is_the_resume_point(point: ResumePoint) -> None:
    assert ResumePoint.parse(str(point)) == point


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"file": "a"}', '{"file":"a","offset":"x"}'])
def test_a_text_that_is_no_resume_point_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="resume point"):
        ResumePoint.parse(text)


def test_a_fraction_of_a_second_is_rounded_up() -> None:
    time = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert AtTime(time).seconds == int(time.timestamp())
    assert AtTime(time + timedelta(microseconds=1)).seconds == int(time.timestamp()) + 1
