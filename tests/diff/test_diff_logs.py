"""`binspark diff` of logs that are made to order: which differences count, and how they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from binspark.cli.diff import diff_command
from binspark.frames import ChecksumAlgorithm
from binspark.testing.builder import (
    MARIADB_11_8,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
    update,
    varchar,
)
from tests.corpus.cases import CORPUS

ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
ITEMS = table("shop.items", integer("id"))
Write = Callable[[BinlogBuilder], None]
UUID = BinlogBuilder().server_uuid


def run(a: Path | str, b: Path | str, *options: str) -> Result:
    return CliRunner().invoke(diff_command, (str(a), str(b), *options))


def findings(a: Path | str, b: Path | str, *options: str) -> list[dict[str, Any]]:
    result = run(a, b, "--format", "jsonl", *options)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == (0 if found[-1]["summary"]["equal"] else 1)
    return found


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [finding["finding"] for finding in found[:-1]]


def saved(folder: Path, *transactions: Write, server: ServerKind = MYSQL_9_7, **settings: Any) -> Path:
    log = BinlogBuilder(server, **settings)
    for write in transactions:
        write(log)
    log.stop()
    folder.mkdir()
    log.save(folder)
    return folder


def order(number: int, note: str | None = "new", **settings: Any) -> Write:
    return lambda log: log.transaction(insert(ORDERS, (number, note)), **settings)


@pytest.mark.parametrize("server", [MYSQL_5_5, MYSQL_9_7, MARIADB_11_8], ids=["5.5", "9.7", "mariadb"])
def test_logs_with_the_same_contents_are_equal_however_they_are_written(tmp_path: Path, server: ServerKind) -> None:
    def work(log: BinlogBuilder) -> None:
        log.ddl("CREATE TABLE orders (id INT, note VARCHAR(40))", schema="shop")
        log.transaction(insert(ORDERS, (1, "a"), (2, None)), update(ORDERS, ((1, "a"), (1, "b"))))

    def later(log: BinlogBuilder) -> None:
        log.rotate()
        log.timestamp += 1000

    def split(log: BinlogBuilder) -> None:
        log.ddl("CREATE TABLE orders (id INT, note VARCHAR(40))", schema="shop")
        log.transaction(
            insert(ORDERS, (1, "a")),
            insert(ORDERS, (2, None)),
            update(ORDERS, ((1, "a"), (1, "b"))),
            text=None if server is MYSQL_5_5 else "INSERT INTO orders …",
            compress=None if server is MYSQL_5_5 else True,
        )

    a = saved(tmp_path / "a", work, server=server)
    b = saved(tmp_path / "b", later, split, server=server, checksum=ChecksumAlgorithm.NONE)
    (summary,) = findings(a, b)
    assert summary["summary"]["rows_a"] == summary["summary"]["rows_b"] == 3
    assert summary["summary"]["matched_by"] == ("contents" if server is MYSQL_5_5 else "gtid")


@pytest.mark.parametrize(
    "case", ["mysql/json-partial", "mysql/types", "mysql/xa", "mariadb/compressed", "mariadb/load-data"]
)
def test_a_recorded_log_equals_itself(case: str) -> None:
    (summary,) = findings(CORPUS / case, CORPUS / case)
    assert summary["summary"]["transactions_a"] > 0


def test_the_same_gtid_with_another_value_is_shown_with_both_rows(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", order(1), order(2, "right"), order(3))
    b = saved(tmp_path / "b", order(1), order(2, "wrong"), order(3))
    found, summary = findings(a, b)
    assert (found["finding"], found["gtid"]) == ("different", f"{UUID}:2")
    assert [row["after"] for row in found["rows_a"]] == [{"id": 2, "note": "right"}]
    assert [row["after"] for row in found["rows_b"]] == [{"id": 2, "note": "wrong"}]
    assert summary["summary"]["different"] == 1
    text = run(a, b).stdout.splitlines()
    assert text[0].startswith(f"different  {UUID}:2  ")
    assert text[1] == '    - insert shop.orders {"id": 2, "note": "right"}'
    assert text[2] == '    + insert shop.orders {"id": 2, "note": "wrong"}'
    assert text[3].startswith("1 with the same GTID and other contents  (A: 3 transactions, 3 rows; B: 3")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda log: log.ddl("DROP TABLE x", schema="shop"), lambda log: log.ddl("DROP TABLE x", schema="crm")),
        (lambda log: log.ddl("DROP TABLE x"), lambda log: log.ddl("DROP TABLE y")),
        (order(1, None), order(1, "")),
        (order(1), lambda log: log.transaction(insert(ORDERS, (1, "new"), (1, "new")))),
        (order(1), lambda log: log.transaction(update(ORDERS, ((1, "old"), (1, "new"))))),
        (
            lambda log: log.transaction("UPDATE t SET a = 1", "UPDATE t SET b = 2"),
            lambda log: log.transaction("UPDATE t SET b = 2", "UPDATE t SET a = 1"),
        ),
    ],
    ids=["schema of a statement", "text", "NULL", "twice", "operation", "order of statements"],
)
def test_contents_differ(tmp_path: Path, first: Write, second: Write) -> None:
    found = findings(saved(tmp_path / "a", first), saved(tmp_path / "b", second))
    assert kinds(found) == ["different"]


def test_what_only_one_side_has_is_found_by_gtid(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", order(1, gtid=f"{UUID}:1"), order(2, gtid=f"{UUID}:2"))
    b = saved(tmp_path / "b", order(1, gtid=f"{UUID}:1"), order(3, gtid=f"{UUID}:5"))
    found = findings(a, b)
    assert [(each["finding"], each["gtid"]) for each in found[:-1]] == [
        ("only_in_a", f"{UUID}:2"),
        ("only_in_b", f"{UUID}:5"),
    ]
    assert found[0]["rows_a"][0]["after"] == {"id": 2, "note": "new"}


def test_transactions_before_the_first_log_of_the_other_side_are_not_compared(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", order(1), order(2), lambda log: log.rotate(), order(3))
    (summary,) = findings(a, a / "binlog.000002")
    assert (summary["summary"]["equal"], summary["summary"]["older"]) == (True, 2)


def test_transactions_without_gtids_are_found_by_their_contents(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", *(order(n, gtid="anonymous") for n in (1, 1, 2)))
    b = saved(tmp_path / "b", *(order(n, gtid="anonymous") for n in (1, 2, 3)))
    found = findings(a, b)
    assert [(each["finding"], each["gtid"]) for each in found[:-1]] == [("only_in_a", None), ("only_in_b", None)]
    assert found[0]["rows_a"][0]["after"]["id"] == 1
    assert found[1]["rows_b"][0]["after"]["id"] == 3
    assert "compared by their contents" in run(a, b).stdout


def test_logs_of_both_families_are_compared_by_their_contents(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a", order(1)), saved(tmp_path / "b", order(1), server=MARIADB_11_8)
    (summary,) = findings(a, b)
    assert (summary["summary"]["equal"], summary["summary"]["matched_by"]) == (True, "contents")


def test_another_order_is_reported_unless_it_is_ignored(tmp_path: Path) -> None:
    numbers = [1, 2, 3, 4]
    a = saved(tmp_path / "a", *(order(n, gtid=f"{UUID}:{n}") for n in numbers))
    b = saved(tmp_path / "b", *(order(n, gtid=f"{UUID}:{n}") for n in (2, 3, 4, 1)))
    found = findings(a, b)
    assert [(each["finding"], each["gtid"]) for each in found[:-1]] == [("order", f"{UUID}:1")]
    assert len(findings(a, b, "--ignore-order")) == 1


def test_options_select_what_is_compared(tmp_path: Path) -> None:
    item: Write = lambda log: log.transaction(insert(ITEMS, (1,)))  # noqa: E731
    a = saved(tmp_path / "a", order(1), order(2), item)
    b = saved(tmp_path / "b", order(1), order(2, "other"), item)
    assert kinds(findings(a, b)) == ["different"]
    for options in (
        ("--tables", "shop.items"),
        ("--exclude-tables", "shop.orders"),
        ("--operations", "delete"),
        ("--where", "id = 1"),
        ("--exclude-gtids", f"{UUID}:2"),
        ("--server-id", "99"),
        ("--stop-datetime", "1970-01-02 00:00:00"),
    ):
        assert kinds(findings(a, b, *options)) == [], options
    found = findings(a, b, "--where", "note = 'other'")
    assert kinds(found) == ["only_in_b"]
    assert found[0]["rows_b"] == [
        {"schema": "shop", "table": "orders", "op": "insert", "before": None, "after": {"id": 2, "note": "other"}}
    ]


def test_a_transaction_that_is_cut_off_is_not_compared(tmp_path: Path) -> None:
    a = saved(tmp_path / "a", order(1), order(2))
    cut = saved(tmp_path / "b", order(1), lambda log: log.gtid(f"{UUID}:2"), lambda log: log.query("BEGIN"))
    found = findings(a, cut)
    assert kinds(found) == ["only_in_a"]
    assert found[-1]["summary"]["incomplete"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "x"), "standard input cannot be compared"),
        (("no-such-file", "no-such-file"), "no-such-file"),
        (("mysql://", "x"), "must be mysql://"),
        (("mysql://127.0.0.1:1", "x", "--start-position", "4"), "for a server use --start"),
    ],
)
def test_wrong_use_says_what_to_do(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    log = str(saved(tmp_path / "log", order(1)))
    result = run(*(log if argument == "x" else argument for argument in arguments))
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "Traceback" not in result.output
