"""Several ways to read the same rows: binspark, decoded batches, Spark's own readers, and a peer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from benchmarks.decode.logs import Log
from benchmarks.decode.python_replication import open_peer
from benchmarks.spark import ceiling

TABLE = "bench.sales"


def options_of(log: Log, folder: Path) -> dict[str, str]:
    """Return the options of a typed table; column names come from a dump, because the server logs none by default."""
    dump = folder / "schema.sql"
    dump.write_text(f"CREATE DATABASE bench; USE bench; {log.workload.table};")
    return {"path": str(log.path), "table": TABLE, "schemaFile": str(dump)}


def binspark_source(spark: SparkSession, options: dict[str, str]) -> Callable[[], DataFrame]:
    """Read the log."""
    return lambda: spark.read.format("binlog").options(**options).load()


def decoded_source(spark: SparkSession, options: dict[str, str], folder: Path) -> Callable[[], DataFrame]:
    """Read the same batches, decoded before."""
    spark.dataSource.register(ceiling.DecodedSource)
    target = folder / "decoded"
    target.mkdir()
    ceiling.write_batches(options, target)
    schema = binspark_source(spark, options)().schema
    return lambda: spark.read.format("decoded").schema(schema).load(str(target))


def text_source(spark: SparkSession, kind: str, rows: DataFrame, folder: Path) -> Callable[[], DataFrame]:
    """Read the same rows from CSV or JSON, with a given schema."""
    target = folder / kind
    rows.write.format(kind).save(str(target))
    schema = rows.schema
    return lambda: spark.read.format(kind).schema(schema).load(str(target))


def peer_rows(port: int, log_file: str, max_rows: int) -> Callable[[Iterable[int]], Iterator[tuple[Any, ...]]]:
    """Return a function for `mapPartitions`: python-mysql-replication, which reads from a server."""

    def read(_: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        stream = open_peer(port, log_file)
        count = 0
        try:
            for event in stream:
                for row in getattr(event, "rows", ()):
                    yield tuple(row["values"].values())
                    count += 1
                    if count >= max_rows:
                        return
        finally:
            stream.close()

    return read


def peer_source(
    spark: SparkSession, port: int, log_file: str, rows: int, schema: StructType
) -> Callable[[], DataFrame]:
    """Read rows in the obvious way: one partition, in which the peer reads."""
    plain = StructType([field for field in schema if not field.name.startswith("_")])

    def read() -> DataFrame:
        found = spark.sparkContext.parallelize([0], 1).mapPartitions(peer_rows(port, log_file, rows))
        return spark.createDataFrame(found, plain, verifySchema=False)

    return read


def has_peer() -> bool:
    try:
        import pymysqlreplication  # noqa: F401
    except ImportError:
        print("python-mysql-replication is not installed: pip install -e '.[bench]'", file=sys.stderr)
        return False
    return True
