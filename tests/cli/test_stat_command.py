"""`binspark stat` and `binspark demo`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.files import read_events
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table
from tests.corpus.cases import case_logs


def test_stat_counts_events_transactions_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["stat", "--format", "jsonl", str(SHOP / "mysql")]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["transactions"]["count"] == 159
    assert shown["endings"] == {"statement": 6, "xid": 153}
    deleted = [table for table in shown["tables"] if table["operation"] == "delete"]
    assert [(table["schema"], table["table"]) for table in deleted] == [("shop", "orders")]
    assert shown["largest"][0]["what"] == "delete shop.orders"


def test_stat_counts_every_byte_of_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    logs = sorted((SHOP / "mariadb").glob("binlog.0*"))
    assert exit_code(["stat", "--format", "jsonl", *map(str, logs)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["events"]["bytes"] == sum(log.stat().st_size - 4 for log in logs)


def test_stat_of_a_damaged_log_counts_what_is_sound_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "binlog.000001"
    cut.write_bytes(case_logs("mysql/format-row")[0].read_bytes()[:2000])
    assert exit_code(["stat", "--format", "jsonl", str(cut)]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["events"]["count"] > 5
    assert "binlog.000001" in captured.err


def test_tables_have_rows_bytes_with_their_maps_and_a_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders, items = table("shop.orders", integer("id")), table("shop.items", integer("id"))
    log = BinlogBuilder()
    log.transaction(insert(orders, (1,), (2,), (3,)), text="INSERT INTO orders VALUES (1), (2), (3)")
    log.transaction(delete(orders, (1,)), insert(items, (7,)))
    [path] = log.save(tmp_path)
    assert exit_code(["stat", "--format", "jsonl", str(path)]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    rows = {(each["table"], each["operation"]): each["rows"] for each in tables}
    assert rows == {("orders", "insert"): 3, ("orders", "delete"): 1, ("items", "insert"): 1}
    sizes = [
        event.header.event_size
        for event in read_events(path)
        if event.type in ("TABLE_MAP", "ROWS_QUERY", "WRITE_ROWS", "DELETE_ROWS")
    ]
    assert sum(each["bytes"] for each in tables) == sum(sizes)
    assert round(sum(each["share"] for each in tables), 3) == 1
    assert exit_code(["stat", str(path)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[:4] for line in lines if line[:1] == ["shop.orders"]][-1] == ["shop.orders", "all", "4", "2"]
    assert [line[:3] for line in lines if line[:2] == ["all", "tables"]] == [["all", "tables", "5"]]


@pytest.mark.parametrize(
    ("per", "zone", "expected"),
    [
        ("minute", "UTC", [(0, 2, 2), (60, 1, 1), (7200, 1, 1)]),
        ("hour", "UTC", [(0, 3, 3), (7200, 1, 1)]),
        ("day", "UTC", [(-43200, 4, 4)]),
        ("day", "-10:00", [(-7200, 4, 4)]),
    ],
)
def test_periods_are_those_of_the_time_zone(
    per: str,
    zone: str,
    expected: list[tuple[int, int, int]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    noon = 1_794_744_000
    log = BinlogBuilder()
    for number, seconds in enumerate((0, 30, 70, 7200)):
        log.timestamp = noon + seconds
        log.transaction(insert(table("shop.orders", integer("id")), (number,)))
    [path] = log.save(tmp_path)
    arguments = ["stat", "--format", "jsonl", "--per", per, "--timezone", zone, str(path)]
    assert exit_code(arguments) == 0
    periods = json.loads(capsys.readouterr().out)["periods"]
    found = [(each["timestamp"] - noon, each["transactions"], each["rows"]) for each in periods]
    assert found == expected


def test_options_select_what_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["stat", "--format", "jsonl", "--tables", "shop.orders", str(SHOP / "mysql")]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {table["table"] for table in shown["tables"]} == {"orders"}
    assert shown["types"].keys() <= {"TABLE_MAP", "WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "QUERY", "ROWS_QUERY"}
