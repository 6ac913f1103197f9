"""The metrics of streams, scraped from the driver: of a server that can and cannot be reached, and of an archive."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark.testing.servers import Server
from tests.support.monitoring import free_port, health, wait_for
from tests.support.servers import database
from tests.support.spark.stream_queries import Stream, live_options, running, wait_for_rows
from tests.support.tcp_proxy import proxied

__all__ = ["database"]

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(240)]


def test_a_stream_is_watched_over_a_lost_connection(
    spark: SparkSession, mysql: Server, database: str, tmp_path: Path
) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {database}.stock (id INT PRIMARY KEY)")
    log, port = mysql.log_files()[-1], free_port()
    start = f"{log.name}:{log.stat().st_size}"
    mysql.query(f"INSERT INTO {database}.stock VALUES (1)")
    url = f"http://127.0.0.1:{port}"
    with proxied(mysql.port) as proxy:
        options = live_options(mysql, table=f"{database}.stock", startingOffsets=start, metricsPort=str(port))
        stream = Stream(spark, tmp_path, {**options, "port": str(proxy.port), "sslMode": "disabled"})
        with running(stream) as query:
            wait_for_rows(query, stream, 1)
            found = wait_for(url, lambda found: found.get("binspark_lag_bytes") == 0)
            assert found["binspark_connected"] == 1
            assert found["binspark_read_transactions_total"] >= 1
            assert found["binspark_position_offset_bytes"] > 0
            assert health(url)[1]["command"] == "stream"
            proxy.refusing = True
            proxy.cut()
            gone = wait_for(url, lambda found: found["binspark_reconnects_total"] >= 2)
            assert gone["binspark_connected"] == 0
            wait_for(url, lambda found: found["binspark_lag_seconds"] > gone["binspark_lag_seconds"])
            proxy.refusing = False
            mysql.query(f"INSERT INTO {database}.stock VALUES (2)")
            wait_for_rows(query, stream, 2)
            wait_for(url, lambda found: found.get("binspark_lag_bytes") == 0 and found["binspark_connected"] == 1)


@pytest.mark.slow  # the port of a query that has just ended is waited for
def test_a_port_that_is_taken_fails_the_query(spark: SparkSession, mysql: Server, tmp_path: Path) -> None:
    options = live_options(mysql, startingOffsets="latest", metricsPort=str(mysql.port))
    with pytest.raises(Exception, match=f"metricsPort {mysql.port} of 127.0.0.1 cannot be listened on") as caught:
        Stream(spark, tmp_path, options).run()
    assert isinstance(binspark.binlog_error(caught.value), binspark.OptionError)


def test_a_batch_has_no_metrics(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="metricsPort is only valid for a stream"):
        spark.read.format("binlog").option("metricsPort", "1").load(str(tmp_path)).count()
