"""Splits of any size contain the same rows."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame

from binspark.cli.demo import SHOP
from tests.corpus.cases import case_logs
from tests.support.spark.spark_reading import ReadLogs, batch_records, ordered, records

CASES = {
    "shop": [SHOP / "mysql"],
    "shop of mariadb": [SHOP / "mariadb"],
    "compressed": case_logs("mysql/compressed"),
    "crash": case_logs("mysql/restart-after-crash"),
    "crash of mariadb": case_logs("mariadb/restart-after-crash"),
    "xa": case_logs("mysql/xa"),
    "relay logs": case_logs("mysql/replica"),
}
LARGE = ("shop", "shop of mariadb")
VIEWS = {
    "changes": ("shop", "shop of mariadb", "compressed", "crash", "relay logs"),
    "transactions": ("shop", "crash", "crash of mariadb", "xa", "relay logs"),
    "events": ("shop", "compressed", "crash of mariadb"),
}


def contents(frame: DataFrame) -> list[str]:
    """Return the rows of a DataFrame as texts, sorted."""
    texts = frame.selectExpr("to_json(struct(*)) AS row").collect()
    return sorted(row.row for row in texts)


@pytest.mark.parametrize(("view", "case"), [(view, case) for view, cases in VIEWS.items() for case in cases])
def test_small_splits_contain_what_one_split_contains(view: str, case: str, read: ReadLogs) -> None:
    unsplit = read(CASES[case], view=view)
    parts = read(CASES[case], view=view, maxSplitBytes="24k" if case in LARGE else "1k")
    assert parts.rdd.getNumPartitions() >= (1 if case == "relay logs" else 3)
    assert contents(parts) == contents(unsplit)


def test_the_rows_of_a_typed_table_are_the_same(read: ReadLogs) -> None:
    parts = read(SHOP / "mysql", table="shop.orders", maxSplitBytes="8k")
    assert parts.rdd.getNumPartitions() > 20
    assert ordered(records(parts)) == batch_records(SHOP / "mysql", "shop.orders")


def test_sums_over_tables_are_the_same(read: ReadLogs) -> None:
    sums = "schema", "table", "operation"
    parts = read(SHOP / "mysql", view="tables", maxSplitBytes="24k").groupBy(*sums).sum("rows", "bytes")
    unsplit = read(SHOP / "mysql", view="tables").groupBy(*sums).sum("rows", "bytes")
    assert contents(parts) == contents(unsplit)


@pytest.mark.parametrize(("size", "count"), [("1g", 1), ("200k", 2), ("100k", 4), ("64 KiB", 6), ("10000", 24)])
def test_the_size_of_splits_determines_the_number_of_partitions(size: str, count: int, read: ReadLogs) -> None:
    """The logs have 77,851, 148,372 and 7,780 bytes; consecutive small logs share a split."""
    assert read(SHOP / "mysql", maxSplitBytes=size).rdd.getNumPartitions() == count


def test_splits_may_be_smaller_than_any_event(
    read: ReadLogs,
) -> None:
    logs = case_logs("mysql/compressed")
    parts = read(logs, "_gtid string", maxSplitBytes=100)
    assert parts.rdd.getNumPartitions() == -(-logs[0].stat().st_size // 100)
    assert contents(parts) == contents(read(logs, "_gtid string"))
