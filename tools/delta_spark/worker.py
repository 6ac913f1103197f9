"""Runs in the environment of `tools.delta_spark`: executes statements that come in pickled, and answers in kind.

A pair instead of a statement is a setting of the session, and its value; None lets it have its default.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_TICKS = os.sysconf("SC_CLK_TCK")


def main(settings: list[str]) -> None:
    """Answer statements until the input ends; Spark itself may print what it likes, to the log."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    spark = session(settings)
    jvm = java_child()
    while True:
        try:
            statement = pickle.load(sys.stdin.buffer)
        except EOFError:
            break
        before = cpu_seconds(jvm)
        try:
            found: Any = answer(spark, statement)
        except Exception as error:
            found = str(error)
        pickle.dump((found, cpu_seconds(jvm) - before), answers)
        answers.flush()
    spark.stop()


def answer(spark: SparkSession, statement: str | tuple[str, str | None]) -> list[dict[str, Any]]:
    """Execute a statement, or change a setting; return the rows."""
    if isinstance(statement, str):
        return [row.asDict(recursive=True) for row in spark.sql(statement).collect()]
    name, value = statement
    if value is None:
        spark.conf.unset(name)
    else:
        spark.conf.set(name, value)
    return []


def session(settings: list[str]) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").appName("delta")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    for name, value in [*fixed.items(), *(setting.split("=", 1) for setting in settings)]:
        builder = builder.config(name, value)
    return builder.getOrCreate()


def java_child() -> int:
    """Return the process of the JVM that Spark has started."""
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
    return next(int(child) for child in children if Path(f"/proc/{child}/comm").read_text().strip() == "java")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    main(sys.argv[1:])
