"""Tables and columns that options name, but no log has, are a warning: a typing error looks like an empty log."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import binspark
from binspark.changes.selection_options import make_selection
from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table

LOGS = str(SHOP / "mysql")
NO_TABLE = "no table in what was read matches shop.ordres; did you mean shop.orders?"
NO_COLUMN = "no table in what was read has a column statsu; did you mean status?"
COMMANDS = ["rows", "events", "transactions", "stat", "sql", "sql --undo", "dump", "cut", "export", "report", "diff"]


def errors_of(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, *options: str) -> list[str]:
    name, *own = command.split()
    files = [LOGS, LOGS] if name == "diff" else [LOGS]
    output = ["-o", str(tmp_path / f"{name}.output")] if name in ("cut", "export", "report") else []
    assert exit_code([name, *files, *own, *output, *options]) == 0
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_warns_of_a_table_that_no_log_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    assert f"binspark: --tables: {NO_TABLE}" in errors_of(capsys, tmp_path, command, "--tables", "shop.ordres")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_warns_of_a_column_that_no_table_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    shown = errors_of(capsys, tmp_path, command, "--where", "after.statsu = 'paid' AND id > 0")
    assert f"binspark: --where: {NO_COLUMN}" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_what_the_logs_have_is_no_reason_to_warn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    options = ["--tables", "shop.o*", "--exclude-tables", "*.order_lines", "--where", "STATUS = 'none' AND id = 1"]
    assert not [line for line in errors_of(capsys, tmp_path, command, *options) if "no table" in line]


def test_without_a_similar_name_the_tables_and_their_columns_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["rows", LOGS, "--tables", "crm.*", "--exclude-tables", "x.y"]) == 0
    found = "it has shop.customers, shop.order_lines, shop.orders, shop.products"
    assert capsys.readouterr().err == f"binspark: --tables: no table in what was read matches crm.*; {found}\n"
    assert exit_code(["rows", LOGS, "--tables", "shop.customers", "--where", "zip = 1"]) == 0
    problem = "no table in what was read has a column zip; it has shop.customers (id, name, since)"
    assert capsys.readouterr().err == f"binspark: --where: {problem}\n"


def test_a_log_without_names_of_columns_asks_for_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.transaction(insert(table("shop.t", integer("a"), integer("b")), (1, 2)))
    (log,) = builder.save(tmp_path)
    assert exit_code(["rows", str(log), "--where", "a = 1"]) == 0
    problem = "no table in what was read has a column a; it has shop.t (@1, @2); --schema-file names the columns"
    assert capsys.readouterr().err == f"binspark: --where: {problem}\n"


def test_a_log_without_rows_misses_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = BinlogBuilder()
    builder.stop()
    (log,) = builder.save(tmp_path)
    assert exit_code(["rows", str(log), "--tables", "shop.orders", "--where", "id = 1"]) == 0
    assert capsys.readouterr().err == ""


def test_a_command_that_fails_does_not_warn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken").write_bytes(b"no log")
    assert exit_code(["export", LOGS, str(tmp_path / "broken"), "-o", str(tmp_path / "out"), "--tables", "a.b"]) == 1
    assert "--tables" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: binspark.batches(LOGS, table="shop.ordres"), f"table: {NO_TABLE}"),
        (lambda: binspark.batches(LOGS, tables="shop.ordres"), f"tables: {NO_TABLE}"),
        (lambda: binspark.rows(LOGS, tables=["shop.ordres"]), f"tables: {NO_TABLE}"),
        (lambda: binspark.rows(LOGS, where="statsu = 1"), f"where: {NO_COLUMN}"),
        (lambda: binspark.sql(LOGS, tables="shop.ordres"), f"tables: {NO_TABLE}"),
        (lambda: [binspark.report(LOGS, tables="shop.ordres")], f"tables: {NO_TABLE}"),
    ],
)
def test_in_python_it_is_a_warning_at_the_line_that_reads(read: Callable[[], Iterable[object]], message: str) -> None:
    with pytest.warns(binspark.UnmatchedWarning) as caught:
        list(read())
    assert [(str(warning.message), warning.filename) for warning in caught] == [(message, __file__)]


def test_python_does_not_warn_of_what_was_found() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(binspark.batches(LOGS, table="shop.orders", where="id = 1"))


def test_after_very_many_tables_nothing_is_said_to_be_missing() -> None:
    selection = make_selection({"tables": ["shop.orders"]})
    for number in range(19_999):
        selection.wants(f"shop.t{number}")
    assert list(selection.unmatched())
    for number in range(20_001):
        selection.wants(f"shop.t{number}")
    assert not list(selection.unmatched())
