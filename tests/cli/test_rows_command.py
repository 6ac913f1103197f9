"""`binspark rows`, as a person and as a program would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table, update, varchar
from tests.corpus.cases import case_logs

MYSQL = str(SHOP / "mysql")
LAST = str(SHOP / "mysql" / "binlog.000003")
KEYS = [
    "file",
    "pos",
    "row",
    "gtid",
    "timestamp",
    "server_id",
    "thread_id",
    "schema",
    "table",
    "op",
    "before",
    "after",
    "key",
    "statement",
]
UUID = "4efb89a3-e0d3-11f1-9fc1-02fc00000001"


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """Run the command and return its records."""
    assert exit_code(["rows", "--format", "jsonl", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def rows_in(text: str) -> list[str]:
    """Return the lines of rows, without headings."""
    return [line for line in text.splitlines() if not line.startswith("# ")]


def test_every_row_is_one_json_object_with_the_agreed_keys(capsys: pytest.CaptureFixture[str]) -> None:
    shown = rows(capsys, MYSQL)
    assert len(shown) == 919
    assert {tuple(record) for record in shown} == {tuple(KEYS)}


def test_an_order_that_was_deleted_is_shown_with_all_its_values(capsys: pytest.CaptureFixture[str]) -> None:
    shown = rows(capsys, LAST, "--tables", "shop.orders", "--operations", "delete")
    assert len(shown) == 150
    assert shown[0] == {
        "file": "binlog.000003",
        "pos": 629,
        "row": 0,
        "gtid": f"{UUID}:158",
        "timestamp": 1794733359,
        "server_id": 1,
        "thread_id": 10,
        "schema": "shop",
        "table": "orders",
        "op": "delete",
        "before": {
            "id": 1,
            "customer_id": 3,
            "status": "paid",
            "channel": "web",
            "total": "169.80",
            "placed_at": "2026-11-15 09:02:39.781",
            "note": None,
        },
        "after": None,
        "key": {"id": 1},
        "statement": "DELETE FROM orders WHERE status = 'cancelled' OR id > 0 /* ticket 4711: remove order 42 */",
    }


def test_both_families_have_the_same_shop(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--tables", "shop.orders", "--operations", "delete")
    mysql, mariadb = (rows(capsys, str(SHOP / family), *arguments) for family in ("mysql", "mariadb"))
    assert [record["key"] for record in mysql] == [record["key"] for record in mariadb]
    assert [record["before"]["total"] for record in mysql] == [record["before"]["total"] for record in mariadb]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--tables", "shop.customers"], 7),
        (["--tables", "shop.customers", "--tables", "shop.products"], 270),
        (["--tables", "shop.order*"], 649),
        (["--exclude-tables", "shop.order*"], 270),
        (["--operations", "delete"], 150),
        (["--operations", "insert", "--operations", "delete"], 571),
        (["--include-gtids", f"{UUID}:158"], 150),
        (["--exclude-gtids", f"{UUID}:1-157"], 155),
        (["--server-id", "1"], 919),
        (["--server-id", "2"], 0),
        (["--stop-datetime", "2026-11-15 09:02:39"], 0),
        (["--start-datetime", "2026-11-15 09:02:40"], 0),
        (["--start-datetime", "2026-11-15 09:02:39", "--stop-datetime", "2026-11-15 09:02:40"], 919),
    ],
)
def test_options_choose_rows(capsys: pytest.CaptureFixture[str], arguments: list[str], count: int) -> None:
    assert len(rows(capsys, MYSQL, *arguments)) == count


def test_positions_bound_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    everything = rows(capsys, LAST)
    assert rows(capsys, LAST, "--stop-position", "6383") == everything[:150]
    assert rows(capsys, LAST, "--start-position", "6383") == everything[150:]


def test_a_line_for_a_person_says_where_what_and_which_values_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    orders = table("shop.orders", integer("id"), varchar("note", 400))
    log = BinlogBuilder()
    log.transaction(insert(orders, (1, "x" * 100)), update(orders, ((1, "a\x1b[2J"), (1, "b"))))
    log.save(tmp_path)
    assert exit_code(["rows", str(tmp_path)]) == 0
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.startswith("# ")
    assert first.endswith(f'2025-06-15 15:06:40Z  insert  shop.orders  id=1 note="{"x" * 100}"')
    assert second.endswith('update  shop.orders  note: "a\\u001b[2J" → "b"')


def test_a_dump_names_the_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = BinlogBuilder()
    log.full_metadata = False
    log.transaction(insert(table("shop.t", integer("a")), (-1,)))
    logs = log.save(tmp_path)
    dump = tmp_path / "shop.sql"
    dump.write_text("USE shop; CREATE TABLE t (size INT UNSIGNED NOT NULL PRIMARY KEY);")
    assert [record["after"] for record in rows(capsys, str(logs[0]))] == [{"@1": -1}]
    shown = rows(capsys, str(logs[0]), "--schema-file", str(dump))
    assert [(record["after"], record["key"]) for record in shown] == [({"size": 4294967295}, {"size": 4294967295})]


def test_a_table_without_rows_is_reported_with_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["rows", MYSQL, "--tables", "shop.ordres", "--tables", "shop.customers"]) == 0
    captured = capsys.readouterr()
    assert len(rows_in(captured.out)) == 7
    assert (
        captured.err == "binspark: --tables: no table in what was read matches shop.ordres; did you mean shop.orders?\n"
    )


def test_a_statement_that_cannot_be_parsed_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders = table("shop.orders", integer("id"))
    log = BinlogBuilder()
    log.ddl("ALTER TABLE orders FROBNICATE ALL", schema="shop")
    log.transaction(insert(orders, (1,)))
    log.rotate()
    log.transaction(insert(orders, (2,)))
    log.save(tmp_path)
    assert exit_code(["rows", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert len(rows_in(captured.out)) == 2
    assert captured.err.count("\n") == 1
    assert "binlog.000001:" in captured.err
    assert "ALTER TABLE orders FROBNICATE ALL" in captured.err


def test_rows_before_damage_are_shown_and_the_next_file_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "binlog.000001"
    cut.write_bytes(Path(LAST).read_bytes()[:7000])
    assert exit_code(["rows", "--format", "jsonl", str(cut), LAST]) == 1
    captured = capsys.readouterr()
    files = [json.loads(line)["file"] for line in captured.out.splitlines()]
    assert (files.count("binlog.000001"), files.count("binlog.000003")) == (151, 155)
    assert captured.err.startswith(f"binspark: {cut}:")


def test_a_checksum_that_does_not_match_ends_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = tmp_path / "binlog.000001"
    data = bytearray(Path(LAST).read_bytes())
    data[6900] ^= 1
    damaged.write_bytes(data)
    assert exit_code(["rows", str(damaged)]) == 1
    captured = capsys.readouterr()
    assert len(rows_in(captured.out)) == 150
    assert "checksum" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tables", "orders"], "--tables must be schema.table, or a pattern such as 'shop.*', got 'orders'"),
        (["--start-datetime", "noon"], "--start-datetime must be a time such as 2026-11-15 09:30:00, got 'noon'"),
        (
            ["--include-gtids", "0-1-2-3"],
            "--include-gtids must be a GTID set of MySQL, or GTIDs of MariaDB such as 0-1-42",
        ),
        (["--operations", "remove"], "--operations must be insert, update, delete or truncate, got 'remove'"),
        (["--schema-file", "no-such.sql"], "no-such.sql"),
        (["--stop-position", "-1"], "--stop-position must be 1 or more, got '-1'"),
        (["--server-id", "one"], "--server-id must be an integer, got 'one'"),
        (["--tabel", "shop.orders"], "--tables"),
    ],
)
def test_wrong_use_is_named(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert exit_code(["rows", MYSQL, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["--table", "shop.customers"], ["--tables", "shop.customers"]),
        (["--table=shop.customers", "--table", "shop.products"], ["--tables", "shop.customers,shop.products"]),
        (["--exclude-table", "shop.order*"], ["--exclude-tables", "shop.order*"]),
        (["--operation", "delete"], ["--operations", "delete"]),
    ],
    ids=lambda words: words[0],
)
def test_an_old_name_means_the_same_and_is_warned_about(
    capsys: pytest.CaptureFixture[str], old: list[str], new: list[str]
) -> None:
    assert exit_code(["rows", MYSQL, *new]) == 0
    expected = capsys.readouterr()
    assert exit_code(["rows", MYSQL, *old]) == 0
    shown = capsys.readouterr()
    assert shown.out == expected.out
    name = old[0].partition("=")[0]
    warnings = shown.err.splitlines()
    assert set(warnings) == {f"binspark: {name} is deprecated; use {new[0]}"}
    assert expected.err == ""


def test_after_two_dashes_words_are_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["rows", "--", "--table"]) == 1
    assert "deprecated" not in capsys.readouterr().err


def test_documents_and_odd_values_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown = rows(capsys, str(case_logs("mysql/types")[0]))
    kinds = {type(value) for record in shown for value in (record["after"] or {}).values()}
    assert kinds == {int, float, str, dict, list, bool, type(None)}


def test_standard_input_is_a_log() -> None:
    command = [sys.executable, "-m", "binspark", "rows", "-"]
    with Path(LAST).open("rb") as log:
        result = subprocess.run(command, stdin=log, capture_output=True, text=True, check=True)
    assert "delete  shop.orders" in rows_in(result.stdout)[0]
    assert result.stderr == ""
