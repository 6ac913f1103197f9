"""Streams of live servers while something breaks under them: every row comes once, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from binspark.testing.servers import MariaDB, MySQL, Server
from tests.support.replicas import catch_up, promote, replicate
from tests.support.servers import StartServer
from tests.support.spark.stream_queries import Stream, live_options, running, wait_for_rows
from tests.support.tcp_proxy import proxied

GTIDS = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}
LARGE = 3 << 20
"""More than travels with a partition: the executor reads it from the server."""

pytestmark = pytest.mark.timeout(300)


def make_table(server: Server) -> None:
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.stock (id INT PRIMARY KEY, item LONGTEXT)")


def insert(server: Server, number: int, size: int = 10) -> None:
    server.query("INSERT INTO shop.stock VALUES (%s, REPEAT('x', %s))", (number, size))


def numbers(stream: Stream) -> list[int]:
    return [number for (number,) in stream.values("id")]


@pytest.mark.mysql
def test_a_network_that_is_cut_or_silent(spark: SparkSession, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL, GTIDS)
    make_table(server)
    with proxied(server.port) as proxy:
        options = live_options(server, table="shop.stock", port=str(proxy.port))
        stream = Stream(spark, tmp_path, options)
        with running(stream) as query:
            insert(server, 1)
            wait_for_rows(query, stream, 1)
            proxy.cut()
            insert(server, 2)
            wait_for_rows(query, stream, 2)
            proxy.stall()
            insert(server, 3)
            insert(server, 4, LARGE)
            proxy.cut()
            proxy.flow()
            wait_for_rows(query, stream, 4)
            proxy.budgets = [200_000, 1_000_000]
            insert(server, 5, LARGE)
            wait_for_rows(query, stream, 5)
    assert numbers(stream) == [1, 2, 3, 4, 5]


@pytest.mark.mariadb
def test_a_server_that_restarts_and_rotates(spark: SparkSession, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MariaDB)
    make_table(server)
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock"))
    with running(stream) as query:
        insert(server, 1)
        wait_for_rows(query, stream, 1)
        server.kill()
        server.restart()
        insert(server, 2, LARGE)
        server.query("FLUSH BINARY LOGS")
        insert(server, 3)
        wait_for_rows(query, stream, 3)
    assert numbers(stream) == [1, 2, 3]


@pytest.mark.mysql
def test_a_replica_that_is_promoted(spark: SparkSession, start_server: StartServer, tmp_path: Path) -> None:
    source = start_server(MySQL, {"server-id": 1, **GTIDS})
    replica = start_server(MySQL, {"server-id": 2, "log-bin": "other", **GTIDS})
    replicate(replica, source)
    make_table(source)
    hosts = f"127.0.0.1:{source.port},127.0.0.1:{replica.port}"
    options = {**live_options(source, table="shop.stock"), "host": hosts}
    options.pop("port")
    stream = Stream(spark, tmp_path, options)
    with running(stream) as query:
        for number in (1, 2):
            insert(source, number)
        wait_for_rows(query, stream, 2)
        insert(source, 3)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, 4, LARGE)
        insert(replica, 5)
        wait_for_rows(query, stream, 5)
    insert(replica, 6)
    stream.run(host=f"127.0.0.1:{replica.port}")
    assert numbers(stream) == [1, 2, 3, 4, 5, 6]
    files = [file for (file,) in stream.values("_log_file")]
    assert files[0].startswith("binlog.")
    assert files[-1].startswith("other.")
