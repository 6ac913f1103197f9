"""Conditions on values: parsed with clear errors, and evaluated as MySQL compares, whatever the type of the column."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.cli.main import exit_code
from binspark.columns.where.parser import parse_condition
from binspark.errors import OptionError
from binspark.options.values import InvalidValue
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table, update, varchar
from tests.corpus.cases import case_logs

ORDERS = table("shop.orders", integer("id"), varchar("state", 20), integer("amount"))


@pytest.fixture
def logs(tmp_path: Path) -> str:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, "new", 5), (2, "paid", None), (42, "new", -7)))
    log.transaction(update(ORDERS, ((1, "new", 5), (1, "paid", 6)), ((2, "paid", None), (2, "paid", 1))))
    log.transaction(delete(ORDERS, (42, "new", -7)))
    log.save(tmp_path)
    return str(tmp_path)


def found(logs: str, where: str, **options: Any) -> list[tuple[str, Any]]:
    changes = binspark.rows(logs, where=where, **options)
    return [(change.op.value, (change.after or change.before or {})["id"]) for change in changes]


ALL = [("insert", 1), ("insert", 2), ("insert", 42), ("update", 1), ("update", 2), ("delete", 42)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("id = 42", [ALL[2], ALL[5]]),
        ("ID == 42", [ALL[2], ALL[5]]),
        ("42 = `id`", [ALL[2], ALL[5]]),
        ("2 < id", [ALL[2], ALL[5]]),
        ("id != 42 AND state <> 'new'", [ALL[1], ALL[3], ALL[4]]),
        ("id IN (1, 42) and not state = 'new'", [ALL[3]]),
        ("id NOT IN (1, 2)", [ALL[2], ALL[5]]),
        ("id BETWEEN 2 AND 41.5", [ALL[1], ALL[4]]),
        ("amount IS NULL", [ALL[1]]),
        ("amount IS NOT NULL AND amount < 0", [ALL[2], ALL[5]]),
        ("amount = -7.0", [ALL[2], ALL[5]]),
        ("amount < 5.5 AND amount > 4.5", [ALL[0]]),
        ("amount = 5.5", []),
        ("amount > 99999999999999999999", []),
        ("amount < 99999999999999999999", [ALL[0], ALL[2], ALL[3], ALL[4], ALL[5]]),
        ("state LIKE 'n_w'", [ALL[0], ALL[2], ALL[5]]),
        ("state NOT LIKE '%a%' OR id = 2", [ALL[0], ALL[1], ALL[2], ALL[4], ALL[5]]),
        ("before.state = 'new'", [ALL[3], ALL[5]]),
        ("after.state = 'new'", [ALL[0], ALL[2]]),
        ("before.state <> after.state", [ALL[3]]),
        ("before.amount IS NULL", [ALL[4]]),
        ("(id = 1 OR id = 2) AND (state = 'paid')", [ALL[1], ALL[3], ALL[4]]),
        ("NOT (id = 1 OR id = 2)", [ALL[2], ALL[5]]),
    ],
)
def test_conditions_select_rows(logs: str, where: str, expected: list[tuple[str, int]]) -> None:
    assert found(logs, where) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [("no_such_column = 1", []), ("no_such_column = 1 OR id = 1", [ALL[0], ALL[3]])],
)
def test_a_column_that_no_table_has_is_unknown(logs: str, where: str, expected: list[tuple[str, int]]) -> None:
    with pytest.warns(binspark.UnmatchedWarning, match="no table in what was read has a column no_such_column"):
        assert found(logs, where) == expected


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("", "expected a value, found the end"),
        ("id", "expected a comparison such as = or IS NULL, found the end, at character 3"),
        ("id = ", "expected a value, found the end"),
        ("id = 1 state", "expected AND, OR or the end, found 'state', at character 8"),
        ("(id = 1", "expected ), found the end"),
        ("id = 'x", "a string without its end, at character 6"),
        ("id = NULL", "nothing equals NULL; write IS NULL or IS NOT NULL"),
        ("1 = 2", "a comparison needs a column"),
        ("id # 1", "unexpected '#', at character 4"),
        ("orders.id = 1", "only before and after may precede a column"),
        ("id LIKE 5", "LIKE needs a pattern in quotes"),
        ("id IN ()", "expected a value, found ')'"),
        ("id = 1e999", "the number 1e999 is out of range"),
        ("(" * 200 + "id = 1" + ")" * 200, "more than 100 parentheses"),
        ("id NOT 5", "expected IN, LIKE or BETWEEN, found '5'"),
    ],
)
def test_what_is_no_condition_is_explained(where: str, problem: str) -> None:
    with pytest.raises(InvalidValue) as error:
        parse_condition(where)
    assert problem in str(error.value)


def test_a_literal_of_another_type_is_an_error_that_names_the_column(logs: str) -> None:
    with pytest.raises(OptionError, match=r"compares column 'id' of shop.orders \(LONG\) with 'x', expected a number"):
        found(logs, "id = 'x'")
    with pytest.raises(OptionError, match="expected text, in quotes"):
        found(logs, "state = 5")


def test_columns_of_the_condition_need_not_be_selected(logs: str) -> None:
    batches = list(binspark.batches(logs, table="shop.orders", columns=["state"], where="before.id = 1"))
    assert [batch.schema.names[-1] for batch in batches] == ["state"]
    assert [row["state"] for batch in batches for row in batch.to_pylist()] == ["paid"]


def test_the_command_line_has_the_same_condition(logs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["rows", logs, "--format", "jsonl", "--where", "id = 42 AND amount < 0"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(record["op"], record["key"]) for record in shown] == [("insert", None), ("delete", None)]
    assert exit_code(["rows", logs, "--where", "id ="]) == 2
    assert "--where must be a condition such as" in capsys.readouterr().err
    assert exit_code(["rows", logs, "--where", "id = 'x'"]) == 2
    assert "--where compares column 'id' of shop.orders" in capsys.readouterr().err


TYPES = [log for family in ("mysql", "mariadb") for log in case_logs(f"{family}/types")]


def _literal(value: Any) -> str | None:
    """Return a printed value as a literal of a condition; None if it is compared by IS NULL alone."""
    if isinstance(value, bool | dict | list) or value is None:
        return None
    if isinstance(value, int | float):
        return repr(value)
    return str(value) if value.startswith("0x") else "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


@pytest.mark.slow
@pytest.mark.parametrize("log", TYPES, ids=lambda log: f"{log.parent.parent.name}-{log.name}")
@pytest.mark.parametrize("read", [binspark.rows], ids=["rows"])
def test_a_value_is_found_by_what_is_printed_of_it(log: Path, read: Callable[..., Any]) -> None:
    """Each value of every type, printed and typed again, finds its row."""
    from binspark.changes import change_json

    records = [(change, json.loads(change_json(change))) for change in binspark.rows(log, operations="insert")]
    checked = 0
    for change, record in records[:40]:
        for name, value in record["after"].items():
            literal = _literal(value)
            condition = f"`{name}` IS NULL" if value is None else f"`{name}` = {literal}"
            if _is_document(change, name) or (value is not None and literal is None):
                continue
            same = read(log, operations="insert", tables=[change.table_schema.name], where=condition)
            assert (change.pos, change.row) in [(other.pos, other.row) for other in same], condition
            checked += 1
    assert checked > 50


def _is_document(change: binspark.Change, name: str) -> bool:
    from binspark.event.column_types import ColumnType

    table_schema = change.table_schema
    return table_schema.columns[table_schema.column_names.index(name)].type is ColumnType.JSON
