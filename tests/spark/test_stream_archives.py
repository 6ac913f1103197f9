"""Streams of archives to which logs are added: several readers, rotations, up to the last complete transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import binspark
from binspark.testing.servers import MySQL, Server, start
from tests.support.spark.stream_queries import Stream, copy_logs

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with start(MySQL, {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}) as started:
        started.query("CREATE DATABASE shop")
        started.query("CREATE TABLE shop.stock (id INT PRIMARY KEY AUTO_INCREMENT, item VARCHAR(40))")
        started.query("CREATE TABLE shop.visits (id INT PRIMARY KEY AUTO_INCREMENT, page VARCHAR(40), weight DOUBLE)")
        yield started


def insert(server: Server, count: int) -> None:
    for number in range(count):
        server.query(f"INSERT INTO shop.stock (item) VALUES ('{number}'), ('{number}')")


def logged(archive: Path, table: str = "shop.stock") -> list[tuple[str, int, int]]:
    changes = binspark.rows(str(archive / "*.0*"), tables=[table])
    return [(Path(change.file).name, change.pos, change.row) for change in changes]


def test_an_archive_is_followed_over_rotations(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    insert(server, 5)
    copy_logs(server, archive)
    options = {"table": "shop.stock", "startingOffsets": "earliest", "maxSplitBytes": "1k"}
    stream = Stream(spark, tmp_path / "checkpoint", options, str(archive))
    stream.run()
    assert stream.values("_log_file", "_log_pos", "_log_row") == logged(archive)
    server.query("FLUSH BINARY LOGS")
    insert(server, 5)
    copy_logs(server, archive)
    stream.run(maxBytesPerTrigger="1k")
    assert len([rows for rows in stream.batches.values() if rows]) > 2
    assert stream.values("_log_file", "_log_pos", "_log_row") == logged(archive)


def test_an_incomplete_transaction_waits(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    insert(server, 3)
    copy_logs(server, archive, cut=40)
    options = {"table": "shop.stock", "startingOffsets": "earliest"}
    stream = Stream(spark, tmp_path / "checkpoint", options, str(archive))
    stream.run()
    before = len(stream.rows)
    copy_logs(server, archive)
    assert before == len(logged(archive)) - 2
    stream.run()
    assert stream.values("_log_file", "_log_pos", "_log_row") == logged(archive)


def test_several_tables_are_read_in_one_pass(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    insert(server, 2)
    server.query("INSERT INTO shop.visits (page, weight) VALUES ('home', 0.5), ('cart', 1.5)")
    copy_logs(server, archive)
    found: dict[str, list[tuple[str, int, int]]] = {}

    def apply(chunks: DataFrame, _number: int) -> None:
        chunks.persist()
        for table in binspark.chunk_tables(chunks):
            typed = binspark.expand(chunks, table)
            assert typed is not None
            positions = (
                typed.select("_log_file", "_log_pos", "_log_row").orderBy("_log_file", "_log_pos", "_log_row").collect()
            )
            found.setdefault(table, []).extend(tuple(row) for row in positions)
        chunks.unpersist()

    stream = spark.readStream.format("binlog").options(view="chunks", tables="shop.*", startingOffsets="earliest")
    query = (
        stream.load(str(archive))
        .writeStream.foreachBatch(apply)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert found == {table: logged(archive, table) for table in ("shop.stock", "shop.visits")}


def test_a_missing_log_is_data_loss(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    insert(server, 1)
    copy_logs(server, archive)
    options = {"table": "shop.stock", "startingOffsets": "earliest"}
    stream = Stream(spark, tmp_path / "checkpoint", options, str(archive))
    stream.run()
    read = len(stream.rows)
    insert(server, 1)
    server.query("FLUSH BINARY LOGS")
    insert(server, 1)
    copy_logs(server, archive)
    newest = server.log_files()[-1].name
    for log in archive.glob("*.0*"):
        if log.name != newest:
            log.unlink()
    with pytest.raises(Exception, match="failOnDataLoss=false"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert len(stream.rows) == read + 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "_corrupt"}, "view _corrupt is not available for a stream"),
        ({"startPosition": "5"}, "startPosition is not valid for a stream; use startingOffsets"),
        ({"startingOffsets": "yesterday"}, "startingOffsets must be earliest, latest or file:position for an archive"),
        ({"maxTransactionsPerTrigger": "0"}, "maxTransactionsPerTrigger"),
        ({"schemaEvolution": "guess"}, "schemaEvolution"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_options_are_named(
    spark: SparkSession, server: Server, tmp_path: Path, options: dict[str, str], message: str
) -> None:
    archive = tmp_path / "archive"
    copy_logs(server, archive)
    stream = Stream(spark, tmp_path / "checkpoint", options, str(archive))
    with pytest.raises(Exception, match=message):
        stream.run()
