"""Damaged logs: the query fails and says where, or reads what is sound and reports the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException

import binspark
from binspark import Checksum, Encrypted, Malformed, Truncated
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import CORPUS, case_logs
from tests.support.spark.spark_reading import ReadLogs, failure, records

ITEMS = table("shop.items", integer("id"))
TRANSACTIONS = 12
CUT_OFF = ("mysql/crash-truncated", "mariadb/crash-truncated")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of twelve transactions with one row each."""
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE items (id INT PRIMARY KEY)", schema="shop")
    for number in range(TRANSACTIONS):
        builder.transaction(insert(ITEMS, (number,)))
    builder.stop()
    return builder.save(tmp_path)[0]


def rows_offset(log: Path, number: int) -> int:
    """Return the offset of the rows event of a transaction."""
    return list(binspark.rows(log))[number].pos


def damage(log: Path, offset: int) -> Path:
    """Change one byte of an event's body."""
    content = bytearray(log.read_bytes())
    content[offset + 25] ^= 0xFF
    log.write_bytes(content)
    return log


@pytest.mark.parametrize("options", [{"table": "shop.items"}, {}, {"view": "events"}, {"view": "transactions"}])
def test_damage_fails_the_query_and_is_reported_with_file_and_offset(
    options: dict[str, str], log: Path, read: ReadLogs
) -> None:
    offset = rows_offset(log, 5)
    error = failure(read(damage(log, offset), **options).collect)
    assert isinstance(error, Checksum)
    assert (error.position.file, error.position.offset) == (str(log), offset)


def test_the_message_in_spark_contains_the_position(log: Path, read: ReadLogs) -> None:
    offset = rows_offset(log, 5)
    with pytest.raises(PySparkException) as raised:
        read(damage(log, offset), table="shop.items").collect()
    assert f"binspark.errors.Checksum: {log}:{offset}" in str(raised.value)


@pytest.mark.parametrize("size", ["1g", "500"])
def test_permissive_reads_what_is_sound(size: str, log: Path, read: ReadLogs) -> None:
    offsets = [rows_offset(log, number) for number in (3, 8)]
    for offset in offsets:
        damage(log, offset)
    sound = read(log, table="shop.items", mode="PERMISSIVE", maxSplitBytes=size).collect()
    assert sorted(row.id for row in sound) == [number for number in range(TRANSACTIONS) if number not in (3, 8)]
    corrupt = sorted(records(read(log, view="_corrupt", maxSplitBytes=size)), key=lambda row: row["pos"])
    assert [(row["file"], row["pos"], row["error"]) for row in corrupt] == [
        (log.name, at, "Checksum") for at in offsets
    ]
    assert all(row["end_pos"] > row["pos"] for row in corrupt)
    assert all("checksum" in row["message"] for row in corrupt)


@pytest.mark.parametrize("view", ["changes", "events", "transactions", "tables"])
def test_every_view_may_be_permissive(view: str, log: Path, read: ReadLogs) -> None:
    undamaged = read(log, view=view, mode="PERMISSIVE").count()
    assert 0 < read(damage(log, rows_offset(log, 5)), view=view, mode="PERMISSIVE").count() <= undamaged


def test_what_came_before_damage_is_still_known_after_it(tmp_path: Path, read: ReadLogs) -> None:
    """The names of columns are only in the statement at the beginning of the log."""
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.ddl("CREATE TABLE items (id INT PRIMARY KEY)", schema="shop")
    for number in range(TRANSACTIONS):
        builder.transaction(insert(ITEMS, (number,)))
    log = builder.save(tmp_path)[0]
    frame = read(damage(log, rows_offset(log, 5)), table="shop.items", mode="PERMISSIVE")
    assert [row.id for row in frame.collect()] == [number for number in range(TRANSACTIONS) if number != 5]


def test_a_sound_log_has_no_damage(read: ReadLogs) -> None:
    assert read(case_logs("mysql/format-row"), view="_corrupt").count() == 0


@pytest.mark.parametrize("case", CUT_OFF)
def test_a_log_that_a_crash_cut_off_ends_after_its_last_complete_transaction(case: str, read: ReadLogs) -> None:
    """The log is marked as in use, as it is while a server writes it: an incomplete transaction is not read yet."""
    (log,) = case_logs(case)
    complete = [row.end_pos for row in read(log, view="transactions").collect() if row.complete]
    assert len(complete) == 2
    assert max(row.end_pos for row in read(log, view="events").collect()) == max(complete)
    with pytest.raises(Truncated):
        list(binspark.events(log))


def test_a_closed_log_that_is_cut_off_is_truncated(log: Path, read: ReadLogs) -> None:
    log.write_bytes(log.read_bytes()[:-5])
    error = failure(read(log, view="events").collect)
    assert isinstance(error, Truncated)
    assert error.position.file == str(log)
    assert read(log, table="shop.items", mode="PERMISSIVE").count() == TRANSACTIONS


def test_a_file_that_is_not_a_log_is_reported(tmp_path: Path, read: ReadLogs) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(b"this is no log, but a text of some length")
    error = failure(read(path).collect)
    assert isinstance(error, Malformed)
    assert error.position.file == str(path)
    (row,) = read(path, view="_corrupt").collect()
    assert (row.file, row.pos, row.end_pos, row.error) == (path.name, 0, 41, "Malformed")


def test_an_encrypted_log_is_reported(read: ReadLogs) -> None:
    error = failure(read(CORPUS / "mysql" / "encrypted" / "binlog.000001").collect)
    assert isinstance(error, Encrypted)
    assert "encrypted" in error.message


def test_one_damaged_log_of_many_does_not_hide_the_others(log: Path, read: ReadLogs) -> None:
    good = CORPUS / "mysql" / "format-row" / "binlog.000001"
    damaged = damage(log, rows_offset(log, 0))
    found = read([good, damaged], mode="PERMISSIVE").groupBy("_table").count().collect()
    assert {row["_table"]: row["count"] for row in found}["items"] == TRANSACTIONS - 1
    (row,) = read([good, damaged], view="_corrupt").collect()
    assert (row.error, row.event) == ("Checksum", "WRITE_ROWS")
