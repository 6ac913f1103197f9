"""`binspark.tables`: what is in the logs, and each table as a DataFrame."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark import OptionError
from binspark.cli.demo import SHOP
from binspark.testing.builder import BinlogBuilder, Change, Column, Table, insert, integer, table, varchar
from tests.support.spark.spark_reading import batch_records, ordered, records

LOGS = SHOP / "mysql"
OPERATIONS = ("insert", "update", "delete")


def test_the_summary_counts_rows_and_bytes(spark: SparkSession) -> None:
    found = records(binspark.tables(spark, LOGS).summary)
    counted = Counter((change.schema, change.table, change.op.value) for change in binspark.rows(LOGS))
    summed = {(row["schema"], row["table"], op): row[f"{op}_rows"] for row in found for op in OPERATIONS}
    assert {key: count for key, count in summed.items() if count} == counted
    assert all(row["rows"] == row["insert_rows"] + row["update_rows"] + row["delete_rows"] for row in found)
    assert [row["bytes"] for row in found] == sorted((row["bytes"] for row in found), reverse=True)
    rows_events = [event for event in binspark.events(LOGS) if event.type.endswith("_ROWS")]
    assert sum(row["bytes"] for row in found) == sum(event.header.event_size for event in rows_events)


def test_tables_are_a_mapping_of_typed_frames(spark: SparkSession) -> None:
    tables = binspark.tables(spark, LOGS)
    assert list(tables) == ["shop.customers", "shop.order_lines", "shop.orders", "shop.products"]
    assert len(tables) == 4
    assert "shop.orders" in tables
    assert ordered(records(tables["shop.customers"])) == batch_records(LOGS, "shop.customers")


@pytest.mark.parametrize("name", ["shop.order", "orders", "*"])
def test_a_table_that_is_not_there_is_a_key_error(name: str, spark: SparkSession) -> None:
    with pytest.raises(KeyError, match=r"'.+'"):
        binspark.tables(spark, LOGS)[name]


def test_options_of_the_data_source_narrow_tables(spark: SparkSession) -> None:
    tables = binspark.tables(spark, LOGS, tables="shop.o*", operations=["insert", "delete"])
    assert list(tables) == ["shop.order_lines", "shop.orders"]
    (orders,) = [row for row in tables.summary.collect() if row["table"] == "orders"]
    assert (orders["insert_rows"], orders["update_rows"], orders["delete_rows"]) == (151, 0, 150)


def test_several_logs_may_be_named(spark: SparkSession) -> None:
    logs = [LOGS / f"binlog.00000{number}" for number in (1, 2)]
    expected = Counter(change.table for change in binspark.rows(logs))
    found = binspark.tables(spark, logs).summary.collect()
    assert {row["table"]: row["rows"] for row in found} == expected


@pytest.mark.parametrize("option", ["view", "table"])
def test_what_tables_are_for_is_not_an_option(option: str, spark: SparkSession) -> None:
    with pytest.raises(OptionError, match=f"^{option} is not valid here"):
        binspark.tables(spark, LOGS, **{option: "changes"})


def test_options_may_be_spelled_as_in_python(spark: SparkSession) -> None:
    found = binspark.tables(spark, LOGS, exclude_tables=["shop.orders", "shop.order_lines"], operations="insert")
    assert set(found) == set(binspark.tables(spark, LOGS, excludeTables="shop.order*", operations=["insert"]))


def test_a_misspelt_option_is_named(spark: SparkSession) -> None:
    with pytest.raises(OptionError, match=r"no option operation; did you mean operations\?"):
        binspark.tables(spark, LOGS, operation="insert")


def test_frames_are_found_by_name_without_registering(spark: SparkSession) -> None:
    assert spark.newSession().read.format("binlog").load(str(LOGS)).columns[0] == "_schema"
    binspark.register(spark)
    assert spark.read.format("binlog").option("table", "shop.customers").load(str(LOGS)).count() == 7


GOOD = table("shop.good", integer("id"), varchar("name", 20))
UNDECODABLE = table("shop.undecodable", integer("id"), varchar("name", 20))
UNKNOWN = Table("shop", "unknown", (integer("id"), Column("what", 200, 0, lambda value: value)))
DAMAGED = table("shop.damaged", integer("id"), varchar("name", 20))


def test_a_row_that_cannot_be_decoded_hides_no_table(tmp_path: Path, spark: SparkSession) -> None:
    """Text that is not UTF-8 is counted; where the size of a value is not known, or wrong, that is reported."""
    builder = BinlogBuilder()
    builder.transaction(insert(GOOD, (1, "one"), (2, None)))
    builder.transaction(insert(UNDECODABLE, (1, b"\xff\xfe"), (2, "two")))
    builder.transaction(insert(UNKNOWN, (1, b"what is this?")))
    broken = insert(DAMAGED, (1, "one"))
    builder.transaction(Change(broken.operation, DAMAGED, broken.images[:5] + b"\xc8" + broken.images[6:]))
    builder.transaction(insert(GOOD, (3, "three")))
    path = builder.save(tmp_path)[0]
    found = records(binspark.tables(spark, path).summary)
    assert {row["table"]: (row["rows"], row["uncounted_events"]) for row in found} == {
        "good": (3, 0),
        "undecodable": (2, 0),
        "unknown": (0, 1),
        "damaged": (0, 1),
    }
    assert set(binspark.tables(spark, path)) == {"shop.good", "shop.undecodable", "shop.unknown", "shop.damaged"}
    assert [row.id for row in binspark.tables(spark, path)["shop.good"].collect()] == [1, 2, 3]
