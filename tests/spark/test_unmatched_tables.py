"""A table that options name and that does not exist is a warning: a typing error looks like an empty log otherwise."""

from __future__ import annotations

import logging
from copy import copy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

from binspark.cli.demo import SHOP
from binspark.columns.selection import Selection
from binspark.server.connection import connect
from binspark.spark.batch import BinlogReader
from binspark.spark.source import BinlogDataSource
from binspark.spark.streaming.reader import BinlogStreamReader
from binspark.spark.unmatched import warn_of_statements_on, warn_of_unmatched_on
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from binspark.testing.servers import Family, Server
from tests.support.servers import config_of, every_family

LOGS = str(SHOP / "mysql")

Reader = BinlogReader | BinlogStreamReader


def warnings_of(caplog: pytest.LogCaptureFixture, path: str | Path = LOGS, **options: str) -> list[str]:
    caplog.clear()
    source = BinlogDataSource({"path": str(path), **options})
    with caplog.at_level(logging.WARNING, "binspark.spark"):
        source.reader(source.schema())
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("tables", ["shop.orders", "shop.*", "*.orders", "sh?p.ord*", "`shop`.`orders`", "*"])
def test_a_table_of_the_logs_is_no_reason_to_warn(caplog: pytest.LogCaptureFixture, tables: str) -> None:
    assert warnings_of(caplog, tables=tables) == []
    assert warnings_of(caplog, tables=tables, ddl="ignore") == []
    assert warnings_of(caplog, tables=tables, view="transactions") == []


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        ({"tables": "shop.odrers"}, "tables: the logs contain no rows of shop.odrers; did you mean shop.orders?"),
        ({"tables": "SHOP.*"}, "tables: the logs contain no rows of SHOP.*"),
        ({"tables": "shop.orders, crm.*"}, "tables: the logs contain no rows of crm.*"),
        ({"tables": "*.nothing"}, "tables: the logs contain no rows of *.nothing"),
        ({"excludeTables": "audit.x"}, "excludeTables: the logs contain no rows of audit.x"),
    ],
)
def test_a_table_that_logs_do_not_contain_is_a_warning(
    caplog: pytest.LogCaptureFixture, options: dict[str, str], warning: str
) -> None:
    assert warnings_of(caplog, **options) == [warning]


@every_family
def test_a_table_that_a_server_does_not_have_is_a_warning(
    caplog: pytest.LogCaptureFixture, shared: Server, database: str, family: Family
) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.stock (id INT)")
    selection = Selection(tables=frozenset({f"{database}.sto*", f"{database}.stokc"}))
    with connect(config_of(shared.port)) as connection, caplog.at_level(logging.WARNING, "binspark.spark"):
        warn_of_unmatched_on(connection, selection)
    (message,) = (record.getMessage() for record in caplog.records)
    expected = f"tables: the server has no table {database}.stokc, or its user may not see it"
    assert message == f"{expected}; did you mean {database}.stock?"


def test_spark_prints_the_warning(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    assert spark.read.format("binlog").option("tables", "shop.odrers").load(LOGS).count() == 0
    assert "the logs contain no rows of shop.odrers; did you mean shop.orders?" in capfd.readouterr().err


def test_changes_that_were_logged_as_statements_are_a_warning(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.transaction("INSERT INTO shop.orders VALUES (1)")
    builder.transaction("INSERT INTO shop.orders VALUES (2)")
    [path] = builder.save(tmp_path)
    [warning] = warnings_of(caplog, path)
    assert "the log does not contain its rows: 'INSERT INTO shop.orders VALUES (1)'" in warning
    assert warnings_of(caplog, path, view="transactions") == []


def test_changes_that_were_rolled_back_are_a_warning(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    for name in (b"a", b"b"):
        builder.transaction(insert(table("shop.orders", integer("id")), (1,)), xa=name)
        builder.ddl(f"XA ROLLBACK X'{name.hex()}',X'',1")
    [path] = builder.save(tmp_path)
    [warning] = warnings_of(caplog, path)
    assert "were rolled back, and are read as changes all the same: \"XA ROLLBACK X'61',X'',1\"" in warning
    assert warnings_of(caplog, path, view="transactions") == []


def test_a_stream_of_an_archive_warns_once_of_each_kind(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    for name in (b"a", b"b"):
        builder.transaction("INSERT INTO shop.orders VALUES (1)")
        builder.transaction(insert(table("shop.orders", integer("id")), (1,)), xa=name)
        builder.ddl(f"XA ROLLBACK X'{name.hex()}',X'',1")
    builder.save(tmp_path)
    source = BinlogDataSource({"path": str(tmp_path), "startingOffsets": "earliest"})
    stream = source.streamReader(source.schema())
    first = stream.latestOffset(stream.initialOffset(), ReadAllAvailable())
    middle = stream.latestOffset(first, ReadMaxBytes(1))
    last = stream.latestOffset(middle, ReadAllAvailable())
    with caplog.at_level(logging.WARNING, "binspark.files"):
        for start, end in ((first, last), (first, middle), (middle, last)):
            assert stream.partitions(start, end)
    logged, rolled_back = (record.getMessage() for record in caplog.records)
    assert "the log does not contain its rows: 'INSERT INTO shop.orders VALUES (1)'" in logged
    assert "were rolled back, and are read as changes all the same: \"XA ROLLBACK X'61',X'',1\"" in rolled_back


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    """Two logs with rows of two tables, the definition of one of which the log contradicts."""
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE orders (id BIGINT)", "shop")
    builder.ddl("CREATE TABLE items (id INT)", "shop")
    for _ in range(2):
        builder.transaction("INSERT INTO shop.orders VALUES (1)")
        builder.transaction(insert(table("shop.orders", integer("id")), (1,)))
        builder.transaction(insert(table("shop.items", integer("id")), (1,)))
        builder.rotate()
    builder.save(tmp_path)
    return tmp_path


def executor_warnings(caplog: pytest.LogCaptureFixture, reader: Reader, parts: list[InputPartition]) -> list[str]:
    """Return the warnings of executors, each of which gets a pickled copy of the reader."""
    caplog.clear()
    assert parts
    for part in parts:
        assert sum(batch.num_rows for batch in copy(reader).read(part))
    return caplog.messages


@pytest.mark.parametrize("options", [{}, {"view": "chunks"}, {"mode": "PERMISSIVE"}], ids=str)
def test_a_table_that_contradicts_its_definition_is_a_warning_of_each_task(
    caplog: pytest.LogCaptureFixture, doubtful: Path, options: dict[str, str]
) -> None:
    source = BinlogDataSource({"path": str(doubtful), **options})
    reader = source.reader(source.schema())
    assert isinstance(reader, BinlogReader)
    [warning] = executor_warnings(caplog, reader, reader.partitions())
    assert "shop.orders: " in warning
    assert "the rows are read as the log describes them" in warning
    assert len(executor_warnings(caplog, reader, reader.partitions() * 2)) == 2


def test_a_dump_that_contradicts_logs_is_a_warning_without_their_ddl(
    caplog: pytest.LogCaptureFixture, doubtful: Path, tmp_path: Path
) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_text("USE shop; CREATE TABLE items (id BIGINT);")
    source = BinlogDataSource({"path": f"{doubtful}/binlog.*", "ddl": "ignore", "schemaFile": str(dump)})
    reader = source.reader(source.schema())
    assert isinstance(reader, BinlogReader)
    [warning] = executor_warnings(caplog, reader, reader.partitions())
    assert "shop.items: " in warning


def test_a_stream_warns_once_of_a_table_that_contradicts_its_definition(
    caplog: pytest.LogCaptureFixture, doubtful: Path
) -> None:
    source = BinlogDataSource({"path": str(doubtful), "startingOffsets": "earliest"})
    stream = source.streamReader(source.schema())
    assert isinstance(stream, BinlogStreamReader)
    begin = stream.latestOffset(stream.initialOffset(), ReadAllAvailable())
    parts = list(stream.partitions(begin, stream.latestOffset(begin, ReadAllAvailable())))
    [warning] = executor_warnings(caplog, stream, parts * 2)
    assert "shop.orders: " in warning


@every_family
def test_who_reads_a_server_warns_of_what_was_rolled_back(
    caplog: pytest.LogCaptureFixture, shared: Server, database: str, family: Family
) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.stock (id INT PRIMARY KEY)")
    shared.query("FLUSH BINARY LOGS")
    steps = [
        "XA START {0!r}",
        "INSERT INTO {0}.stock VALUES (1)",
        "XA END {0!r}",
        "XA PREPARE {0!r}",
        "XA ROLLBACK {0!r}",
    ]
    shared.run_sql("; ".join(steps).format(database))
    log = shared.log_files()[-1].name
    options = {"host": "127.0.0.1", "port": str(shared.port), "user": "root", "startingOffsets": f"{log}:4"}
    source = BinlogDataSource({**options, "tables": f"{database}.stock"})
    reader = source.reader(source.schema())
    with caplog.at_level(logging.WARNING, "binspark.files"):
        rows = sum(batch.num_rows for part in reader.partitions() for batch in reader.read(part))
    (message,) = (record.getMessage() for record in caplog.records if "rolled back" in record.getMessage())
    assert rows == 1
    assert 'are read as changes all the same: "XA ROLLBACK' in message


@pytest.mark.mysql
def test_a_server_that_may_log_statements_is_a_warning(caplog: pytest.LogCaptureFixture, mysql: Server) -> None:
    with connect(config_of(mysql.port)) as connection, caplog.at_level(logging.WARNING, "binspark.spark"):
        warn_of_statements_on(connection)
        assert caplog.records == []
        mysql.query("SET GLOBAL binlog_format = MIXED")
        try:
            warn_of_statements_on(connection)
        finally:
            mysql.query("SET GLOBAL binlog_format = ROW")
    assert "binlog_format is MIXED, expected ROW" in caplog.text
