"""What a path may be, and logs that change while they are read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark import OptionError, SourceError
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import CORPUS, case_logs
from tests.support.spark.spark_reading import Paths, ReadLogs, failure, ordered, read_logs, records

CHAIN = CORPUS / "mysql" / "rotation"
ITEMS = table("shop.items", integer("id"))
POSITION = "_log_file string, _log_pos bigint, _log_row int"
BUCKET = "logs"


def positions(logs: list[Path]) -> list[dict[str, object]]:
    """Return the positions of the rows of logs."""
    return [{"_log_file": Path(row.file).name, "_log_pos": row.pos, "_log_row": row.row} for row in binspark.rows(logs)]


@pytest.mark.parametrize(
    "path",
    [CHAIN, CHAIN / "binlog.00000[1-9]", CHAIN / "binlog.index", CHAIN.as_uri(), case_logs("mysql/rotation")],
    ids=["directory", "glob", "index", "file URI", "list"],
)
def test_a_path_may_be_any_of_these(path: Paths, read: ReadLogs) -> None:
    assert ordered(records(read(path, POSITION))) == positions(case_logs("mysql/rotation"))


def test_a_log_that_is_named_twice_is_read_once(read: ReadLogs, capfd: pytest.CaptureFixture[str]) -> None:
    logs = case_logs("mysql/rotation")
    assert ordered(records(read([*logs, CHAIN / "binlog.index", CHAIN], POSITION))) == positions(logs)
    assert f"RepeatedLogWarning: each log is read once; named again and left out: {logs[0]}" in capfd.readouterr().err


def test_names_may_contain_any_character(read: ReadLogs, tmp_path: Path) -> None:
    folder = tmp_path / "größe, 100% [a] (b)"
    shutil.copytree(CHAIN, folder)
    assert ordered(records(read(folder, POSITION))) == positions(case_logs("mysql/rotation"))


@pytest.mark.parametrize(
    ("path", "message"),
    [("no-such-log", "no such file"), ("no-such-*", "no file matches"), (".", "no binary log in this directory")],
)
def test_missing_logs_are_named(path: str, message: str, read: ReadLogs, tmp_path: Path) -> None:
    error = failure(read(tmp_path / path, POSITION).collect)
    assert isinstance(error, SourceError)
    assert (error.message, error.position.file) == (message, str(tmp_path / path))


def test_a_missing_path_is_reported(spark: SparkSession) -> None:
    error = failure(lambda: spark.read.format("binlog").load().collect())
    assert isinstance(error, OptionError)
    assert error.message == "path is missing: name the logs to read, or the host of a server"


def test_an_empty_file_has_no_rows(read: ReadLogs, tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(b"")
    assert read(tmp_path / "binlog.000001", POSITION).count() == 0


def growing_log() -> BinlogBuilder:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,), (2,)))
    log.mark_in_use()
    return log


def test_an_active_log_is_read_up_to_its_end_when_the_query_began(read: ReadLogs, tmp_path: Path) -> None:
    log = growing_log()
    path = tmp_path / "binlog.000001"
    path.write_bytes(log.content)
    early = read(path, table="shop.items")
    assert [row.id for row in early.select("id").collect()] == [1, 2]
    log.transaction(insert(ITEMS, (3,)))
    path.write_bytes(log.content)
    assert [row.id for row in early.select("id").collect()] == [1, 2]
    assert [row.id for row in read(path, table="shop.items").select("id").collect()] == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 30, 60])
def test_an_incomplete_event_at_the_end_of_an_active_log_is_not_read(cut: int, read: ReadLogs, tmp_path: Path) -> None:
    log = growing_log()
    log.transaction(insert(ITEMS, (3,)))
    path = tmp_path / "binlog.000001"
    path.write_bytes(log.content[:-cut])
    assert {row.id for row in read(path, table="shop.items").collect()} >= {1, 2}


def test_a_log_that_is_replaced_while_it_is_read_is_an_error(read: ReadLogs, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    shutil.copy(CHAIN / "binlog.000001", path)
    early = read(path, table=first_table())
    shutil.copy(CHAIN / "binlog.000003", path)
    error = failure(early.collect)
    assert isinstance(error, SourceError)
    assert error.position.file == str(path)


def first_table() -> str:
    return next(iter(binspark.rows(CHAIN / "binlog.000001"))).table_schema.name


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """The options for an S3-compatible store on this machine, which contains the chain of logs."""
    from moto.server import ThreadedMotoServer
    from pyarrow.fs import S3FileSystem

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        endpoint = "http://{}:{}".format(*server.get_host_and_port())
        reached = {
            "endpoint_override": endpoint,
            "access_key": "test-access-key",
            "secret_key": "test/secret+key",
            "region": "us-east-1",
        }
        files = S3FileSystem(**reached, allow_bucket_creation=True)
        files.create_dir(BUCKET)
        for log in (*case_logs("mysql/rotation"), CHAIN / "binlog.index"):
            with files.open_output_stream(f"{BUCKET}/chain/{log.name}") as file:
                file.write(log.read_bytes())
        yield {f"fs.{name}": value for name, value in reached.items()}
    finally:
        server.stop()


@pytest.mark.parametrize("path", ["chain/", "chain/binlog.00000*", "chain/binlog.index"])
def test_executors_read_a_store_with_the_options_of_the_query(path: str, store: dict[str, str], read: ReadLogs) -> None:
    frame = read(f"s3://{BUCKET}/{path}", POSITION, maxSplitBytes="1k", **store)
    assert frame.rdd.getNumPartitions() > 1
    assert ordered(records(frame)) == positions(case_logs("mysql/rotation"))


def test_a_typed_table_of_a_store_is_that_of_the_file(store: dict[str, str], spark: SparkSession) -> None:
    name = first_table()
    stored = read_logs(spark, f"s3://{BUCKET}/chain", table=name, **store)
    assert ordered(records(stored)) == ordered(records(read_logs(spark, CHAIN, table=name)))


def test_the_errors_of_a_store_name_the_log_and_no_secret(store: dict[str, str], read: ReadLogs) -> None:
    error = failure(read(f"s3://{BUCKET}/chain/none", **store).collect)
    assert isinstance(error, SourceError)
    assert error.position.file == f"s3://{BUCKET}/chain/none"
    assert "secret" not in str(error)
