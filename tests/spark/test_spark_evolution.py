"""Tables that change inside the logs: the newest schema wins, and rows of older ones are brought into it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

import binspark
from binspark import SchemaError
from binspark.cli.demo import SHOP
from binspark.event.column_types import ColumnType
from binspark.testing.builder import (
    BinlogBuilder,
    Table,
    decimal,
    double,
    insert,
    integer,
    table,
    update,
    varchar,
)
from binspark.testing.builder.tables import Column
from tests.support.spark.spark_reading import ReadLogs, batch_records, column_types, failure, ordered, records, values

SaveLog = Callable[..., Path]
OLD = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("name", 40))


@pytest.fixture
def save(tmp_path: Path) -> SaveLog:
    """A function that writes a log: a statement is DDL, a pair of a table and a row is an insert."""

    def save_log(*steps: str | tuple[Table, tuple[object, ...]], metadata: bool = True) -> Path:
        log = BinlogBuilder()
        log.full_metadata = metadata
        for step in steps:
            if isinstance(step, str):
                log.ddl(step, schema="shop")
            else:
                log.transaction(insert(*step))
        return log.save(tmp_path)[0]

    return save_log


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_a_column_that_came_later_is_null_before(family: str, read: ReadLogs) -> None:
    frame = read(SHOP / family, table="shop.orders")
    names = [name for name in frame.columns if not name.startswith("_")]
    assert names == ["id", "customer_id", "status", "channel", "total", "placed_at", "note"]
    expected = batch_records(SHOP / family, "shop.orders")
    assert ordered(records(frame)) == ordered(expected)
    assert {row["channel"] for row in expected} > {None}


def test_columns_come_go_and_widen(save: SaveLog, read: ReadLogs) -> None:
    new = table(
        "shop.items", integer("id", ColumnType.LONGLONG), decimal("price", 10, 3), double("weight"), varchar("note", 9)
    )
    log = save(
        "CREATE TABLE items (id INT, price DECIMAL(5,2), name VARCHAR(10))",
        (OLD, (1, "9.99", "old")),
        "ALTER TABLE items MODIFY id BIGINT, MODIFY price DECIMAL(10,3), DROP COLUMN name, ADD weight DOUBLE,"
        " ADD note VARCHAR(9)",
        (new, (2**40, "1234567.125", 0.5, "new")),
    )
    frame = read(log, table="shop.items")
    assert column_types(frame) == "id bigint, price decimal(10,3), weight double, note string"
    assert values(records(frame)) == [
        {"id": 1, "price": Decimal("9.990"), "weight": None, "note": None},
        {"id": 2**40, "price": Decimal("1234567.125"), "weight": 0.5, "note": "new"},
    ]


def test_before_images_are_brought_into_the_newest_schema_too(tmp_path: Path, read: ReadLogs) -> None:
    new = table("shop.items", integer("id", ColumnType.LONGLONG), varchar("name", 40), double("weight"))
    log = BinlogBuilder()
    log.transaction(update(OLD, ((1, "9.99", "a"), (1, "8.88", "b"))))
    log.transaction(update(new, ((2**40, "c", 0.5), (2**40, "d", None))))
    frame = read(log.save(tmp_path)[0], table="shop.items", before=True)
    assert frame.schema["_before"].dataType.simpleString() == "struct<id:bigint,name:string,weight:double>"
    assert [row["_before"] for row in records(frame)] == [
        {"id": 1, "name": "a", "weight": None},
        {"id": 2**40, "name": "c", "weight": 0.5},
    ]


def test_a_renamed_column_is_a_new_one(save: SaveLog, read: ReadLogs) -> None:
    renamed = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("title", 40))
    log = save((OLD, (1, "9.99", "old")), "ALTER TABLE items RENAME COLUMN name TO title", (renamed, (2, "1", "new")))
    assert [row["title"] for row in records(read(log, table="shop.items"))] == [None, "new"]


def test_a_renamed_table_has_the_rows_of_its_name(save: SaveLog, read: ReadLogs) -> None:
    renamed = table("shop.things", *OLD.columns)
    log = save(
        "CREATE TABLE items (id INT, price DECIMAL(5,2), name VARCHAR(10))",
        (OLD, (1, "1", "a")),
        "RENAME TABLE items TO things",
        (renamed, (2, "2", "b")),
    )
    assert [row["id"] for row in records(read(log, table="shop.items"))] == [1]
    assert [row["id"] for row in records(read(log, table="shop.things"))] == [2]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ((integer("id"), decimal("price", 5, 2), integer("name")), "name cannot become int32"),
        ((integer("id", ColumnType.SHORT), decimal("price", 5, 2), varchar("name", 40)), "id cannot become int16"),
        ((integer("id"), decimal("price", 4, 2), varchar("name", 40)), r"price cannot become decimal128(4, 2)"),
    ],
    ids=["another type", "a narrower integer", "fewer digits"],
)
def test_schema_versions_that_do_not_fit_are_both_named_with_their_positions(
    columns: tuple[Column, ...], why: str, save: SaveLog, read: ReadLogs
) -> None:
    new = table("shop.items", *columns)
    log = save((OLD, (1, "9.99", "old")), "ALTER TABLE items COMMENT 'new'", (new, (1, "1", None)))
    error = failure(read(log, table="shop.items").collect)
    assert isinstance(error, SchemaError)
    positions = [row["_log_pos"] for row in (*batch_records(log, "shop.items"),)]
    assert error.message.startswith(
        f"rows of one schema version do not fit another: {why}. shop.items (id int32, price"
    )
    assert f"name string) at {log.name}:{positions[0]} and shop.items (" in error.message
    assert error.message.endswith(f"at {log}:{table_map_before(log, positions[1])} (TABLE_MAP)")
    assert error.position.offset == positions[0]


def table_map_before(log: Path, offset: int) -> int:
    return max(event.offset for event in binspark.events(log) if event.type == "TABLE_MAP" and event.offset < offset)


def test_a_schema_of_ones_own_reconciles_what_the_newest_does_not(save: SaveLog, read: ReadLogs) -> None:
    new = table("shop.items", integer("id", ColumnType.SHORT), decimal("price", 4, 2), varchar("name", 40))
    log = save((OLD, (100_000, "100.00", "old")), (new, (1, "1", "new")))
    frame = read(log, "id bigint, price decimal(20,4), _op string", table="shop.items")
    assert records(frame) == [
        {"id": 100_000, "price": Decimal("100.0000"), "_op": "insert"},
        {"id": 1, "price": Decimal("1.0000"), "_op": "insert"},
    ]


def test_columns_that_nothing_names_are_numbered(save: SaveLog, read: ReadLogs) -> None:
    log = save((OLD, (1, "9.99", "old")), (OLD, (2, "1", None)), metadata=False)
    frame = read(log, table="shop.items")
    assert column_types(frame) == "@1 int, @2 decimal(5,2), @3 string"
    assert [row["@1"] for row in records(frame)] == [1, 2]


def test_columns_without_names_are_not_guessed_over_two_schema_versions(save: SaveLog, read: ReadLogs) -> None:
    new = table("shop.items", decimal("price", 5, 2), integer("id"), varchar("name", 40))
    log = save((OLD, (1, "9.99", "old")), (new, ("1", 2, None)), metadata=False)
    error = failure(read(log, table="shop.items").collect)
    assert isinstance(error, SchemaError)
    assert "the names of the columns are not known; schemaFile can supply them" in error.message


def test_a_dump_names_what_the_log_does_not(save: SaveLog, read: ReadLogs, tmp_path: Path) -> None:
    log = save((OLD, (1, "9.99", "old")), metadata=False)
    dump = tmp_path / "dump.sql"
    dump.write_text(
        "USE `shop`;\nCREATE TABLE `items` (`id` int unsigned, `price` decimal(5,2), `name` varchar(10));\n"
    )
    frame = read(log, table="shop.items", schemaFile=str(dump))
    assert column_types(frame) == "id bigint, price decimal(5,2), name string"
    assert values(records(frame)) == [{"id": 1, "price": Decimal("9.99"), "name": "old"}]


def test_a_table_that_is_not_in_the_logs_is_named(save: SaveLog, read: ReadLogs) -> None:
    error = failure(lambda: read(save((OLD, (1, "1", "a"))), table="shop.orders"))
    assert isinstance(error, SchemaError)
    assert error.message.startswith("the logs contain no rows of shop.orders")
