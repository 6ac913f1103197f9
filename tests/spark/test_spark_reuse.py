"""One DataFrame used several times, in any order, is right each time."""

from __future__ import annotations

from pyspark.sql import SparkSession

from binspark.cli.demo import SHOP
from tests.corpus.cases import case_logs
from tests.support.spark.spark_reading import ReadLogs, batch_records, ordered, records

LOGS = SHOP / "mysql"


def test_two_filters_of_one_frame_do_not_meet(read: ReadLogs) -> None:
    orders = read(LOGS, table="shop.orders")
    few, many = orders.where("id < 3"), orders.where("id > 100")
    expected = [row for row in batch_records(LOGS, "shop.orders") if row["id"] < 3 or row["id"] > 100]
    assert ordered(records(few.union(many))) == expected


def test_a_filter_leaves_the_frame_as_it_was(read: ReadLogs) -> None:
    orders = read(LOGS, table="shop.orders")
    assert {row["_op"] for row in records(orders.where("_op = 'delete'"))} == {"delete"}
    assert ordered(records(orders)) == batch_records(LOGS, "shop.orders")
    assert orders.where("_op = 'insert'").count() == orders.count() - orders.where("_op != 'insert'").count()


def test_a_frame_joined_with_itself_sees_all_of_itself(read: ReadLogs) -> None:
    changes = read(LOGS, "_table string, _gtid string, _op string")
    inserts, others = changes.where("_op = 'insert'"), changes.where("_op = 'update'")
    rows = batch_records(LOGS, "shop.orders")
    by_transaction = {row["_gtid"] for row in rows if row["_op"] == "insert"}
    found = inserts.where("_table = 'orders'").select("_gtid").distinct().join(others, "_gtid", "left").select("_gtid")
    assert {row["_gtid"] for row in records(found)} == by_transaction


def test_limit_and_cache_give_rows_of_the_log(read: ReadLogs) -> None:
    orders = read(LOGS, table="shop.orders")
    assert records(orders.limit(3)) == batch_records(LOGS, "shop.orders")[:3]
    cached = orders.cache()
    assert cached.count() == cached.count() == len(batch_records(LOGS, "shop.orders"))
    cached.unpersist()


def test_sql_reads_logs_through_a_view(spark: SparkSession) -> None:
    options = f"path '{LOGS}', table 'shop.orders', before true"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW orders USING binlog OPTIONS ({options})")
    found = spark.sql("SELECT _op, count(*) AS rows, count(_before) AS before FROM orders GROUP BY _op ORDER BY _op")
    assert [tuple(row) for row in found.collect()] == [("delete", 150, 150), ("insert", 151, 0), ("update", 90, 90)]


def test_sql_reads_several_logs_and_counts_their_events(spark: SparkSession) -> None:
    paths = [str(log) for log in case_logs("mysql/rotation")]
    listed = str(paths).replace("'", '"')
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW log USING binlog OPTIONS (paths '{listed}', view 'events')")
    (row,) = spark.sql(
        "SELECT count(DISTINCT file) AS files, count_if(type = 'ROTATE') AS rotations FROM log"
    ).collect()
    assert (row.files, row.rotations) == (4, 3)
