"""The plan of a recovery, from logs that are made to order: what is applied, what is not, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from binspark.cli.restore import restore_command
from binspark.testing.builder import MARIADB_11_8, MYSQL_4_1, MYSQL_9_7, BinlogBuilder, insert, integer, table, varchar

ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
ITEMS = table("shop.items", integer("id"))
UUID = BinlogBuilder().server_uuid


def run(*arguments: object) -> Result:
    return CliRunner().invoke(restore_command, [str(argument) for argument in arguments])


def plan(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--format", "jsonl")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Six transactions in two files: DDL, rows of two tables, a statement."""
    log = BinlogBuilder(MYSQL_9_7)
    log.ddl("CREATE TABLE orders (id INT, note VARCHAR(40))", schema="shop")
    log.transaction(insert(ORDERS, (1, "a"), (2, "b")), text="INSERT INTO orders VALUES (1, 'a'), (2, 'b')")
    log.transaction(insert(ITEMS, (1,)))
    log.rotate()
    log.timestamp += 100
    log.transaction(insert(ORDERS, (3, "c")), compress=True)
    log.transaction("UPDATE shop.orders SET note = 'x'")
    log.ddl("DROP   TABLE `orders`", schema="shop")
    log.stop()
    log.save(tmp_path)
    return tmp_path


def test_a_plan_says_what_is_applied(archive: Path) -> None:
    found = plan(archive)
    assert found["files"] == ["binlog.000001", "binlog.000002"]
    assert (found["transactions"], found["rows"], found["ddl"], found["statements"]) == (6, 4, 2, 1)
    assert (found["first"], found["last"]) == (f"{UUID}:1", f"{UUID}:6")
    assert found["tables"] == ["shop.items", "shop.orders"]
    assert "1 changes are logged as statements" in found["warnings"][0]
    lines = run(archive).stdout.splitlines()
    assert lines[0].startswith("archive    2 files, binlog.000001 to binlog.000002 (9.7")
    assert lines[1].startswith("apply      6 transactions, 4 rows, 2 DDL statements, ")


@pytest.mark.parametrize(
    ("options", "last", "left_out"),
    [
        (("--stop-before-gtid", f"{UUID}:3"), f"{UUID}:2", {"stopped": 4}),
        (("--stop-after-gtid", f"{UUID.upper()}:3"), f"{UUID}:3", {"stopped": 3}),
        (("--before-statement", "drop table"), f"{UUID}:5", {"stopped": 1}),
        (("--before-statement", "DROP*orders"), f"{UUID}:5", {"stopped": 1}),
        (("--before-statement", "insert into orders"), f"{UUID}:1", {"stopped": 5}),
        (("--exclude-gtids", f"{UUID}:2-4"), f"{UUID}:6", {"excluded": 3}),
        (("--stop-position", "binlog.000001:600"), f"{UUID}:2", {"stopped": 1}),
        (("--start-position", "binlog.000002:4"), f"{UUID}:6", {}),
        (("--tables", "shop.orders"), f"{UUID}:6", {"excluded": 1}),
        (("--exclude-tables", "shop.orders"), f"{UUID}:3", {"excluded": 5}),
        (("--operations", "delete"), None, {"excluded": 6}),
    ],
)
def test_it_stops_and_leaves_out_what_options_say(
    archive: Path, options: tuple[str, ...], last: str | None, left_out: dict[str, int]
) -> None:
    found = plan(archive, *options)
    assert found["last"] == last
    assert {name: count for name, count in found["left_out"].items() if count} == left_out


def test_a_time_stops_it_at_the_first_transaction_from_then_on(archive: Path) -> None:
    first = plan(archive)["first_time"]
    for option in ("--stop-datetime", "--committed-before"):
        found = plan(archive, option, datetime.fromtimestamp(first + 50, UTC).isoformat())
        assert (found["last"], found["stop"]) == (f"{UUID}:3", option)


def test_a_log_that_is_cut_off_is_applied_up_to_there(archive: Path) -> None:
    last = archive / "binlog.000002"
    last.write_bytes(last.read_bytes()[:-100])
    found = plan(archive)
    assert (found["last"], found["left_out"]["incomplete"]) == (f"{UUID}:5", 1)
    assert "the last log is cut off" in found["warnings"][0]
    first = archive / "binlog.000001"
    first.write_bytes(first.read_bytes()[:-10])
    result = run(archive)
    assert (result.exit_code, "binlog.000001" in result.output) == (1, True)


def test_anonymous_transactions_are_applied_with_a_warning(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")), gtid="anonymous")
    log.save(tmp_path)
    found = plan(tmp_path)
    assert (found["transactions"], found["first"].endswith("binlog.000001:158")) == (1, True)
    assert "have no GTID" in found["warnings"][0]


def test_gtids_of_mariadb_stop_it_too(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_11_8)
    for number in range(4):
        log.transaction(insert(ORDERS, (number, "a")))
    log.save(tmp_path)
    assert plan(tmp_path, "--stop-before-gtid", "0-1-3")["last"] == "0-1-2"
    assert plan(tmp_path, "--exclude-gtids", "..0-1-3")["first"] == "0-1-4"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--apply",), "--apply needs a server"),
        (("--stop-before-gtid", "1-5"), "must be one GTID"),
        (("--stop-before-gtid", f"{UUID}:99"), f"{UUID}:99 is not in the logs"),
        (("--stop-before-gtid", f"{UUID}:1", "--stop-after-gtid", f"{UUID}:1"), "cannot be combined"),
        (("--before-statement", "TRUNCATE"), "is in no statement of the logs"),
    ],
)
def test_wrong_use_says_what_is_wrong(archive: Path, options: tuple[str, ...], said: str) -> None:
    result = run(archive, *options)
    assert (result.exit_code, said in result.output) == (2, True), result.output


def test_logs_that_cannot_be_applied_are_refused(tmp_path: Path) -> None:
    for name, log in (("relay", BinlogBuilder(relay=True)), ("old", BinlogBuilder(MYSQL_4_1))):
        folder = tmp_path / name
        folder.mkdir()
        log.transaction("UPDATE t SET a = 1")
        log.save(folder)
        assert run(folder).exit_code == 1
    assert run("-").exit_code == 2
