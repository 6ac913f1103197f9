"""`binspark.latest`: the current rows of a table from its changes, equal to what the server selects."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import binspark
from binspark import OptionError
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table, update, varchar
from binspark.testing.servers import Family, MariaDB, MySQL
from tests.support.servers import StartServer
from tests.support.spark.random_work import RandomWork, rows, stored
from tests.support.spark.spark_reading import ReadLogs

STOCK = table("shop.stock", integer("id"), varchar("item", 40), key=("id",))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("family", "image"),
    [
        pytest.param(MySQL, "FULL", marks=[pytest.mark.mysql, pytest.mark.slow], id="mysql-FULL"),
        pytest.param(MariaDB, "MINIMAL", marks=pytest.mark.mariadb, id="mariadb-MINIMAL"),
        pytest.param(MySQL, "MINIMAL", marks=[pytest.mark.mysql, pytest.mark.slow], id="mysql-MINIMAL"),
        pytest.param(MariaDB, "FULL", marks=[pytest.mark.mariadb, pytest.mark.slow], id="mariadb-FULL"),
    ],
)
def test_it_is_what_the_server_selects(
    spark: SparkSession, start_server: StartServer, family: Family, image: str, read: ReadLogs, tmp_path: Path
) -> None:
    server = start_server(family, {"binlog-row-metadata": "FULL", "binlog-row-image": image})
    server.query("CREATE DATABASE shop")
    work = RandomWork("shop.stock", seed=11)
    work.create(server)
    for number in range(2):
        work.run(server, 60)
        server.query("FLUSH BINARY LOGS")
        logs = [str(log) for log in server.log_files()]
        changes = read(logs, table="shop.stock", absent=image != "FULL")
        assert rows(binspark.latest(changes)) == stored(server, "shop.stock"), number
    changes.write.parquet(str(tmp_path / "sink"))
    twice = spark.read.parquet(str(tmp_path / "sink")).union(changes).repartition(3)
    assert rows(binspark.latest(twice)) == stored(server, "shop.stock")


def built(folder: Path) -> Path:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.stock (id INT PRIMARY KEY, item VARCHAR(10))")
    builder.transaction(insert(STOCK, (1, "a"), (2, "b"), (3, "c")))
    builder.transaction(update(STOCK, ((3, "c"), (4, "c")), ((2, "b"), (3, "b")), ((1, "a"), (2, "a"))))
    builder.transaction(delete(STOCK, (4, "c")))
    builder.save(folder)
    return folder


def items(frame: DataFrame) -> list[tuple[int, str]]:
    return sorted((row["id"], row["item"]) for row in frame.collect())


def test_rows_move_to_keys_that_others_have_just_left(read: ReadLogs, tmp_path: Path) -> None:
    changes = read(built(tmp_path), table="shop.stock")
    assert binspark.latest(changes).columns == ["id", "item"]
    assert items(binspark.latest(changes)) == [(2, "a"), (3, "b")]
    renamed = read(tmp_path, table="shop.stock", metadataPrefix="m_", before=True)
    assert items(binspark.latest(renamed, metadata_prefix="m_")) == [(2, "a"), (3, "b")]


def test_what_is_missing_is_named(read: ReadLogs, tmp_path: Path) -> None:
    changes = read(built(tmp_path), table="shop.stock")
    with pytest.raises(OptionError, match="no column _key, which latest needs: the table has no primary key"):
        binspark.latest(changes.drop("_key"))
    with pytest.raises(OptionError, match="no column _seq"):
        binspark.latest(changes.drop("_seq"))
    with pytest.raises(OptionError, match="no column id, which is a part of the key"):
        binspark.latest(changes.drop("id"))
    with pytest.raises(OptionError, match="the changes are of several tables, and latest needs one"):
        binspark.latest(read(tmp_path))
    with pytest.raises(OptionError, match=r"changes must be a DataFrame .*, got None"):
        binspark.latest(None)  # type: ignore[arg-type]
