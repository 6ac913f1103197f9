"""Warnings about options that cannot select what the user wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table

ORDERS = table("shop.orders", integer("id"))


@pytest.fixture
def log(tmp_path: Path) -> str:
    builder = BinlogBuilder()
    builder.transaction(insert(ORDERS, (1,)))
    [path] = builder.save(tmp_path)
    return str(path)


def messages(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert exit_code(list(arguments)) == 0
    return capsys.readouterr().err


@pytest.mark.parametrize("command", ["events", "transactions", "rows", "stat"])
@pytest.mark.parametrize("option", ["--start-position", "--stop-position"])
def test_a_position_after_the_end(command: str, option: str, log: str, capsys: pytest.CaptureFixture[str]) -> None:
    size = Path(log).stat().st_size
    expected = f"binspark: {option} 99999 is after the end of {log}, which has {size:,} bytes\n"
    assert messages(capsys, command, option, "99999", log) == expected
    assert messages(capsys, command, option, str(size), log) == ""


@pytest.mark.parametrize("command", ["events", "transactions", "rows", "stat"])
@pytest.mark.parametrize(
    ("first", "last"), [("--start-datetime", "--stop-datetime"), ("--committed-from", "--committed-before")]
)
def test_times_in_the_wrong_order(
    command: str, first: str, last: str, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    times = [first, "2026-11-15 10:00:00", last, "2026-11-15 09:00:00"]
    assert messages(capsys, command, *times, log) == f"binspark: {first} is not before {last}: nothing is selected\n"


def test_a_schema_file_without_tables(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_text("INSERT INTO t VALUES (1);\n")
    expected = f"binspark: --schema-file {dump} has no CREATE TABLE: it defines no table\n"
    assert messages(capsys, "rows", "--schema-file", str(dump), log) == expected


@pytest.mark.parametrize("statement", ["INSERT INTO shop.orders VALUES (2)", "/* app */ with a as (select 1) update t"])
@pytest.mark.parametrize("command", ["rows", "export"])
def test_changes_that_were_logged_as_statements(
    command: str, statement: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = BinlogBuilder()
    builder.transaction(insert(ORDERS, (1,)))
    builder.transaction(statement)
    builder.transaction(statement)
    [path] = builder.save(tmp_path)
    output = ["--output", str(tmp_path / "out")] if command == "export" else []
    shown = messages(capsys, command, str(path), *output)
    assert shown.count("binspark:") == 1
    expected = "a change was logged as a statement (binlog_format), so that the log does not contain its rows: "
    assert expected + repr(statement) in shown
    for other in ("transactions", "sql", "stat"):
        assert messages(capsys, other, str(path)) == ""


@pytest.mark.parametrize("command", ["rows", "export"])
def test_changes_that_were_rolled_back(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = BinlogBuilder()
    for _ in range(2):
        builder.transaction(insert(ORDERS, (1,)), "SAVEPOINT a", insert(ORDERS, (2,)), "ROLLBACK TO a")
    [path] = builder.save(tmp_path)
    output = ["--output", str(tmp_path / "out")] if command == "export" else []
    shown = messages(capsys, command, str(path), *output)
    assert shown.count("binspark:") == 1
    assert f"{path}:" in shown
    assert "before this statement were rolled back, and are read as changes all the same: 'ROLLBACK TO a'" in shown
    for other in ("transactions", "sql", "stat"):
        assert messages(capsys, other, str(path)) == ""


def test_rows_of_a_log_without_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.orders (id INT)")
    [path] = builder.save(tmp_path)
    assert messages(capsys, "rows", str(path)) == ""
