"""`binspark transactions --count-rows`."""

from __future__ import annotations

import json

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from tests.corpus.cases import case_logs

LAST = str(SHOP / "mysql" / "binlog.000003")


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_the_rows_of_each_table_and_operation_are_counted(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["transactions", "--count-rows", "--format", "jsonl", str(SHOP / family)]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    deleted = [changes for record in shown for changes in record["rows"] if changes["operation"] == "delete"]
    assert [(changes["table"], changes["rows"]) for changes in deleted] == [("orders", 150)]
    assert sum(changes["rows"] for record in shown for changes in record["rows"]) == 919


def test_rows_are_counted_inside_payloads(capsys: pytest.CaptureFixture[str]) -> None:
    log = str(case_logs("mysql/compressed")[0])
    assert exit_code(["transactions", "--count-rows", "--format", "jsonl", log]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(changes["rows"] for record in shown for changes in record["rows"]) == 13


def test_text_shows_the_number_after_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["transactions", "--count-rows", LAST]) == 0
    assert "delete shop.orders (150 rows)" in capsys.readouterr().out.splitlines()[0]


def test_rows_are_not_counted_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["transactions", "--format", "jsonl", LAST]) == 0
    (changes,) = json.loads(capsys.readouterr().out.splitlines()[0])["rows"]
    assert list(changes) == ["schema", "table", "operation", "events", "bytes"]
