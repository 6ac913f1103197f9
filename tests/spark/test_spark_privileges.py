"""What a user needs to read a server with Spark: each privilege that is missing is named, with its statement."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import binspark
from binspark.testing.servers import Family, Server
from tests.support.servers import each_family
from tests.support.spark.stream_queries import Stream, live_options

pytestmark = pytest.mark.timeout(300)
STATEMENT = re.compile(r"GRANT [^.]+? ON \S+ TO `[^`]*`@`[^`]*`")


def failure_of(stream: Stream) -> Exception | None:
    """Run a stream; return why it failed."""
    try:
        stream.run()
    except PySparkException as failure:
        return failure
    return None


@each_family
def test_a_typed_stream_needs_what_its_errors_say_and_no_more(
    spark: SparkSession, shared: Server, database: str, tmp_path: Path, family: Family
) -> None:
    shared.query("FLUSH BINARY LOGS")
    start = f"{shared.log_files()[-1].name}:4"
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.stock (id INT PRIMARY KEY)")
    shared.run_sql(f"INSERT INTO {database}.stock VALUES (1); CREATE USER {database}")
    options = live_options(shared, user=database, table=f"{database}.stock", startingOffsets=start)
    granted: list[str] = []
    stream = Stream(spark, tmp_path / "0", options)
    while (failure := failure_of(stream)) is not None:
        error = binspark.binlog_error(failure)
        assert error is not None, failure
        (statement,) = STATEMENT.findall(error.message)
        assert statement not in granted
        granted.append(statement)
        shared.run_sql(statement)
        stream = Stream(spark, tmp_path / str(len(granted)), options)
    assert stream.values("id") == [(1,)]
    account = f"`{database}`@`%`"
    client = "REPLICATION CLIENT" if family.name == "mysql" else "BINLOG MONITOR"
    assert set(granted) == {
        f"GRANT {client} ON *.* TO {account}",
        f"GRANT REPLICATION SLAVE ON *.* TO {account}",
        f"GRANT SELECT ON `{database}`.`stock` TO {account}",
    }
    batch = spark.read.format("binlog").options(**options).load()
    assert [row["id"] for row in batch.collect()] == [1]
