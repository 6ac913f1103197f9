"""The order of a stream: one over rotations, failovers, resets and restarts, and the same when a batch is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

import binspark
from binspark.testing.servers import Family, MySQL, Server
from tests.support.replicas import catch_up, promote, replicate, reset_logs
from tests.support.servers import StartServer, each_family, every_family
from tests.support.spark.random_work import RandomWork, rows, stored
from tests.support.spark.stream_queries import Stream, live_options

TABLE = "shop.stock"
GTIDS = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}

pytestmark = pytest.mark.timeout(900)


def start_pair(start_server: StartServer, family: Family) -> tuple[Server, Server]:
    """Start a source and its replica, whose logs have smaller numbers."""
    common = {"binlog-row-metadata": "FULL", **(GTIDS if family is MySQL else {})}
    updates = "log-replica-updates" if family is MySQL else "log-slave-updates"
    source = start_server(family, {"server-id": 1, **common})
    replica = start_server(family, {"server-id": 2, "log-bin": "other", updates: "ON", **common})
    for _ in range(4):
        source.query("FLUSH BINARY LOGS")
    replicate(replica, source)
    source.query("CREATE DATABASE shop")
    return source, replica


def pair_options(source: Server, replica: Server) -> dict[str, str]:
    options = live_options(source, table=TABLE, host=f"127.0.0.1:{source.port},127.0.0.1:{replica.port}")
    options.pop("port")
    return options


def check(spark: SparkSession, stream: Stream, server: Server) -> None:
    """See that the order of all rows is that in which they arrived, and gives the rows that the server has."""
    order = [row["_seq"] for row in stream.rows]
    assert order == sorted(set(order))
    frame = spark.createDataFrame(stream.rows, stream.schema)
    assert rows(binspark.latest(frame)) == stored(server, TABLE)


def forget_commit(stream: Stream) -> list[Row]:
    """Let the next run repeat the last batch that had rows; return these rows."""
    last = max(number for number, found in stream.batches.items() if found)
    for path in (stream.checkpoint / "commits").iterdir():
        if path.name.lstrip(".").split(".")[0].isdecimal() and int(path.name.lstrip(".").split(".")[0]) >= last:
            path.unlink()
    for path in (stream.checkpoint / "offsets").iterdir():
        if path.name.lstrip(".").split(".")[0].isdecimal() and int(path.name.lstrip(".").split(".")[0]) > last:
            path.unlink()
    return stream.batches.pop(last)


@pytest.mark.slow
@every_family
def test_the_order_survives_failovers_resets_and_restarts(
    spark: SparkSession, start_server: StartServer, family: Family, tmp_path: Path
) -> None:
    source, replica = start_pair(start_server, family)
    work = RandomWork(TABLE, seed=5)
    work.create(source)
    work.run(source, 15)
    catch_up(replica, source)
    stream = Stream(spark, tmp_path, pair_options(source, replica))
    stream.run(maxTransactionsPerTrigger="7")
    source.query("FLUSH BINARY LOGS")
    work.run(source, 15)
    stream.run()
    check(spark, stream, source)

    replayed = forget_commit(stream)
    stream.run()
    assert sorted(row["_seq"] for row in replayed) == sorted(row["_seq"] for row in stream.rows)[-len(replayed) :]
    check(spark, stream, source)

    work.run(source, 10)
    catch_up(replica, source)
    source.kill()
    promote(replica)
    work.run(replica, 25)
    stream.run()
    check(spark, stream, replica)
    assert {row["_seq"][:4] for row in stream.rows} == {"0000", "0001"}
    assert {row["_log_file"].split(".")[0] for row in stream.rows if row["_seq"] >= "0001"} == {"other"}

    replayed = forget_commit(stream)
    replica.query("FLUSH BINARY LOGS")
    work.run(replica, 10)
    stream.run()
    assert {row["_seq"] for row in replayed} <= {row["_seq"] for row in stream.rows}
    check(spark, stream, replica)

    reset_logs(replica)
    work.run(replica, 10)
    stream.run(failOnDataLoss="false")
    work.run(replica, 10)
    stream.run(failOnDataLoss="false")
    assert max(row["_seq"] for row in stream.rows) >= "0002"
    check(spark, stream, replica)


@each_family
def test_a_batch_that_another_server_repeats_is_in_its_place(
    spark: SparkSession, start_server: StartServer, family: Family, tmp_path: Path
) -> None:
    source, replica = start_pair(start_server, family)
    work = RandomWork(TABLE, seed=6)
    work.create(source)
    stream = Stream(spark, tmp_path, pair_options(source, replica))
    for _ in range(2):
        work.run(source, 15)
        stream.run()
    before = len(stream.rows)
    catch_up(replica, source)
    replayed = forget_commit(stream)
    source.kill()
    promote(replica)
    stream.run()
    assert len(stream.rows) == before
    assert len({row["_seq"] for row in replayed} & {row["_seq"] for row in stream.rows}) == 0
    work.run(replica, 15)
    stream.run()
    check(spark, stream, replica)


@pytest.mark.slow
def test_versions_of_the_feed_rise_where_another_server_is_read_for_a_batch(
    spark: SparkSession, start_server: StartServer, tmp_path: Path
) -> None:
    """Another server repeats a batch of many rows; the next one comes from the first server again."""
    source, replica = start_pair(start_server, MySQL)
    source.query(f"CREATE TABLE {TABLE} (id INT AUTO_INCREMENT PRIMARY KEY, x INT)")
    stream = Stream(spark, tmp_path, {**pair_options(source, replica), "shape": "cdf"})

    def insert(count: int) -> None:
        source.query(f"INSERT INTO {TABLE} (x) VALUES {', '.join(['(1)'] * count)}")

    for count in (3, 3000):
        insert(count)
        source.query(f"UPDATE {TABLE} SET x = x + 1")
        stream.run()
    catch_up(replica, source)
    replayed = forget_commit(stream)
    stream.run(host=f"127.0.0.1:{replica.port}")
    insert(5)
    stream.run()
    batches = [
        [row["_commit_version"] for row in rows if row["_change_type"] != "update_preimage"]
        for _, rows in sorted(stream.batches.items())
        if rows
    ]
    assert [len(versions) for versions in batches] == [6, 6003, 5]
    found = [version for versions in batches for version in sorted(versions)]
    assert found == sorted(set(found))
    assert not {row["_commit_version"] for row in replayed} & set(batches[0] + batches[2])
