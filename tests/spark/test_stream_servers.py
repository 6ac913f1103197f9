"""Streams of live servers: every transaction once and complete, over restarts, rotations and changes of tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.replicas import reset_logs
from tests.support.servers import StartServer
from tests.support.spark.stream_queries import Stream, live_options, running, wait_for_rows

FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
    pytest.param(MariaDB, marks=[pytest.mark.mariadb, pytest.mark.slow], id="mariadb"),
]
"""MariaDB has a stream of its own among the faults; what it does as MySQL does is left to the long run."""

GTIDS = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON"}


def make_table(server: Server, columns: str = "id INT PRIMARY KEY AUTO_INCREMENT, item VARCHAR(40)") -> None:
    server.query("CREATE DATABASE shop")
    server.query(f"CREATE TABLE shop.stock ({columns})")


def insert(server: Server, *items: str) -> None:
    values = ", ".join(f"('{item}')" for item in items)
    server.query(f"INSERT INTO shop.stock (item) VALUES {values}")


@pytest.fixture(params=FAMILIES)
def server(request: pytest.FixtureRequest, start_server: StartServer) -> Server:
    family: Family = request.param
    return start_server(family, {"binlog-row-metadata": "FULL", **(GTIDS if family is MySQL else {})})


@pytest.mark.timeout(300)
def test_a_stream_continues_where_it_ended(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    make_table(server)
    insert(server, "a")
    insert(server, "b", "c")
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock"))
    stream.run()
    assert stream.values("item") == [("a",), ("b",), ("c",)]
    insert(server, "d")
    server.query("FLUSH BINARY LOGS")
    insert(server, "e")
    server.restart()
    insert(server, "f")
    stream.options = live_options(server, table="shop.stock")
    stream.run()
    assert [item for (item,) in stream.values("item")] == list("abcdef")
    logged = [
        (Path(change.file).name, change.pos, change.row)
        for change in binspark.rows([str(log) for log in server.log_files()], tables=["shop.stock"])
    ]
    assert stream.values("_log_file", "_log_pos", "_log_row") == logged
    stream.run()
    assert len(stream.rows) == 6


@pytest.mark.timeout(300)
def test_batches_are_limited_and_never_cut_a_transaction(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    make_table(server)
    for number in range(9):
        insert(server, *(f"{number} {part}" for part in range(3)))
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock", maxTransactionsPerTrigger="4"))
    stream.run()
    sizes = [len(rows) for rows in stream.batches.values() if rows]
    assert sum(sizes) == 27
    assert len(sizes) >= 3
    assert all(size % 3 == 0 and size <= 12 for size in sizes)
    for rows in stream.batches.values():
        assert len({row["_gtid"] for row in rows}) * 3 == len(rows)


@pytest.mark.timeout(300)
def test_offsets_and_progress_say_where_the_stream_is(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    make_table(server)
    insert(server, "a")
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock"))
    stream.run()
    newest = max((tmp_path / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    kept = [json.loads(line) for line in newest.read_text().splitlines()[2:]]
    assert list(kept[-1]) == ["v", "file", "pos", "gtid", "server", "created", "by_file", "lost", "epoch"]
    assert kept[-1]["file"] == server.log_files()[-1].name
    assert kept[-1]["pos"] == server.log_files()[-1].stat().st_size
    assert kept[-1]["gtid"]


@pytest.mark.timeout(300)
def test_a_change_of_the_table_stops_the_stream_and_a_restart_picks_it_up(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    make_table(server)
    insert(server, "a")
    strict = Stream(spark, tmp_path / "strict", live_options(server, table="shop.stock"))
    strict.run()
    insert(server, "b")
    server.query("ALTER TABLE shop.stock ADD COLUMN amount INT")
    server.query("INSERT INTO shop.stock (item, amount) VALUES ('c', 7)")
    with pytest.raises(Exception, match="schemaEvolution=restart") as failure:
        strict.run()
    error = binspark.binlog_error(failure.value)
    assert isinstance(error, binspark.SchemaError)
    strict.run(schemaEvolution="restart")
    assert [row["item"] for row in strict.rows] == ["a", "b", "c"]
    assert strict.rows[-1]["amount"] == 7


@pytest.mark.mysql
@pytest.mark.timeout(300)
def test_views_follow_a_server_too(spark: SparkSession, start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL, GTIDS)
    make_table(server)
    insert(server, "a", "b")
    events = Stream(spark, tmp_path / "events", live_options(server, view="events", body="true"))
    events.run()
    assert "WRITE_ROWS" in {row["type"] for row in events.rows}
    assert any("CREATE TABLE" in str(row["body"]) for row in events.rows if row["type"] == "QUERY")
    changes = Stream(spark, tmp_path / "changes", live_options(server, rows="json"))
    changes.run()
    assert [row["_after"] for row in changes.rows] == ['{"id": 1, "item": "a"}', '{"id": 2, "item": "b"}']
    transactions = Stream(spark, tmp_path / "transactions", live_options(server, view="transactions"))
    transactions.run()
    assert [row["end"] for row in transactions.rows][-1] == "xid"


@pytest.mark.mysql
@pytest.mark.timeout(300)
@pytest.mark.parametrize("start", ["latest", "gtid", "file"])
def test_a_stream_starts_at_its_starting_offsets(
    spark: SparkSession,
    start_server: StartServer,
    tmp_path: Path,
    start: str,
) -> None:
    server = start_server(MySQL, GTIDS)
    make_table(server)
    insert(server, "before")
    file, position, *_, gtids = server.query("SHOW BINARY LOG STATUS")[0]
    text = {"latest": "latest", "gtid": gtids.replace("\n", ""), "file": f"{file}:{position}"}[start]
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock", startingOffsets=text))
    if start == "latest":
        stream.run()
        assert stream.rows == []
    insert(server, "after")
    stream.run()
    assert stream.values("item") == [("after",)]


@pytest.mark.mysql
@pytest.mark.timeout(300)
def test_purged_logs_stop_the_stream_with_advice(
    spark: SparkSession, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"})
    make_table(server)
    insert(server, "a")
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock"))
    stream.run()
    insert(server, "lost")
    for _ in range(2):
        server.query("FLUSH BINARY LOGS")
    server.query(f"PURGE BINARY LOGS TO '{server.log_files()[-1].name}'")
    with pytest.raises(Exception, match=r"[Pp]urged"):
        stream.run()
    insert(server, "left")
    stream.run(failOnDataLoss="false")
    assert stream.values("item") == [("a",), ("left",)]
    insert(server, "next")
    stream.run()
    assert stream.values("item") == [("a",), ("left",), ("next",)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("family", FAMILIES)
def test_statements_between_batches_are_known_to_the_next(
    spark: SparkSession,
    start_server: StartServer,
    family: Family,
    tmp_path: Path,
) -> None:
    """The log contains no column names, and one chunk several changes of a table; batches end between them."""
    server = start_server(family, {"binlog-row-metadata": "MINIMAL"})
    make_table(server)
    insert(server, "a")
    server.query("ALTER TABLE shop.stock ADD COLUMN amount INT FIRST")
    insert(server, "b")
    server.query("ALTER TABLE shop.stock DROP COLUMN amount")
    insert(server, "c")
    server.query("CREATE TABLE shop.other (note VARCHAR(20), id INT)")
    server.query("INSERT INTO shop.other VALUES ('d', 1)")
    options = live_options(server, rows="json", tables="shop.*", maxTransactionsPerTrigger="1")
    stream = Stream(spark, tmp_path, options)
    stream.run()
    assert [json.loads(row["_after"]) for row in stream.rows] == [
        {"id": 1, "item": "a"},
        {"amount": None, "id": 2, "item": "b"},
        {"id": 3, "item": "c"},
        {"note": "d", "id": 1},
    ]


@pytest.mark.timeout(300)
def test_reset_logs_stop_the_stream_or_are_begun_anew(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    make_table(server)
    insert(server, "a")
    insert(server, "b")
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock"))
    stream.run()
    reset_logs(server)
    insert(server, "c")
    with pytest.raises(Exception, match="reset"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.values("item") == [("a",), ("b",), ("c",)]
    insert(server, "d")
    stream.run()
    assert stream.values("item") == [("a",), ("b",), ("c",), ("d",)]


@pytest.mark.timeout(300)
def test_a_reset_under_a_running_stream_is_noticed(spark: SparkSession, server: Server, tmp_path: Path) -> None:
    make_table(server)
    insert(server, "a")
    options = live_options(server, table="shop.stock", failOnDataLoss="false")
    stream = Stream(spark, tmp_path, options)
    with running(stream) as query:
        wait_for_rows(query, stream, 1)
        reset_logs(server)
        insert(server, "b")
        wait_for_rows(query, stream, 2)
    assert stream.values("item") == [("a",), ("b",)]


@pytest.mark.mysql
@pytest.mark.timeout(300)
def test_purged_transactions_are_skipped_if_a_stream_starts_by_gtids(
    spark: SparkSession,
    start_server: StartServer,
    tmp_path: Path,
) -> None:
    server = start_server(MySQL, GTIDS)
    make_table(server)
    gtids = server.query("SHOW BINARY LOG STATUS")[0][-1].replace("\n", "")
    insert(server, "lost")
    server.query("FLUSH BINARY LOGS")
    server.query(f"PURGE BINARY LOGS TO '{server.log_files()[-1].name}'")
    insert(server, "left")
    stream = Stream(spark, tmp_path, live_options(server, table="shop.stock", startingOffsets=gtids))
    with pytest.raises(Exception, match="no longer in the server's logs"):
        stream.run()
    stream.run(failOnDataLoss="false")
    assert stream.values("item") == [("left",)]
