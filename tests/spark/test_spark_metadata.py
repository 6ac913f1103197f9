"""Metadata columns in Spark: their names and order, names that collide with columns of the table, the prefix."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark import OptionError
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from tests.support.spark.spark_reading import OptionValue, ReadLogs, failure, records

STOCK = table("shop.stock", integer("id"), varchar("item", 40), key=("id",))
METADATA = ["op", "seq", "key", "gtid", "commit_time", "log_file", "log_pos", "log_row", "tx_row", "server_id"]


def saved(folder: Path, name: str = "other") -> Path:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.stock (id INT PRIMARY KEY, item VARCHAR(10))")
    other = table("shop.other", integer("id"), integer(name), key=("id",))
    builder.ddl(f"CREATE TABLE shop.other (id INT PRIMARY KEY, `{name}` INT)")
    builder.transaction(insert(STOCK, (1, "a")), insert(other, (2, 7)))
    builder.save(folder)
    return folder


def test_the_columns_of_a_typed_table(read: ReadLogs, tmp_path: Path) -> None:
    frame = read(saved(tmp_path), table="shop.stock", before=True)
    assert frame.columns == [*(f"_{name}" for name in METADATA), "id", "item", "_before"]
    assert frame.schema["_key"].dataType.simpleString() == "struct<id:int>"
    (row,) = records(frame)
    assert row["_key"] == {"id": 1}
    assert len(row["_seq"]) == 32


def test_only_the_sequence_is_read(read: ReadLogs, tmp_path: Path) -> None:
    folder = saved(tmp_path)
    (row,) = records(read(folder, "_seq string, _key struct<id: int>", table="shop.stock"))
    assert row["_key"] == {"id": 1}
    (typed,) = records(read(folder, table="shop.stock"))
    assert row["_seq"] == typed["_seq"]


@pytest.mark.parametrize("name", ["_op", "_OP", "_key", "_before"])
def test_a_name_that_collides_is_refused_before_the_query_runs(read: ReadLogs, tmp_path: Path, name: str) -> None:
    folder = saved(tmp_path, name)
    options: dict[str, OptionValue] = {"table": "shop.other", "before": True}
    error = failure(lambda: read(folder, None, **options))
    assert isinstance(error, OptionError)
    assert error.message.startswith("metadataPrefix must be another prefix")
    assert f"shop.other has a column {name!r}" in error.message
    (row,) = records(read(folder, None, metadataPrefix="binlog_", **options))
    assert (row["binlog_op"], row["binlog_key"], row["id"], row[name]) == ("insert", {"id": 2}, 2, 7)
    chosen = failure(lambda: records(read(folder, f"id int, `{name}` int", **options)))
    assert isinstance(chosen, OptionError)
    (other,) = records(read(folder, "id int", **options))
    assert other == {"id": 2}


@pytest.mark.parametrize("name", ["_op", "_OP", "_key", "_before"])
def test_changes_of_all_tables_do_not_mind_names(read: ReadLogs, tmp_path: Path, name: str) -> None:
    rows = records(read(saved(tmp_path, name), rows="json").orderBy("_seq"))
    assert [(row["_table"], row["_op"], row["_key"]) for row in rows] == [
        ("stock", "insert", '{"id": 1}'),
        ("other", "insert", '{"id": 2}'),
    ]
    assert rows[1]["_after"] == f'{{"id": 2, "{name}": 7}}'


def test_the_prefix_is_that_of_changes_too(read: ReadLogs, tmp_path: Path) -> None:
    frame = read(saved(tmp_path), rows="json", metadataPrefix="cdc_")
    images = ["cdc_before", "cdc_after"]
    assert frame.columns == ["cdc_schema", "cdc_table", *(f"cdc_{name}" for name in METADATA), *images]
    assert {row["cdc_key"] for row in records(frame)} == {'{"id": 1}', '{"id": 2}'}


def test_truncations_are_rows_of_typed_tables_and_of_changes(read: ReadLogs, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.ddl("CREATE TABLE shop.stock (id INT PRIMARY KEY, item VARCHAR(10))")
    builder.transaction(insert(STOCK, (1, "a")))
    builder.ddl("TRUNCATE TABLE shop.stock")
    builder.ddl("DROP TABLE shop.stock, shop.unknown")
    builder.save(tmp_path)
    typed = records(read(tmp_path, table="shop.stock").orderBy("_seq"))
    assert [(row["_op"], row["_key"], row["id"]) for row in typed] == [
        ("insert", {"id": 1}, 1),
        ("truncate", None, None),
        ("truncate", None, None),
    ]
    for form in ("json", "variant"):
        changes = (
            read(tmp_path, rows=form).orderBy("_seq").selectExpr("_table", "_op", "_key IS NULL AND _after IS NULL")
        )
        assert [tuple(row) for row in changes.collect()] == [
            ("stock", "insert", False),
            ("stock", "truncate", True),
            ("stock", "truncate", True),
            ("unknown", "truncate", True),
        ]
    kept = records(read(tmp_path, table="shop.stock", operations="insert,update,delete"))
    assert [row["_op"] for row in kept] == ["insert"]
