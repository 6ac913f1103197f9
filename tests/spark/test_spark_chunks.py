"""The view `chunks`: several tables in one pass over the logs, each as its typed DataFrame would be."""

from __future__ import annotations

import binspark
from binspark.cli.demo import SHOP
from tests.corpus.cases import case_logs
from tests.support.spark.spark_reading import ReadLogs, ordered, records

LOGS = SHOP / "mysql"


def test_chunks_contain_the_rows_of_every_table(read: ReadLogs) -> None:
    chunks = read(LOGS, view="chunks", maxSplitBytes="64k")
    assert binspark.chunk_tables(chunks) == ["shop.customers", "shop.order_lines", "shop.orders", "shop.products"]
    orders, typed = binspark.expand(chunks, "shop.orders"), read(LOGS, table="shop.orders", txRows=True)
    assert orders is not None
    assert orders.schema == typed.schema
    assert ordered(records(orders)) == ordered(records(typed))


def test_chunks_keep_every_type(read: ReadLogs) -> None:
    logs = case_logs("mysql/types")
    chunks = read(logs, view="chunks", json="variant", tables="shop.moments,shop.documents,shop.shapes")
    for table in binspark.chunk_tables(chunks):
        expanded, typed = binspark.expand(chunks, table), read(logs, table=table, json="variant", txRows=True)
        assert expanded is not None
        assert expanded.schema == typed.schema
        texts = [frame.selectExpr("to_json(struct(*)) AS row").collect() for frame in (expanded, typed)]
        assert texts[0] == texts[1]


def test_a_table_without_chunks_is_none(read: ReadLogs) -> None:
    assert binspark.expand(read(LOGS, view="chunks", tables="shop.products"), "shop.orders") is None
