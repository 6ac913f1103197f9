"""A filter takes rows away and changes none: neither their values nor their numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark import Change
from binspark.testing.builder import MARIADB_11_8, MYSQL_9_7
from binspark.testing.builder.writer import FIRST_TIMESTAMP, SERVER_UUID
from tests.corpus.cases import case_logs
from tests.support.changes.change_logs import busy_log
from tests.support.changes.change_tables import by_batches, by_rows

MOMENT = FIRST_TIMESTAMP + 4
SOME = {f"{SERVER_UUID}:{number}" for number in (1, 2, 3, 7)}
Filter = tuple[dict[str, Any], Callable[[Change], bool]]

LOGS = {
    "mysql": (MYSQL_9_7, False),
    "mysql-payloads": (MYSQL_9_7, True),
    "mariadb": (MARIADB_11_8, False),
    "mariadb-compressed": (MARIADB_11_8, True),
}
OTHERS: tuple[Filter, ...] = (
    ({"operations": "update"}, lambda change: change.op == "update"),
    ({"operations": ["insert", "delete"]}, lambda change: change.op in ("insert", "delete")),
    ({"start_position": 1000}, lambda change: change.pos >= 1000),
    ({"stop_position": 1000}, lambda change: change.pos < 1000),
    ({"start_datetime": MOMENT}, lambda change: change.timestamp >= MOMENT),
    ({"stop_datetime": MOMENT}, lambda change: change.timestamp < MOMENT),
    ({"server_id": 2}, lambda change: change.server_id == 2),
    ({"include_gtids": f"{SERVER_UUID}:1-3:7"}, lambda change: change.gtid in SOME),
)
TABLES: tuple[Filter, ...] = (
    ({"tables": ["shop.orders"]}, lambda change: change.table == "orders"),
    ({"tables": ["*.*c*", "x.y"]}, lambda change: change.table == "customers"),
    ({"exclude_tables": ["shop.*"]}, lambda change: change.schema != "shop"),
    ({"tables": []}, lambda _change: False),
    (
        {"exclude_tables": "crm.customers", "operations": "insert"},
        lambda change: (change.table, change.op) == ("orders", "insert"),
    ),
)


@pytest.fixture(params=LOGS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    server, compress = LOGS[request.param]
    return busy_log(tmp_path, server, compress=compress)


@pytest.mark.parametrize(
    ("options", "is_kept"), [*TABLES, *OTHERS], ids=lambda value: "" if callable(value) else str(value)
)
def test_a_filter_keeps_some_rows_as_they_are(
    log: Path, options: dict[str, Any], is_kept: Callable[[Change], bool]
) -> None:
    everything = list(binspark.rows(log))
    assert len(everything) == 40
    assert list(binspark.rows(log, **options)) == [change for change in everything if is_kept(change)]


@pytest.mark.parametrize("options", [options for options, _ in OTHERS], ids=str)
def test_both_paths_filter_alike(log: Path, options: dict[str, Any]) -> None:
    assert by_rows([log], **options) == by_batches([log], **options)


def test_excluded_transactions_are_the_others(log: Path) -> None:
    chosen = f"{SERVER_UUID}:1-3:7"
    included, excluded = binspark.rows(log, include_gtids=chosen), binspark.rows(log, exclude_gtids=chosen)
    positions = {(change.pos, change.row) for change in binspark.rows(log)}
    assert {(change.pos, change.row) for change in [*included, *excluded]} == positions


@pytest.mark.parametrize("case", ["mysql/compressed", "mysql/multi-table", "mariadb/compressed", "mariadb/multi-table"])
def test_file_position_and_row_number_identify_and_order_rows(case: str) -> None:
    positions = [(change.file, change.pos, change.row) for change in binspark.rows(case_logs(case))]
    assert len(positions) > 0
    assert positions == sorted(set(positions))


def test_rows_inside_a_payload_are_numbered_through_all_its_tables(tmp_path: Path) -> None:
    changes = list(binspark.rows(busy_log(tmp_path, MYSQL_9_7, compress=True)))
    assert [change.row for change in changes] == [0, 1, 2, 3, 4] * 8
    assert [change.table for change in changes[:4]] == ["customers", "customers", "orders", "customers"]
    assert len({change.pos for change in changes}) == 8
