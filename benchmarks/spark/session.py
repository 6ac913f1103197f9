"""The Spark session of benchmarks, and the sinks to which rows are written."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.timing import best_seconds

REPEATS = 3
_QUIET = """
rootLogger.level = error
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""


def make_session(folder: Path, cores: int = 2) -> SparkSession:
    """Start local Spark on some cores, on loopback, without log messages."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = folder / "log4j2.properties"
    quiet.write_text(_QUIET)
    return (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile=file:{quiet}")
        .config("spark.local.dir", str(folder))
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def to_noop(df: DataFrame, _folder: Path) -> None:
    df.write.format("noop").mode("overwrite").save()


def to_count(df: DataFrame, _folder: Path) -> None:
    df.count()


def to_parquet(df: DataFrame, folder: Path) -> None:
    target = folder / "parquet"
    shutil.rmtree(target, ignore_errors=True)
    df.write.parquet(str(target))


def to_shuffle(df: DataFrame, _folder: Path) -> None:
    df.repartition(2, "id").write.format("noop").mode("overwrite").save()


SINKS: dict[str, Callable[[DataFrame, Path], None]] = {
    "noop": to_noop,
    "count": to_count,
    "parquet": to_parquet,
    "shuffle": to_shuffle,
}


def best_warm_seconds(work: Callable[[], None]) -> float:
    """Return the shortest time of several calls, after one to warm up."""
    work()
    return best_seconds(work, REPEATS)
