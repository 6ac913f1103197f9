"""A job as users write it, with Spark's own builder: tests run it in processes with hardly any environment.

Usage: plain_job.py LOGS. The last line that it prints is what it found, or why it failed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

import binspark

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def main(logs: str) -> None:
    """Read logs, and print what was read."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    spark = builder.config("spark.driver.extraJavaOptions", QUICK_START).getOrCreate()
    binspark.register(spark)
    found: dict[str, Any] = {"driver": sys.executable}
    try:
        orders = spark.read.format("binlog").option("table", "shop.orders").load(logs)
        found["rows"] = orders.count()
        found["worker"] = spark.sparkContext.parallelize([1], 1).map(lambda _: sys.executable).first()
    except Exception as error:
        found["failure"] = str(error)
    spark.stop()
    sys.stdout.write(f"{json.dumps(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
