"""Compressed logs in Spark: the same rows, and one task for each file."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from binspark.testing.builder import BinlogBuilder, insert, integer, table, update
from tests.support.spark.spark_reading import ReadLogs, records

ORDERS = table("shop.orders", integer("id"), integer("total"))


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    """Two logs with rows of several threads, and the table's DDL in the first."""
    log = BinlogBuilder()
    log.full_metadata = False
    log.ddl("CREATE TABLE shop.orders (id INT PRIMARY KEY, total INT)", schema="shop")
    for number in range(20):
        log.thread_id = 1 + number % 2
        log.transaction(insert(ORDERS, (number, 1)), update(ORDERS, ((number, 1), (number, 2))))
        if number == 9:
            log.rotate()
    log.stop()
    return log.save(tmp_path)


def test_compressed_logs_have_the_rows_of_the_logs(logs: list[Path], tmp_path: Path, read: ReadLogs) -> None:
    folder = tmp_path / "compressed"
    folder.mkdir()
    first, second = logs
    (folder / f"{first.name}.gz").write_bytes(gzip.compress(first.read_bytes()))
    (folder / f"{second.name}.xz").write_bytes(lzma.compress(second.read_bytes()))
    for options in ({"rows": "json"}, {"table": "shop.orders"}, {"view": "transactions"}):
        expected = records(read(logs, **options))
        found = read([folder], maxSplitBytes="500", **options)
        assert found.rdd.getNumPartitions() == 2
        assert [str(row) for row in records(found)] == [str(row) for row in expected]


def test_a_thread_selects_rows_and_transactions(logs: list[Path], read: ReadLogs) -> None:
    rows = records(read(logs, table="shop.orders", threadId="2"))
    assert {row["id"] % 2 for row in rows} == {1}
    assert len(rows) == 20
    found = records(read(logs, view="transactions", threadId="2"))
    assert {row["thread_id"] for row in found} == {2}
    assert len(found) == 10
