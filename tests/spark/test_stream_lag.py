"""How far streams lag behind: in bytes and seconds, from a query and by a listener."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark.spark.lag import lags_of
from binspark.testing.servers import MySQL
from tests.support.servers import StartServer
from tests.support.spark.stream_queries import Stream, copy_logs, live_options, running, wait_for_rows

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]
WAITED_SECONDS = 2.0


def check_lags(lags: list[binspark.Lag], file: str, size: int, rows: int) -> None:
    """Check the lags of a stream that reads one transaction per batch: they decrease to nothing, and add up."""
    assert len({lag.position for lag in lags}) >= rows
    for lag in lags:
        assert lag.head.file == lag.position.file == file
        assert lag.bytes == size - lag.position.offset
    assert [lag.bytes for lag in lags] == sorted((lag.bytes for lag in lags), key=lambda size: -(size or 0))
    assert (lags[-1].bytes, lags[-1].seconds) == (0, 0.0)
    behind = [lag.seconds for lag in lags if lag.bytes]
    assert len(behind) >= rows - 1
    assert all(seconds is None or seconds >= WAITED_SECONDS - 1 for seconds in behind)
    assert any(seconds is not None for seconds in behind)


@pytest.mark.slow
def test_the_lag_of_a_live_stream_decreases_to_nothing(
    spark: SparkSession, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(MySQL, {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"})
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.stock (id INT PRIMARY KEY)")
    for number in range(5):
        server.query(f"INSERT INTO shop.stock VALUES ({number})")
    time.sleep(WAITED_SECONDS)
    heard: list[binspark.Lag] = []
    listener = binspark.LagListener(heard.append)
    spark.streams.addListener(listener)
    try:
        stream = Stream(spark, tmp_path, live_options(server, table="shop.stock", maxTransactionsPerTrigger="1"))
        stream.run()
        log = server.log_files()[-1]
        lags = [lag for progress in stream.progress for lag in lags_of(progress)]
        check_lags(lags, log.name, log.stat().st_size, 5)
        _wait_for(lambda: len(heard) >= len(lags))
        assert [(lag.bytes, lag.position) for lag in heard] == [(lag.bytes, lag.position) for lag in lags]
        with running(stream) as query:
            server.query("INSERT INTO shop.stock VALUES (9)")
            wait_for_rows(query, stream, 6)
            _wait_for(lambda: binspark.lag(query) is not None)
            lag = binspark.lag(query)
            assert lag is not None
            assert (lag.bytes, lag.seconds, lag.query) == (0, 0.0, str(query.id))
    finally:
        spark.streams.removeListener(listener)


def test_the_lag_of_an_archive_decreases_to_nothing(
    spark: SparkSession, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.stock (id INT PRIMARY KEY)")
    for number in range(3):
        server.query(f"INSERT INTO shop.stock VALUES ({number})")
    time.sleep(WAITED_SECONDS)
    copy_logs(server, tmp_path / "archive")
    options = {"table": "shop.stock", "startingOffsets": "earliest", "maxTransactionsPerTrigger": "1"}
    stream = Stream(spark, tmp_path / "checkpoint", options, str(tmp_path / "archive"))
    stream.run()
    lags = [lag for progress in stream.progress for lag in lags_of(progress)]
    log = server.log_files()[-1]
    check_lags([lag for lag in lags if lag.position.file == log.name], log.name, log.stat().st_size, 3)


def test_other_sources_have_no_lag() -> None:
    source: dict[str, Any] = {"endOffset": "5", "latestOffset": '{"file": "x"}'}
    assert lags_of({"name": None, "id": "q", "sources": [source, {"endOffset": None, "latestOffset": None}]}) == []


def _wait_for(is_true: Any) -> None:
    end = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.05)
