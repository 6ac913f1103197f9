"""Typed tables as Debezium's change events and as Delta's change data feed: jobs that were written for those work.

Each job is as its users write it: only what it reads differs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from binspark.errors import OptionError, Unsupported
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.spark.spark_reading import failure, records
from tests.support.spark.stream_queries import Stream, live_options

pytestmark = pytest.mark.timeout(300)

WORKLOAD = (
    "INSERT INTO {0}.orders VALUES (1, 'a', 1.50), (2, 'b', 2.50), (3, 'c', 3.50), (4, 'd', 4.50), (5, NULL, NULL)",
    "UPDATE {0}.orders SET item = CONCAT(item, '!') WHERE id < 3",
    "UPDATE {0}.orders SET id = id + 1 ORDER BY id DESC",
    "DELETE FROM {0}.orders WHERE id = 3",
    "INSERT INTO {0}.orders VALUES (3, 'again', 9.99)",
    "BEGIN; UPDATE {0}.orders SET total = 7 WHERE id = 4; UPDATE {0}.orders SET total = 8 WHERE id = 4;"
    " DELETE FROM {0}.orders WHERE id = 5; COMMIT",
    "UPDATE {0}.orders SET id = 100 WHERE id = 2",
)
"""Updates of rows, updates that move keys onto keys that were there before, several changes of a row at once."""


@pytest.fixture
def logged(shared: Server, database: str) -> str:
    shared.run_sql(f"FLUSH BINARY LOGS; CREATE DATABASE {database}")
    shared.run_sql(f"CREATE TABLE {database}.orders (id INT PRIMARY KEY, item VARCHAR(20), total DECIMAL(8,2))")
    for statement in WORKLOAD:
        shared.run_sql(statement.format(database))
    return f"{database}.orders"


def current(server: Server, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table as text, in the order of their keys."""
    return [tuple(row) for row in server.query(f"SELECT id, item, total FROM {table} ORDER BY id")]


def as_text(frame: DataFrame) -> list[tuple[Any, ...]]:
    rows = frame.orderBy("id").select("id", "item", "total").collect()
    return [tuple(None if value is None else str(value) for value in row) for row in rows]


def shown(server: Server, table: str) -> list[tuple[Any, ...]]:
    return [tuple(None if value is None else str(value) for value in row) for row in current(server, table)]


def merge_cdf(target: DataFrame, changes: DataFrame) -> DataFrame:
    """Apply a change data feed as Delta's documentation does: the last version of each key, then MERGE."""
    newest = Window.partitionBy("id").orderBy(F.desc("_commit_version"))
    source = changes.where("_change_type != 'update_preimage'").withColumn("rank", F.rank().over(newest))
    source = source.where("rank = 1")
    assert source.count() == source.select("id").distinct().count(), "MERGE refuses two rows of a key"
    kept = target.join(source, "id", "left_anti")
    return kept.unionByName(source.where("_change_type != 'delete'").select(*target.columns))


def merge_debezium(target: DataFrame, events: DataFrame) -> DataFrame:
    """Apply change events: of each key the last one by its position, `after` unless it was deleted."""
    newest = Window.partitionBy("key.id").orderBy(
        F.desc("source.file"), F.desc("source.pos"), F.desc("source.row"), F.expr("op = 'd'")
    )
    last = events.withColumn("number", F.row_number().over(newest)).where("number = 1")
    kept = target.join(last.select("key.id"), "id", "left_anti")
    return kept.unionByName(last.where("op != 'd'").select("after.*"))


MERGES = {"cdf": merge_cdf, "debezium": merge_debezium}


def quick_pairs(*quick: tuple[str, Family]) -> pytest.MarkDecorator:
    """Try every shape with both families: these pairs in the quick tests."""
    pairs = [
        pytest.param(
            shape, family, id=f"{shape}-{family.name}", marks=() if (shape, family) in quick else pytest.mark.slow
        )
        for shape in MERGES
        for family in (MySQL, MariaDB)
    ]
    return pytest.mark.parametrize(("shape", "family"), pairs)


def read(spark: SparkSession, server: Server, table: str, **options: str) -> DataFrame:
    """Read the server's last log: each test begins one."""
    return spark.read.format("binlog").options(table=table, **options).load(str(server.log_files()[-1]))


@quick_pairs(("cdf", MariaDB), ("debezium", MySQL))
def test_a_merge_job_gives_the_rows_of_the_table(
    spark: SparkSession, shared: Server, logged: str, family: Family, shape: str
) -> None:
    empty = spark.createDataFrame([], "id int, item string, total decimal(8,2)")
    assert as_text(MERGES[shape](empty, read(spark, shared, logged, shape=shape))) == shown(shared, logged)


@quick_pairs(("debezium", MariaDB))
def test_a_merge_job_follows_a_stream(
    spark: SparkSession, shared: Server, logged: str, family: Family, shape: str, tmp_path: Path
) -> None:
    start = f"{shared.log_files()[-1].name}:4"
    options = live_options(shared, table=logged, shape=shape, maxTransactionsPerTrigger="2", startingOffsets=start)
    target = spark.createDataFrame([], "id int, item string, total decimal(8,2)")
    stream = Stream(spark, tmp_path, options)
    stream.run()
    for number in sorted(stream.batches):
        if stream.batches[number]:
            batch = spark.createDataFrame(stream.batches[number], schema_of(spark, shared, logged, shape))
            merged = MERGES[shape](target, batch).collect()
            target = spark.createDataFrame(merged, target.schema)
    assert len([rows for rows in stream.batches.values() if rows]) > 2
    assert as_text(target) == shown(shared, logged)


def schema_of(spark: SparkSession, server: Server, table: str, shape: str) -> Any:
    return read(spark, server, table, shape=shape).schema


def test_the_feed_has_the_columns_of_delta(spark: SparkSession, mysql: Server, database: str) -> None:
    mysql.run_sql(
        f"FLUSH BINARY LOGS; CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY, x INT)"
    )
    mysql.run_sql(f"INSERT INTO {database}.t VALUES (1, 1); UPDATE {database}.t SET x = 2; DELETE FROM {database}.t")
    frame = read(spark, mysql, f"{database}.t", shape="cdf")
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        ("id", "int"), ("x", "int"),
        ("_change_type", "string"), ("_commit_version", "bigint"), ("_commit_timestamp", "timestamp"),
    ]  # fmt: skip
    rows = frame.orderBy("_commit_version", "_change_type").drop("_commit_timestamp").collect()
    assert [(row["id"], row["x"], row["_change_type"]) for row in rows] == [
        (1, 1, "insert"), (1, 2, "update_postimage"), (1, 1, "update_preimage"), (1, 2, "delete"),
    ]  # fmt: skip
    versions = [row["_commit_version"] for row in rows]
    assert versions == sorted(versions)
    assert versions[1] == versions[2]
    narrow = (
        spark.read.format("binlog").schema("x int, _change_type string").options(table=f"{database}.t", shape="cdf")
    )
    narrowed = narrow.load(str(mysql.log_files()[-1]))
    assert sorted(map(tuple, narrowed.collect())) == [
        (1, "insert"), (1, "update_preimage"), (2, "delete"), (2, "update_postimage"),
    ]  # fmt: skip


def test_change_events_have_the_fields_of_debezium(spark: SparkSession, mysql: Server, database: str) -> None:
    table = f"{database}.t"
    mysql.run_sql(f"FLUSH BINARY LOGS; CREATE DATABASE {database}; CREATE TABLE {table} (id INT PRIMARY KEY, x INT)")
    mysql.run_sql(f"INSERT INTO {table} VALUES (1, 1); UPDATE {table} SET x = 2; UPDATE {table} SET id = 5")
    mysql.run_sql(f"DELETE FROM {table}; INSERT INTO {table} VALUES (7, 7); TRUNCATE TABLE {table}")
    frame = read(spark, mysql, table, shape="debezium").orderBy("source.sequence", F.desc("op"))
    found = records(frame)
    assert [(row["op"], row["key"], row["before"], row["after"]) for row in found] == [
        ("c", {"id": 1}, None, {"id": 1, "x": 1}),
        ("u", {"id": 1}, {"id": 1, "x": 1}, {"id": 1, "x": 2}),
        ("d", {"id": 1}, {"id": 1, "x": 2}, None),
        ("c", {"id": 5}, None, {"id": 5, "x": 2}),
        ("d", {"id": 5}, {"id": 5, "x": 2}, None),
        ("c", {"id": 7}, None, {"id": 7, "x": 7}),
        ("t", None, None, None),
    ]
    typed = read(spark, mysql, table).orderBy("_seq").collect()
    first, row = found[0], typed[0]
    assert first["ts_ms"] == first["source"]["ts_ms"] == int(row["_commit_time"].timestamp() * 1000)
    source = {name: first["source"][name] for name in ("db", "table", "file", "pos", "row", "gtid", "sequence")}
    assert source == {
        "db": database, "table": "t", "file": row["_log_file"], "pos": row["_log_pos"], "row": row["_log_row"],
        "gtid": row["_gtid"], "sequence": row["_seq"],
    }  # fmt: skip
    assert (first["source"]["connector"], first["source"]["snapshot"]) == ("mysql", "false")


def test_a_truncation_is_not_lost_in_the_feed(spark: SparkSession, mysql: Server, database: str) -> None:
    table = f"{database}.t"
    mysql.run_sql(f"FLUSH BINARY LOGS; CREATE DATABASE {database}; CREATE TABLE {table} (id INT PRIMARY KEY)")
    mysql.run_sql(f"INSERT INTO {table} VALUES (1); TRUNCATE TABLE {table}")
    error = failure(lambda: read(spark, mysql, table, shape="cdf").collect())
    assert isinstance(error, Unsupported)
    assert f"shape=cdf cannot express that {table} was emptied by TRUNCATE or DROP TABLE" in error.message
    skipped = read(spark, mysql, table, shape="cdf", operations="insert,update,delete")
    assert [row["id"] for row in skipped.collect()] == [1]


def test_a_form_needs_a_table_and_has_columns_of_its_own(spark: SparkSession, mysql: Server, database: str) -> None:
    mysql.run_sql(
        f"FLUSH BINARY LOGS; CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT, _change_type INT)"
    )
    mysql.run_sql(f"INSERT INTO {database}.t VALUES (1, 2)")
    paths = str(mysql.log_files()[-1])
    error = failure(lambda: spark.read.format("binlog").option("shape", "cdf").load(paths).collect())
    assert isinstance(error, OptionError)
    assert error.message == "shape cdf needs the option table: it is a form of one table's rows"
    error = failure(lambda: read(spark, mysql, f"{database}.t", shape="cdf").collect())
    assert error.message.startswith("shape cdf has a column _change_type of its own, which")
    assert read(spark, mysql, f"{database}.t", shape="debezium").select("after._change_type").collect()[0][0] == 2
