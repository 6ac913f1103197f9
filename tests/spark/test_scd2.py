"""`binspark.scd2`: all versions of the rows of a table, with the times in which they were valid."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import binspark
from binspark import OptionError
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table, update, varchar
from binspark.testing.servers import MySQL
from tests.support.servers import StartServer
from tests.support.spark.random_work import RandomWork, rows, stored
from tests.support.spark.spark_reading import ReadLogs

STOCK = table("shop.stock", integer("id"), varchar("item", 40), key=("id",))


@pytest.mark.mysql
@pytest.mark.timeout(300)
@pytest.mark.parametrize("image", [pytest.param("FULL", marks=pytest.mark.slow), "MINIMAL"])
def test_at_any_time_the_valid_versions_are_what_the_server_selected(
    spark: SparkSession, start_server: StartServer, image: str, read: ReadLogs
) -> None:
    server = start_server(MySQL, {"binlog-row-metadata": "FULL", "binlog-row-image": image})
    server.query("CREATE DATABASE shop")
    work = RandomWork("shop.stock", seed=12)
    work.create(server)
    moments: list[tuple[datetime, object]] = []
    for number in range(4):
        work.run(server, 40)
        if number == 1:
            server.query("TRUNCATE shop.stock")
        moments.append((server.query("SELECT UTC_TIMESTAMP(6)")[0][0], stored(server, "shop.stock")))
    changes = read([str(log) for log in server.log_files()], table="shop.stock", absent=image != "FULL")
    versions = binspark.scd2(changes.union(changes)).cache()
    names = binspark.latest(changes).columns
    for moment, expected in moments:
        time = F.lit(f"{moment} UTC").cast("timestamp")
        valid = versions.where((F.col("_valid_from") <= time) & F.ifnull(F.col("_valid_to") > time, F.lit(True)))
        assert rows(valid.select(*names)) == expected, moment
    assert rows(versions.where("_is_current").select(*names)) == moments[-1][1]


def built(folder: Path) -> Path:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.stock (id INT PRIMARY KEY, item VARCHAR(10))")
    builder.transaction(insert(STOCK, (1, "a"), (2, "b")))
    builder.transaction(update(STOCK, ((2, "b"), (3, "b"))))
    builder.transaction(update(STOCK, ((1, "a"), (1, "c"))))
    builder.transaction(delete(STOCK, (3, "b")))
    builder.ddl("TRUNCATE TABLE shop.stock")
    builder.transaction(insert(STOCK, (1, "d")))
    builder.save(folder)
    return folder


def lives(frame: DataFrame) -> list[tuple[int, str, bool, bool]]:
    ordered = frame.orderBy("_seq").collect()
    return [(row["id"], row["item"], row["_valid_to"] is not None, row["_is_current"]) for row in ordered]


def test_moves_deletes_and_truncations_end_a_version(read: ReadLogs, tmp_path: Path) -> None:
    versions = binspark.scd2(read(built(tmp_path), table="shop.stock"))
    assert versions.columns == ["id", "item", "_valid_from", "_valid_to", "_is_current", "_seq"]
    assert lives(versions) == [
        (1, "a", True, False),
        (2, "b", True, False),
        (3, "b", True, False),
        (1, "c", True, False),
        (1, "d", False, True),
    ]


def test_what_is_missing_is_named(read: ReadLogs, tmp_path: Path) -> None:
    changes = read(built(tmp_path), table="shop.stock")
    with pytest.raises(OptionError, match="no column _commit_time, which scd2 needs"):
        binspark.scd2(changes.drop("_commit_time"))
    with pytest.raises(OptionError, match="no column _seq, which scd2 needs"):
        binspark.scd2(changes.drop("_seq"))
