"""Batch reads of live servers: what their logs contain between two positions, whichever way these are given."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from binspark.errors import OptionError, Purged
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.servers import StartServer
from tests.support.spark.spark_reading import failure, ordered, records

FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
    pytest.param(MariaDB, marks=pytest.mark.mariadb, id="mariadb"),
]
GTIDS = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}
pytestmark = pytest.mark.timeout(300)

Read = Callable[..., DataFrame]


@pytest.fixture(params=FAMILIES)
def server(request: pytest.FixtureRequest, start_server: StartServer) -> Server:
    """A server with four log files: the table is created in the first, and gets a column in the third."""
    return with_logs(start_server, request.param, "FULL")


def with_logs(start_server: StartServer, family: Family, metadata: str) -> Server:
    server = start_server(family, {"binlog-row-metadata": metadata, **(GTIDS if family is MySQL else {})})
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.stock (id INT PRIMARY KEY AUTO_INCREMENT, item VARCHAR(40))")
    server.query("INSERT INTO shop.stock (item) VALUES ('a'), ('b')")
    server.query("FLUSH BINARY LOGS")
    server.query("UPDATE shop.stock SET item = 'c' WHERE id = 2")
    server.query("FLUSH BINARY LOGS")
    server.query("ALTER TABLE shop.stock ADD COLUMN amount INT")
    server.query("INSERT INTO shop.stock (item, amount) VALUES ('d', 4)")
    server.query("FLUSH BINARY LOGS")
    server.query("DELETE FROM shop.stock WHERE id = 1")
    return server


@pytest.fixture
def read_server(spark: SparkSession, server: Server) -> Read:
    return reader_of(spark, server)


def reader_of(spark: SparkSession, server: Server) -> Read:
    def read(**options: Any) -> DataFrame:
        connection = {"host": "127.0.0.1", "port": server.port, "user": "root"}
        return spark.read.format("binlog").options(**{**connection, **options}).load()

    return read


def items(frame: DataFrame) -> list[tuple[str, str]]:
    return [(row["_op"], row["item"]) for row in ordered(records(frame))]


ALL = [("insert", "a"), ("insert", "b"), ("update", "c"), ("insert", "d"), ("delete", "a")]


def status(server: Server) -> tuple[str, int]:
    statement = "SHOW BINARY LOG STATUS" if server.family is MySQL else "SHOW MASTER STATUS"
    file, position, *_ = server.query(statement)[0]
    return str(file), int(position)


def gtids(server: Server) -> str:
    name = "gtid_executed" if server.family is MySQL else "gtid_binlog_pos"
    return str(server.query(f"SELECT @@GLOBAL.{name}")[0][0]).replace("\n", "")


@pytest.mark.mysql
def test_tasks_know_the_statements_before_their_logs(spark: SparkSession, start_server: StartServer) -> None:
    server = with_logs(start_server, MySQL, "MINIMAL")
    assert items(reader_of(spark, server)(table="shop.stock", maxSplitBytes="1")) == ALL


@pytest.mark.parametrize("split", ["1", "64m"])
def test_a_server_has_the_rows_of_its_logs(read_server: Read, server: Server, spark: SparkSession, split: str) -> None:
    frame = read_server(table="shop.stock", maxSplitBytes=split)
    logs = spark.read.format("binlog").options(table="shop.stock").load([str(log) for log in server.log_files()])
    assert items(frame) == ALL
    assert ordered(records(frame)) == ordered(records(logs))
    assert frame.rdd.getNumPartitions() == (len(server.log_files()) if split == "1" else 1)


def test_every_view_reads_a_server(read_server: Read, server: Server, spark: SparkSession) -> None:
    for view in ("changes", "events", "transactions", "chunks", "tables"):
        rows = {"rows": "json"} if view == "changes" else {}
        size = -1
        while size != log_size(server):  # MariaDB writes a BINLOG_CHECKPOINT some time after a rotation
            size = log_size(server)
            paths = [str(log) for log in server.log_files()]
            on_disk = spark.read.format("binlog").options(view=view, maxSplitBytes="64k", **rows).load(paths)
            expected = shown(on_disk)
            read = shown(read_server(view=view, maxSplitBytes="64k", **rows))
        assert expected
        assert read == expected, view


def shown(frame: DataFrame) -> list[str]:
    """Return rows as text, in one order, without what may differ: the flag of an active log, which a server clears.

    Chunks are compared by their values: bits after the last row of a column may have any value.
    """
    return sorted(map(repr, (_decoded(row.asDict()) for row in frame.drop("flags").collect())))


def _decoded(row: dict[str, Any]) -> dict[str, Any]:
    chunk = row.get("_chunk")
    if chunk is not None:
        with pa.ipc.open_stream(bytes(chunk)) as stream:
            row["_chunk"] = stream.read_all().to_pylist()
    return row


def log_size(server: Server) -> int:
    return sum(log.stat().st_size for log in server.log_files())


def test_positions_limit_what_is_read(read_server: Read, server: Server) -> None:
    _, second, third, _ = (log.name for log in server.log_files())
    assert items(read_server(table="shop.stock", startingOffsets=second)) == ALL[2:]
    assert items(read_server(table="shop.stock", startingOffsets=f"{second}:4", endingOffsets=f"{third}:4")) == [ALL[2]]
    assert items(read_server(table="shop.stock", endingOffsets=second)) == ALL[:2]
    file, position = status(server)
    server.query("INSERT INTO shop.stock (item) VALUES ('e')")
    assert items(read_server(table="shop.stock", startingOffsets=f"{file}:{position}")) == [("insert", "e")]
    assert items(read_server(table="shop.stock", endingOffsets=f"{file}:{position}")) == ALL
    assert read_server(table="shop.stock", startingOffsets="latest").count() == 0


def test_gtids_limit_what_is_read(read_server: Read, server: Server) -> None:
    had = gtids(server)
    server.query("INSERT INTO shop.stock (item) VALUES ('e')")
    server.query("FLUSH BINARY LOGS")
    server.query("INSERT INTO shop.stock (item) VALUES ('f')")
    new = [("insert", "e"), ("insert", "f")]
    assert items(read_server(table="shop.stock", startingOffsets=had)) == new
    assert items(read_server(table="shop.stock", endingOffsets=had)) == ALL
    assert items(read_server(table="shop.stock", startingOffsets=had, endingOffsets=gtids(server))) == new


def test_times_limit_what_is_read(read_server: Read, server: Server) -> None:
    time.sleep(1.1)
    between = datetime.now(UTC)
    time.sleep(1.1)
    server.query("INSERT INTO shop.stock (item) VALUES ('e')")
    text = f"timestamp:{between.isoformat()}"
    assert items(read_server(table="shop.stock", startingOffsets=text)) == [("insert", "e")]
    assert items(read_server(table="shop.stock", endingOffsets=text)) == ALL
    later = "2100-01-01 00:00:00"
    assert items(read_server(table="shop.stock", endingOffsets=later)) == [*ALL, ("insert", "e")]


def test_offsets_that_are_not_valid_say_what_is(read_server: Read, server: Server) -> None:
    first, *_, last = (log.name for log in server.log_files())
    base = first.rpartition(".")[0]
    cases = {
        ("startingOffsets", "tomorrow"): "startingOffsets must be earliest, latest, file:position, GTIDs or timestamp",
        ("endingOffsets", "earliest"): "endingOffsets must be latest, FILE:POSITION, GTIDs or timestamp",
        ("startingOffsets", f"{base}.999999"): f"startingOffsets names {base}.999999, which the server does not have; "
        f"it has {first} to {last}",
        ("endingOffsets", f"{first}:99999999"): f"endingOffsets ({first}:99999999) is after the end of that log",
    }
    for (option, value), message in cases.items():
        error = failure(read_server(view="events", **{option: value}).collect)
        assert isinstance(error, OptionError)
        assert error.message.startswith(message)
    reverse = {"startingOffsets": last, "endingOffsets": first}
    error = failure(lambda: read_server(view="events", **reverse).collect())
    assert error.message == f"endingOffsets is {first}:4, before startingOffsets, {last}:4"


def test_gtids_whose_successors_were_purged_are_an_error(read_server: Read, server: Server) -> None:
    server.query(f"PURGE BINARY LOGS TO '{server.log_files()[2].name}'")
    nothing = "gtid:"
    error = failure(lambda: read_server(view="events", startingOffsets=nothing).collect())
    assert isinstance(error, Purged)
    assert "startingOffsets=earliest reads the rest" in error.message
    assert items(read_server(table="shop.stock")) == ALL[3:]
