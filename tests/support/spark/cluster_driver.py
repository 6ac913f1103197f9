"""A program that a user would write: tests run it on a cluster or against a Connect server, in a process of its own.

Usage: cluster_driver.py ADDRESS LOGS DAMAGED_LOG. The last line that it prints is what it found.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

import binspark

TABLE = "shop.orders"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main(address: str, logs: str, damaged: str) -> None:
    """Read logs, and print what was read."""
    spark = start_session(address)
    if any(ending in binspark.__file__ for ending in (".zip", ".whl")):  # Spark finds only what is installed
        binspark.register(spark)
    found: dict[str, Any] = {"driver": binspark.__file__}
    orders = read(spark, logs, table=TABLE, maxSplitBytes="40k")
    found["operations"] = {row["_op"]: row["count"] for row in orders.groupBy("_op").count().collect()}
    found["failure"] = failure(read(spark, damaged, table=TABLE))
    if address.startswith("spark:"):
        found["executors"] = sorted(set(map(tuple, orders.rdd.mapPartitions(executor_and_sources).collect())))
    else:
        found["connect"] = read_through_connect(spark, logs)
    spark.stop()
    sys.stdout.write(f"{json.dumps(found)}\n")


def start_session(address: str) -> SparkSession:
    if address.startswith("sc:"):
        return SparkSession.builder.remote(address).getOrCreate()
    settings = {
        "spark.cores.max": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.executor.memory": "512m",
        "spark.executorEnv.BINSPARK_CACHE": os.environ["BINSPARK_CACHE"],
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(address).appName("binspark tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def read(spark: SparkSession, path: str, **options: str) -> DataFrame:
    return spark.read.format("binlog").options(**options).load(path)


def executor_and_sources(rows: Iterable[Row]) -> Iterator[list[str]]:
    """Yield where the rows of a partition were read, and by which binspark."""
    for _ in rows:
        pass
    yield [os.getcwd(), binspark.__file__]


def failure(frame: DataFrame) -> dict[str, Any]:
    """Return the error that reading a DataFrame ends with, as the driver sees it."""
    try:
        frame.collect()
    except PySparkException as raised:
        error = binspark.binlog_error(raised)
    if error is None:
        return {}
    at = error.position
    return {"error": type(error).__name__, "file": at.file, "offset": at.offset, "text": error.message}


def read_through_connect(spark: SparkSession, logs: str) -> dict[str, Any]:
    """Read through Spark Connect with `tables`, SQL and a view."""
    tables = binspark.tables(spark, logs, operations=["insert"])
    spark.sql(f"CREATE TEMPORARY VIEW changes USING binlog OPTIONS (path '{logs}')")
    keys = spark.sql("SELECT max(variant_get(_key, '$.id', 'int')) AS id FROM changes WHERE _table = 'orders'")
    return {
        "tables": {name: tables[name].count() for name in tables},
        "key": keys.collect()[0]["id"],
        "schema": read(spark, logs, view="events", body="true").schema["body"].dataType.simpleString(),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
