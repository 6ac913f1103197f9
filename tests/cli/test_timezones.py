"""`--timezone`: the zone of times that are shown, and of times that are typed without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table

NOON = 1_794_744_000  # 2026-11-15 12:00:00 UTC
ORDERS = table("shop.orders", integer("id"))


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Two transactions, at 12:00 and at 13:00 UTC."""
    builder = BinlogBuilder()
    for number in range(2):
        builder.timestamp = NOON + 3600 * number
        builder.transaction(insert(ORDERS, (number,)))
    [path] = builder.save(tmp_path)
    return str(path)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert exit_code(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["events", "transactions", "rows"])
@pytest.mark.parametrize(
    ("zone", "noon"),
    [
        (None, "2026-11-15 12:00:00Z"),
        ("UTC", "2026-11-15 12:00:00Z"),
        ("Europe/Berlin", "2026-11-15 13:00:00+01:00"),
        ("-05:30", "2026-11-15 06:30:00-05:30"),
    ],
)
def test_times_are_shown_in_a_zone_with_its_label(
    command: str, zone: str | None, noon: str, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [] if zone is None else ["--timezone", zone]
    assert noon in shown(capsys, command, *options, log)


def test_stat_labels_its_times(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "18:30:00+05:30" in shown(capsys, "stat", "--timezone", "Asia/Kolkata", log)


@pytest.mark.parametrize("option", ["--start-datetime", "--committed-from"])
@pytest.mark.parametrize(
    ("zone", "time", "rows"),
    [
        ("UTC", "2026-11-15 12:30:00", 1),
        ("Europe/Berlin", "2026-11-15 12:30:00", 2),
        ("Europe/Berlin", "2026-11-15 13:30:00", 1),
        ("Europe/Berlin", "2026-11-15 12:30:00Z", 1),
        ("Europe/Berlin", "2026-11-15 13:00:00+01:00", 2),
    ],
)
def test_times_without_a_zone_are_in_the_zone(
    option: str, zone: str, time: str, rows: int, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = shown(capsys, "rows", "--format", "jsonl", "--timezone", zone, option, time, log)
    assert len(out.splitlines()) == rows


def test_what_is_shown_can_be_typed(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(capsys, "transactions", "--timezone", "America/New_York", log)
    second = " ".join(out.splitlines()[1].split()[1:3])
    assert len(shown(capsys, "transactions", "--start-datetime", second, log).splitlines()) == 1


def test_local_is_the_zone_of_the_machine(
    log: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert "2026-11-15 21:00:00+09:00" in shown(capsys, "transactions", "--timezone", "local", log)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_zone_that_is_none_is_refused(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["rows", "--timezone", "Mars/Olympus", log]) == 2
    expected = "--timezone must be a time zone: UTC, local, a name such as Europe/Berlin, or +02:00, got 'Mars/Olympus'"
    assert expected in capsys.readouterr().err
