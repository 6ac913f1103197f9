"""Metrics made of a status: names, labels, limits."""

from __future__ import annotations

import re

import pytest

from binspark.monitoring.health import find_problem
from binspark.monitoring.lag import LagClock
from binspark.monitoring.metrics import MAX_GTID_SOURCES, MAX_TABLES, METRICS, Kind, Metric, samples
from binspark.monitoring.status import Status, TableStatus
from binspark.schema.table import TableName

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
UNITS = ("_bytes", "_seconds", "_info", "_number", "_phase", "_connected", "_clients", "_tables")


def table(name: str, phase: str = "current", rows: int = 0) -> TableStatus:
    return TableStatus(
        name=TableName("shop", name), phase=phase, rows=rows, expected=None, rate=0.0, version=1, position="b.000001:4",
        lag_bytes=7, lag_seconds=1.5,
    )  # fmt: skip


def found(status: Status) -> dict[tuple[str, tuple[str, ...]], float]:
    return {(sample.metric.name, sample.labels): sample.value for sample in samples(status)}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_names_are_those_that_prometheus_recommends(metric: Metric) -> None:
    assert re.fullmatch(r"binspark_[a-z_]+", metric.name)
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
    assert metric.kind is Kind.COUNTER or metric.name.endswith(UNITS)
    assert metric.help.endswith(".")


def test_names_are_unique() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_a_status_becomes_samples() -> None:
    status = Status(
        command="mirror", position="binlog.000012:345", gtids=f"{UUID}:1-9:12,{UUID}:night:1-3", address="db1:3306",
        connected=True, last_success=1000.5, lag_bytes=10, lag_seconds=2.5, bytes=100, events=20, transactions=3,
        rows=4, reconnects=1, errors={"ConnectionLost": 1}, tables=(table("orders", rows=4),),
    )  # fmt: skip
    expected = {
        ("binspark_source_info", ("db1:3306",)): 1,
        ("binspark_connected", ()): 1,
        ("binspark_last_success_timestamp_seconds", ()): 1000.5,
        ("binspark_lag_bytes", ()): 10,
        ("binspark_lag_seconds", ()): 2.5,
        ("binspark_position_file_number", ()): 12,
        ("binspark_position_offset_bytes", ()): 345,
        ("binspark_last_gtid_number", (UUID,)): 12,
        ("binspark_last_gtid_number", (f"{UUID}:night",)): 3,
        ("binspark_read_bytes_total", ()): 100,
        ("binspark_read_events_total", ()): 20,
        ("binspark_read_transactions_total", ()): 3,
        ("binspark_rows_total", ()): 4,
        ("binspark_reconnects_total", ()): 1,
        ("binspark_errors_total", ("ConnectionLost",)): 1,
        ("binspark_tables", ("current",)): 1,
        ("binspark_table_rows_total", ("shop.orders",)): 4,
        ("binspark_table_phase", ("shop.orders", "current")): 1,
        ("binspark_table_lag_bytes", ("shop.orders",)): 7,
        ("binspark_table_lag_seconds", ("shop.orders",)): 1.5,
    }
    samples_found = found(status)
    assert samples_found.items() >= expected.items()
    assert {name for name, _ in samples_found.keys() - expected.keys()} == {"binspark_build_info"}


def test_the_last_gtids_of_mariadb_are_those_of_its_domains() -> None:
    numbers = found(Status(command="tail", gtids="0-1-158,7-2-3"))
    assert numbers["binspark_last_gtid_number", ("0",)] == 158
    assert numbers["binspark_last_gtid_number", ("7",)] == 3


@pytest.mark.parametrize("position", ["", f"{UUID}:1-9", "0-1-158", "gtid:"])
def test_a_position_without_a_file_has_no_numbers(position: str) -> None:
    assert {name for name, _ in found(Status(command="tail", position=position))} == {"binspark_build_info"}


def test_what_serve_sends_is_not_what_others_read() -> None:
    numbers = found(Status(command="serve", clients=2, sessions=5, bytes=99))
    assert numbers["binspark_sent_bytes_total", ()] == 99
    assert (numbers["binspark_clients", ()], numbers["binspark_sessions_total", ()]) == (2, 5)
    assert ("binspark_read_bytes_total", ()) not in numbers


def test_there_are_metrics_of_a_limited_number_of_tables() -> None:
    tables = [table(f"t{number:03}", rows=number) for number in range(MAX_TABLES + 50)]
    tables.append(table("copied", "snapshot"))
    numbers = found(Status(command="mirror", tables=tuple(tables)))
    shown = [labels[0] for name, labels in numbers if name == "binspark_table_rows_total"]
    assert len(shown) == MAX_TABLES
    assert {"shop.copied", f"shop.t{MAX_TABLES + 49}"} <= set(shown)
    assert "shop.t000" not in shown
    assert numbers["binspark_tables", ("current",)] == MAX_TABLES + 50


def test_there_are_metrics_of_a_limited_number_of_sources_of_gtids() -> None:
    gtids = ",".join(f"{number:08x}{UUID[8:]}:1-{number}" for number in range(1, 100))
    numbers = found(Status(command="tail", gtids=gtids))
    assert sum(name == "binspark_last_gtid_number" for name, _ in numbers) == MAX_GTID_SOURCES


@pytest.mark.parametrize(
    ("status", "max_lag", "problem"),
    [
        (Status(command="archive"), None, None),
        (Status(command="archive", connected=True, lag_seconds=9.0), None, None),
        (Status(command="archive", connected=True, lag_seconds=9.0), 10.0, None),
        (Status(command="archive", connected=True, lag_seconds=11.0), 10.0, "lag is 11 s, expected at most 10 s"),
        (Status(command="archive", connected=True), 10.0, "the lag is not known"),
        (Status(command="archive", connected=False, error="gone"), None, "not connected: gone"),
        (Status(command="archive", connected=False), None, "not connected"),
    ],
)
def test_a_program_is_healthy_if_it_is_connected_and_lags_little(
    status: Status, max_lag: float | None, problem: str | None
) -> None:
    assert find_problem(status, max_lag) == problem


def test_a_lag_that_is_not_known_grows_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("binspark.monitoring.lag.time.time", lambda: now[0])
    clock = LagClock()
    assert clock.seconds is None
    clock.observe(None)
    assert clock.seconds is None
    clock.observe(0.0)
    now[0] += 5
    assert clock.seconds == 0.0
    clock.observe(None)
    assert clock.seconds == 5.0
    now[0] += 60
    assert clock.seconds == 65.0
    clock.observe(3.0)
    assert clock.seconds == 3.0
    now[0] += 60  # nobody has observed anything since
    assert clock.seconds == 63.0
