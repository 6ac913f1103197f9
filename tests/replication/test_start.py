"""Where to start and to stop: texts and values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import OptionError
from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.position import BinlogPosition
from binspark.replication.start import AtTime, Earliest, Latest, Start, parse_start
from binspark.replication.stop import StopCondition, parse_stop
from tests.support.replication.positions import FILES, GTIDS

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
after = BinlogPosition.after_gtids
TEXTS: dict[str, Start] = {
    "earliest": Earliest(),
    "latest": Latest(),
    "binlog.000003:154": BinlogPosition("binlog.000003", 154),
    "my-bin.x.1234567:5000000000": BinlogPosition("my-bin.x.1234567", 5_000_000_000),
    f"{UUID}:1-5": after(GtidSet(f"{UUID}:1-5")),
    f"{UUID}:1-5:nightly:7": after(GtidSet(f"{UUID}:1-5:nightly:7")),
    "0-1-270,7-2-9": after(MariadbPosition("0-1-270,7-2-9")),
    "gtid:": after(GtidSet()),
    "timestamp:2026-11-15T09:30:00Z": AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC)),
}


def text_of(start: Start) -> str:
    return start.describe() if isinstance(start, BinlogPosition) else str(start)


@pytest.mark.parametrize(("text", "start"), TEXTS.items(), ids=TEXTS)
def test_a_start_has_a_text(text: str, start: Start) -> None:
    assert parse_start(text) == start
    assert text_of(start) == text


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (" latest\n", Latest()),
        ("Earliest", Earliest()),
        ("binlog.000003", BinlogPosition("binlog.000003", 4)),
        (f"gtid:{UUID}:1", after(GtidSet(f"{UUID}:1"))),
        (f"{UUID.upper()}:1", after(GtidSet(f"{UUID}:1"))),
        ("timestamp:2026-11-15T10:30:00+01:00", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("timestamp:2026-11-15T09:30:00", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("timestamp:2026-11-15 10:30:00 +0100", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("2026-11-15 09:30:00", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("2026-11-15 09:30 UTC", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("2026-11-15", after(MariadbPosition("2026-11-15"))),
    ],
)
def test_a_start_may_be_written_otherwise(text: str, start: Start) -> None:
    assert parse_start(text) == start


@pytest.mark.parametrize(
    "text",
    [
        "erliest", "binlog.000003:x", "binlog:4", "binlog.000001:3", "../binlog.000001:4", f"{UUID}:0", "0-1",
        "timestamp:yesterday", "timestamp:", "2026-11-15 25:00",
    ],
)  # fmt: skip
def test_a_text_that_is_no_start_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="start"):
        parse_start(text)


TIMES = st.datetimes(datetime(2001, 1, 1), datetime(2100, 1, 1)).map(lambda time: time.replace(tzinfo=UTC))


@given(
    st.one_of(
        st.builds(BinlogPosition, FILES, st.integers(4, 1 << 62)),
        st.builds(after, GTIDS),
        st.builds(AtTime, TIMES),
    )
)
def test_the_text_of_a_start_is_the_start(start: Start) -> None:
    assert parse_start(text_of(start)) == start
    assert parse_start(str(start)) == start


def test_a_fraction_of_a_second_is_rounded_up() -> None:
    time = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert AtTime(time).seconds == int(time.timestamp())
    assert AtTime(time + timedelta(microseconds=1)).seconds == int(time.timestamp()) + 1


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (" end", Latest()),
        ("binlog.000003:154", BinlogPosition("binlog.000003", 154)),
        (f"{UUID}:1-5", after(GtidSet(f"{UUID}:1-5"))),
        ("0-1-270", after(MariadbPosition("0-1-270"))),
        ("2026-11-15T09:30:00Z", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("2026-11-15 09:30:00", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
        ("timestamp:2026-11-15T09:30:00+00:00", AtTime(datetime(2026, 11, 15, 9, 30, tzinfo=UTC))),
    ],
)
def test_stops_have_texts(text: str, parsed: object) -> None:
    assert parse_stop(text) == parsed


@pytest.mark.parametrize("text", ["latest", "earliest", "tomorrow", "", "gtid:"])
def test_other_texts_are_no_stops(text: str) -> None:
    with pytest.raises(OptionError, match="until must be end, file:position"):
        parse_stop(text)


def test_a_stop_is_reached_by_gtids_or_by_file() -> None:
    by_file = StopCondition(BinlogPosition("binlog.000002", 100))
    both = StopCondition(BinlogPosition("binlog.000002", 100, GtidSet(f"{UUID}:1-5")))
    assert not by_file.is_reached(BinlogPosition("binlog.000001", 500))
    assert by_file.is_reached(BinlogPosition("binlog.000002", 100))
    assert both.is_reached(BinlogPosition("binlog.000001", 4, GtidSet(f"{UUID}:1-9")))
    assert not both.is_reached(BinlogPosition("binlog.000009", 4, GtidSet(f"{UUID}:1-4")))
    assert not StopCondition().is_reached(BinlogPosition("binlog.000009", 4))


def test_a_stop_in_a_file_is_not_reached_on_another_server() -> None:
    stop = StopCondition(BinlogPosition("binlog.000002", 100, server="one"))
    assert stop.is_reached(BinlogPosition("binlog.000003", 4, server="one"))
    assert not stop.is_reached(BinlogPosition("binlog.000003", 4, server="other"))
