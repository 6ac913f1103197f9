"""Encrypted logs in Spark: batches in splits, streams of directories. Tasks get the keys; nothing shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark import Encrypted
from tests.support.encryption import encrypting
from tests.support.encryption.encrypting import (
    KEY,
    encrypt_mariadb,
    encrypt_mysql,
    save_mariadb_keys,
    save_mysql_keyring,
)
from tests.support.spark.spark_reading import ReadLogs, failure
from tests.support.spark.stream_queries import Stream

pytestmark = pytest.mark.timeout(300)
ROWS = 400


@pytest.fixture(scope="module", params=["mysql", "mariadb"])
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with an encrypted log, and its keyring, which is elsewhere."""
    folder, keys = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("keys")
    if request.param == "mysql":
        (folder / "binlog.000001").write_bytes(encrypt_mysql(encrypting.mysql_log(ROWS)))
        return folder, save_mysql_keyring(keys)
    (folder / "binlog.000001").write_bytes(encrypt_mariadb(encrypting.mariadb_log(ROWS)))
    return folder, save_mariadb_keys(keys)


def test_an_encrypted_log_is_read_in_splits(logs: tuple[Path, Path], read: ReadLogs) -> None:
    folder, keyring = logs
    frame = read(folder, table="shop.items", keyring=str(keyring), maxSplitBytes="20k")
    assert frame.rdd.getNumPartitions() > 3
    expected = [(change.pos, change.after["id"]) for change in binspark.rows(folder, keyring=keyring) if change.after]
    assert sorted((row["_log_pos"], row["id"]) for row in frame.collect()) == expected
    assert len(expected) == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("view", ["events", "transactions", "changes"])
def test_every_view_reads_encrypted_logs(logs: tuple[Path, Path], read: ReadLogs, view: str) -> None:
    folder, keyring = logs
    assert read(folder, view=view, keyring=str(keyring)).count() >= ROWS


def test_keys_are_not_shown_by_spark(
    logs: tuple[Path, Path], read: ReadLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, keyring = logs
    frame = read(folder, table="shop.items", keyring=str(keyring))
    frame.explain(True)
    shown = capsys.readouterr().out
    assert "binlog" in shown
    assert KEY.hex() not in shown.lower()


def test_without_a_keyring_the_query_fails_with_what_to_do(logs: tuple[Path, Path], read: ReadLogs) -> None:
    error = failure(read(logs[0]).collect)
    assert isinstance(error, Encrypted)
    assert "the option keyring" in error.message


def test_with_the_wrong_keyring_the_query_fails_also_if_damage_is_permitted(
    logs: tuple[Path, Path], read: ReadLogs, tmp_path: Path
) -> None:
    wrong = bytes(reversed(KEY))
    is_json = logs[1].suffix == ".json"
    keyring = save_mysql_keyring(tmp_path, wrong) if is_json else save_mariadb_keys(tmp_path, wrong)
    for mode in ("FAILFAST", "PERMISSIVE"):
        error = failure(read(logs[0], keyring=str(keyring), mode=mode).collect)
        assert isinstance(error, Encrypted)
        assert "does not decrypt the log" in error.message


@pytest.mark.parametrize("logs", ["mysql", pytest.param("mariadb", marks=pytest.mark.slow)], indirect=True)
def test_a_directory_of_encrypted_logs_is_followed(
    spark: SparkSession, logs: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, keyring = logs
    content = (folder / "binlog.000001").read_bytes()
    archive = tmp_path / "archive"
    archive.mkdir()
    log = archive / "binlog.000001"
    log.write_bytes(content[: len(content) // 2])
    options = {"table": "shop.items", "startingOffsets": "earliest", "keyring": str(keyring)}
    stream = Stream(spark, tmp_path / "checkpoint", options, str(archive))
    stream.run()
    half = len(stream.rows)
    assert 0 < half < ROWS
    log.write_bytes(content)
    stream.run()
    assert [row["id"] for row in stream.rows] == list(range(ROWS))
