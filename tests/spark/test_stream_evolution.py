"""Streams of tables that change: renamed columns are followed, the rest stops the stream with advice that works."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import binspark
from binspark import SchemaError
from binspark.event.column_types import ColumnType
from binspark.testing.builder import BinlogBuilder, Table, decimal, insert, integer, table, varchar
from binspark.testing.servers import MySQL
from tests.support.servers import StartServer
from tests.support.spark.stream_queries import Stream, live_options

pytestmark = pytest.mark.timeout(300)

CREATE = "CREATE TABLE items (id INT, price DECIMAL(5,2), name VARCHAR(10))"
OLD = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("name", 40))
Step = str | tuple[Table, tuple[object, ...]]


class Archive:
    """A folder with one log that grows, and a stream of the table in it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.log = BinlogBuilder()
        (folder / "logs").mkdir()

    def add(self, *steps: Step) -> None:
        for step in steps:
            if isinstance(step, str):
                self.log.ddl(step, schema="shop")
            else:
                self.log.transaction(insert(*step))
        self.log.save(self.folder / "logs")

    def stream(self, checkpoint: str = "checkpoint", **options: str) -> Stream:
        chosen = {"table": "shop.items", "startingOffsets": "earliest", **options}
        return Stream(self.spark, self.folder / checkpoint, chosen, str(self.folder / "logs"))

    def load(self, stream: Stream, schema: str | None = None, **options: str) -> DataFrame:
        """Return the stream with the schema that it has now, or with another one."""
        reader = self.spark.readStream.format("binlog").options(**{**stream.options, **options})
        return (reader if schema is None else reader.schema(schema)).load(stream.path)


@pytest.fixture
def archive(spark: SparkSession, tmp_path: Path) -> Archive:
    return Archive(spark, tmp_path)


def run(stream: Stream, frame: DataFrame) -> None:
    stream.start(frame, availableNow=True).awaitTermination()


def failure(stream: Stream, frame: DataFrame) -> SchemaError:
    with pytest.raises(Exception, match=r"schema|column") as raised:
        run(stream, frame)
    error = binspark.binlog_error(raised.value)
    assert isinstance(error, SchemaError), raised.value
    return error


RENAMED = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("title", 40))


def test_a_column_that_is_renamed_meanwhile_keeps_its_name_in_the_query(archive: Archive) -> None:
    archive.add(CREATE, (OLD, (1, "9.99", "a")))
    stream = archive.stream()
    frame = archive.load(stream)
    archive.add((OLD, (2, "9.99", "b")), "ALTER TABLE items RENAME COLUMN name TO title", (RENAMED, (3, "1", "c")))
    run(stream, frame)
    assert stream.values("id", "name") == [(1, "a"), (2, "b"), (3, "c")]


def test_a_column_that_was_renamed_before_has_its_new_name_in_all_rows(archive: Archive) -> None:
    archive.add(CREATE, (OLD, (1, "9.99", "a")), "ALTER TABLE items RENAME COLUMN name TO title")
    archive.add((RENAMED, (2, "1", "b")))
    stream = archive.stream()
    run(stream, archive.load(stream))
    assert stream.values("id", "title") == [(1, "a"), (2, "b")]


WIDER = table("shop.items", integer("id", ColumnType.LONGLONG), decimal("price", 5, 2), varchar("name", 40))
LONGER = table("shop.items", *OLD.columns, integer("amount"))
WHOLE = table("shop.items", integer("id"), integer("price"), varchar("name", 40))


@pytest.mark.parametrize(
    ("change", "new", "row"),
    [
        ("ADD COLUMN amount INT", LONGER, (2, "1", "b", 7)),
        ("MODIFY id BIGINT", WIDER, (2**40, "1", "b")),
        ("MODIFY price INT", WHOLE, (2, 7, "b")),
    ],
    ids=["another column", "a wider type", "another type"],
)
def test_a_change_that_the_query_cannot_follow_ends_the_batch_and_a_restart_continues(
    archive: Archive, change: str, new: Table, row: tuple[object, ...]
) -> None:
    archive.add(CREATE)
    stream = archive.stream()
    frame = archive.load(stream)
    archive.add((OLD, (1, "9.99", "a")), f"ALTER TABLE items {change}", (new, row))
    error = failure(stream, frame)
    assert error.message.startswith("the table changed while the query was running: ")
    assert "set schemaEvolution=restart and start the query again with the same checkpoint" in error.message
    assert stream.values("id", "name") == [(1, "a")]
    run(stream, archive.load(stream, schemaEvolution="restart"))
    assert [str(stream.rows[1][column.name]) for column in new.columns] == [
        "1.00" if value == "1" else str(value) for value in row
    ]
    assert len(stream.rows) == 2


@pytest.fixture
def conflict(archive: Archive) -> Archive:
    """An archive with rows on both sides of a change of type that loses values."""
    archive.add(CREATE, (OLD, (1, "9.99", "a")), "ALTER TABLE items MODIFY price INT", (WHOLE, (2, 7, "b")))
    return archive


def advice(conflict: Archive, pattern: str) -> str:
    """Return what the error about the types of the archive advises."""
    stream = conflict.stream("first", schemaEvolution="restart")
    found = re.search(pattern, failure(stream, conflict.load(stream)).message)
    assert found is not None
    return found[1]


def test_a_column_with_two_types_can_be_read_as_text(conflict: Archive) -> None:
    stream = conflict.stream(stringColumns=advice(conflict, r"stringColumns=(\w+) reads it as text"))
    run(stream, conflict.load(stream))
    assert stream.values("id", "price") == [(1, "9.99"), (2, "7")]


def test_rows_before_the_change_are_read_with_their_own_schema(conflict: Archive) -> None:
    stream = conflict.stream()
    own = advice(conflict, r'\.schema\("([^"]+)"\) reads the rows up to the change')
    error = failure(stream, conflict.load(stream, own))
    assert error.message.startswith("rows do not fit the .schema(…) of the query: price cannot become decimal128(5, 2)")
    assert "change or remove it, and start the query again with the same checkpoint" in error.message
    assert stream.values("id", "price") == [(1, Decimal("9.99"))]
    run(stream, conflict.load(stream, schemaEvolution="restart"))
    assert stream.values("id", "price") == [(1, Decimal("9.99")), (2, 7)]


def test_a_new_checkpoint_can_begin_after_the_change(conflict: Archive) -> None:
    position = advice(conflict, r"startingOffsets=(\S+) with a new checkpoint skips them")
    stream = conflict.stream("second", startingOffsets=position)
    run(stream, conflict.load(stream))
    assert stream.values("id", "price") == [(2, 7)]


def test_an_own_schema_shields_from_columns_that_it_does_not_name(archive: Archive) -> None:
    archive.add(CREATE, (OLD, (1, "9.99", "a")))
    stream = archive.stream()
    frame = archive.load(stream, "id int, _log_file string, _log_pos bigint, _log_row int")
    short = table("shop.items", integer("id"), integer("name"), integer("amount"))
    archive.add("ALTER TABLE items DROP COLUMN price, MODIFY name INT, ADD COLUMN amount INT", (short, (2, 3, 4)))
    run(stream, frame)
    assert stream.values("id") == [(1,), (2,)]


def test_a_column_of_an_own_schema_that_is_dropped_stops_the_stream(archive: Archive) -> None:
    archive.add(CREATE, (OLD, (1, "9.99", "a")))
    stream = archive.stream()
    own = "id int, name string, _log_pos bigint"
    frame = archive.load(stream, own)
    later = archive.load(stream, own, missingColumns="null")
    archive.add("ALTER TABLE items DROP COLUMN name", (table("shop.items", *OLD.columns[:2]), (2, "1")))
    error = failure(stream, frame)
    assert "it has no column 'name' any more" in error.message
    assert "set missingColumns=null to have it NULL from there on" in error.message
    run(stream, later)
    assert stream.values("id", "name") == [(1, "a"), (2, None)]


@pytest.mark.mysql
@pytest.mark.parametrize("metadata", [pytest.param("FULL", marks=pytest.mark.slow), "MINIMAL"])
def test_a_live_stream_follows_renames_before_and_after_its_start(
    spark: SparkSession, start_server: StartServer, tmp_path: Path, metadata: str
) -> None:
    server = start_server(MySQL, {"binlog-row-metadata": metadata})
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.items (id INT PRIMARY KEY, a INT, b INT)")
    server.query("INSERT INTO shop.items VALUES (1, 10, 20)")
    server.query("ALTER TABLE shop.items RENAME COLUMN a TO b, RENAME COLUMN b TO a")
    server.query("INSERT INTO shop.items (id, b, a) VALUES (2, 10, 20)")
    stream = Stream(spark, tmp_path, live_options(server, table="shop.items"))
    frame = spark.readStream.format("binlog").options(**stream.options).load()
    server.query("ALTER TABLE shop.items CHANGE a c INT")
    server.query("INSERT INTO shop.items (id, b, c) VALUES (3, 10, 20)")
    run(stream, frame)
    assert stream.values("id", "b", "a") == [(1, 10, 20), (2, 10, 20), (3, 10, 20)]
    stream.run()
    server.query("INSERT INTO shop.items (id, b, c) VALUES (4, 10, 20)")
    stream.run()
    assert stream.rows[-1]["c"] == 20


@pytest.mark.mysql
@pytest.mark.parametrize("metadata", ["FULL", "MINIMAL"])
def test_a_batch_read_of_a_server_follows_renames_over_its_logs(
    spark: SparkSession, start_server: StartServer, metadata: str
) -> None:
    server = start_server(MySQL, {"binlog-row-metadata": metadata})
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.items (id INT PRIMARY KEY, a INT, b INT)")
    names = ["a", "b"]
    for number in range(3):
        server.query(f"INSERT INTO shop.items (id, {', '.join(names)}) VALUES ({number}, 10, 20)")
        server.query("FLUSH BINARY LOGS")
        server.query(f"INSERT INTO shop.items (id, {', '.join(names)}) VALUES ({number + 10}, 10, 20)")
        server.query("ALTER TABLE shop.items RENAME COLUMN a TO b, RENAME COLUMN b TO a")
        names.reverse()
    options = {**live_options(server, table="shop.items"), "maxSplitBytes": "1"}
    frame = spark.read.format("binlog").options(**options).load()
    found = {row["id"]: (row["a"], row["b"]) for row in frame.collect()}
    assert found == dict.fromkeys((0, 10, 1, 11, 2, 12), (20, 10))
