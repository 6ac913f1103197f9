"""Tables that change inside the logs: the newest schema wins, and rows of older ones are brought into it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import binspark
from binspark import SchemaError
from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
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


CREATE = "CREATE TABLE items (id INT, price DECIMAL(5,2), name VARCHAR(10))"


@pytest.mark.parametrize("created", [True, False], ids=["from the beginning", "log begins later"])
def test_rows_before_a_rename_have_their_value_under_the_new_name(created: bool, save: SaveLog, read: ReadLogs) -> None:
    renamed = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("title", 40))
    log = save(
        *([CREATE] if created else []),
        (OLD, (1, "9.99", "old")),
        "ALTER TABLE items RENAME COLUMN name TO title",
        (renamed, (2, "1", "new")),
    )
    assert [row["title"] for row in records(read(log, table="shop.items"))] == ["old", "new"]
    assert [row["title"] for row in records(read(log, "title string", table="shop.items"))] == ["old", "new"]
    assert [row["name"] for row in records(read(log, "name string", table="shop.items"))] == ["old", "new"]


def test_chains_of_renames_swaps_and_new_types_are_followed(save: SaveLog, read: ReadLogs) -> None:
    two = table("shop.items", integer("id"), integer("a"), integer("b"))
    swapped = table("shop.items", integer("id"), integer("b"), integer("a"))
    last = table("shop.items", integer("id"), integer("c", ColumnType.LONGLONG), integer("a"))
    log = save(
        "CREATE TABLE items (id INT, a INT, b INT)",
        (two, (1, 10, 20)),
        "ALTER TABLE items RENAME COLUMN a TO b, RENAME COLUMN b TO a",
        (swapped, (2, 11, 21)),
        "ALTER TABLE items CHANGE b c BIGINT",
        (last, (3, 2**40, 22)),
        "RENAME TABLE items TO things",
        "ALTER TABLE things RENAME COLUMN a TO d",
        "RENAME TABLE things TO items",
    )
    frame = read(log, table="shop.items", before=True)
    assert column_types(frame) == "id int, c bigint, d int"
    assert values(records(frame)) == [
        {"id": 1, "c": 10, "d": 20},
        {"id": 2, "c": 11, "d": 21},
        {"id": 3, "c": 2**40, "d": 22},
    ]


def test_before_images_follow_a_rename(tmp_path: Path, read: ReadLogs) -> None:
    log = BinlogBuilder()
    log.transaction(update(OLD, ((1, "9.99", "a"), (1, "8.88", "b"))))
    log.ddl("ALTER TABLE items CHANGE name title VARCHAR(10)", schema="shop")
    renamed = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("title", 40))
    log.transaction(update(renamed, ((1, "8.88", "b"), (1, "8.88", "c"))))
    frame = read(log.save(tmp_path)[0], table="shop.items", before=True)
    assert [row["_before"]["title"] for row in records(frame)] == ["a", "b"]


SHORT = table("shop.items", integer("id"), decimal("price", 5, 2))


def test_dropped_columns_can_be_asked_for(save: SaveLog, read: ReadLogs) -> None:
    log = save(CREATE, (OLD, (1, "9.99", "old")), "ALTER TABLE items DROP COLUMN name", (SHORT, (2, "1")))
    assert column_types(read(log, table="shop.items")) == "id int, price decimal(5,2)"
    kept = read(log, table="shop.items", droppedColumns="keep")
    assert column_types(kept) == "id int, price decimal(5,2), name string"
    assert [row["name"] for row in records(kept)] == ["old", None]
    asked = read(log, "id int, name string", table="shop.items")
    assert records(asked) == [{"id": 1, "name": "old"}, {"id": 2, "name": None}]


def test_a_column_that_is_dropped_and_added_again_is_another_column(save: SaveLog, read: ReadLogs) -> None:
    log = save(
        CREATE,
        (OLD, (1, "9.99", "old")),
        "ALTER TABLE items DROP COLUMN name",
        "ALTER TABLE items ADD COLUMN name VARCHAR(10)",
        (OLD, (2, "1", "new")),
    )
    assert [row["name"] for row in records(read(log, table="shop.items"))] == [None, "new"]
    kept = records(read(log, table="shop.items", droppedColumns="keep"))
    assert [(row["name"], row["name_dropped"]) for row in kept] == [(None, "old"), ("new", None)]


def test_a_dropped_column_of_unknown_type_is_not_guessed(save: SaveLog, read: ReadLogs) -> None:
    log = save((OLD, (1, "9.99", "old")), "ALTER TABLE items DROP COLUMN name", (SHORT, (2, "1")))
    error = failure(lambda: read(log, table="shop.items", droppedColumns="keep"))
    assert "had a column 'name', but the logs do not show its type: use .schema(…)" in error.message
    asked = read(log, "id int, name string", table="shop.items")
    assert [row["name"] for row in records(asked)] == ["old", None]


def test_up_to_a_position_before_ddl_the_table_is_as_it_was_then(save: SaveLog, read: ReadLogs) -> None:
    renamed = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("title", 40))
    log = save(
        CREATE, (OLD, (1, "9.99", "old")), "ALTER TABLE items CHANGE name title VARCHAR(10)", (renamed, (2, "1", "n"))
    )
    change = next(event for event in binspark.events(log) if "ALTER" in str(event.body))
    frame = read(log, table="shop.items", stopPosition=f"{log.name}:{change.offset}")
    assert column_types(frame) == "id int, price decimal(5,2), name string"
    assert values(records(frame)) == [{"id": 1, "price": Decimal("9.99"), "name": "old"}]


def test_an_integer_that_becomes_text_is_text_in_all_rows(save: SaveLog, read: ReadLogs) -> None:
    new = table("shop.items", varchar("id", 40), varchar("price", 40), varchar("name", 40))
    log = save(
        CREATE,
        (OLD, (1, "9.99", "old")),
        "ALTER TABLE items MODIFY id VARCHAR(10), MODIFY price VARCHAR(10)",
        (new, ("b", "c", "d")),
    )
    found = values(records(read(log, table="shop.items")))
    assert found[0] == {"id": "1", "price": "9.99", "name": "old"}


def test_a_table_that_was_created_again_has_the_schema_of_the_new_one(save: SaveLog, read: ReadLogs) -> None:
    new = table("shop.items", integer("id", ColumnType.LONGLONG), varchar("price", 40))
    log = save(
        CREATE,
        (OLD, (1, "9.99", "old")),
        "DROP TABLE items",
        "CREATE TABLE items (id BIGINT, price VARCHAR(10))",
        (new, (2, "free")),
    )
    frame = read(log, table="shop.items")
    assert column_types(frame) == "id bigint, price string"
    assert [row["_op"] for row in records(frame)] == ["insert", "truncate", "insert"]
    rows = records(frame.where("_op = 'insert'"))
    assert values(rows) == [{"id": 1, "price": "9.99"}, {"id": 2, "price": "free"}]


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
    ("column", "why"),
    [
        (integer("name"), "name cannot become int32"),
        (integer("id", ColumnType.SHORT), "id cannot become int16"),
        (decimal("price", 4, 2), r"price cannot become decimal128(4, 2)"),
    ],
    ids=["another type", "a narrower integer", "fewer digits"],
)
def test_what_an_error_about_types_advises_works(column: Column, why: str, save: SaveLog, read: ReadLogs) -> None:
    columns = [column if column.name == old.name else old for old in OLD.columns]
    row = [None if old is column else value for old, value in zip(columns, (1, "1", "new"), strict=True)]
    log = save(
        (OLD, (1, "9.99", "old")), "ALTER TABLE items COMMENT 'new'", (table("shop.items", *columns), tuple(row))
    )
    error = failure(read(log, table="shop.items").collect)
    assert isinstance(error, SchemaError)
    first = batch_records(log, "shop.items")[0]["_log_pos"]
    position = f"{log.name}:{next(event.offset for event in binspark.events(log) if 'ALTER' in str(event.body))}"
    advice = (
        f"stringColumns={column.name} reads it as text in all versions;"
        f" startPosition={position} reads the rows after the change; stopPosition={position} those before it"
    )
    assert error.message.startswith(f"rows of one schema version do not fit another: {why}; {advice}. shop.items (id")
    assert f"name string) at {log.name}:{first} and shop.items (" in error.message
    assert error.position.offset == first
    as_text = values(records(read(log, table="shop.items", stringColumns=column.name)))
    assert [row[column.name] for row in as_text] == [{"id": "1", "price": "9.99", "name": "old"}[column.name], None]
    assert len(records(read(log, table="shop.items", startPosition=position))) == 1
    assert len(records(read(log, table="shop.items", stopPosition=position))) == 1


def test_all_columns_whose_types_conflict_are_named_at_once(save: SaveLog, read: ReadLogs) -> None:
    new = table("shop.items", varchar("id", 40), integer("price"), integer("name"))
    log = save(
        CREATE,
        (OLD, (1, "9.99", "old")),
        "DROP TABLE items",
        "CREATE TABLE items (id VARCHAR(10), price INT, name INT)",
        (new, ("b", 2, 3)),
    )
    error = failure(read(log, table="shop.items").collect)
    assert "stringColumns=price,name reads them as text in all versions" in error.message
    frame = read(log, table="shop.items", stringColumns="price,name")
    assert values(records(frame.where("_op = 'insert'"))) == [
        {"id": "1", "price": "9.99", "name": "old"},
        {"id": "b", "price": "2", "name": "3"},
    ]


def test_a_schema_of_ones_own_reconciles_what_the_newest_does_not(save: SaveLog, read: ReadLogs) -> None:
    new = table("shop.items", integer("id", ColumnType.SHORT), decimal("price", 4, 2), varchar("name", 40))
    log = save((OLD, (100_000, "100.00", "old")), (new, (1, "1", "new")))
    frame = read(log, "id bigint, price decimal(20,4), _op string", table="shop.items")
    assert records(frame) == [
        {"id": 100_000, "price": Decimal("100.0000"), "_op": "insert"},
        {"id": 1, "price": Decimal("1.0000"), "_op": "insert"},
    ]


def test_the_column_of_a_functional_index_is_no_column_of_the_table(save: SaveLog, read: ReadLogs) -> None:
    hidden = table("shop.items", integer("id"), varchar("name", 40), varchar("hidden", 40))
    renamed = table("shop.items", integer("id"), varchar("title", 40), varchar("hidden", 40))
    log = save(
        "CREATE TABLE items (id INT, name VARCHAR(10), KEY ((UPPER(name))))",
        (hidden, (1, "a", "A")),
        "ALTER TABLE items RENAME COLUMN name TO title",
        (renamed, (2, "b", "B")),
        metadata=False,
    )
    assert values(records(read(log, table="shop.items"))) == [{"id": 1, "title": "a"}, {"id": 2, "title": "b"}]


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


def test_spark_reads_all_columns_of_an_export_of_a_table_that_changed(
    save: SaveLog, spark: SparkSession, tmp_path: Path
) -> None:
    new = table("shop.items", integer("id", ColumnType.LONGLONG), varchar("title", 40), double("weight"))
    alter = (
        "ALTER TABLE items MODIFY id BIGINT, DROP COLUMN price, RENAME COLUMN name TO title, ADD COLUMN weight DOUBLE"
    )
    log = save(CREATE, (OLD, (1, "9.99", "old")), alter, (new, (2**40, "new", 0.5)))
    assert exit_code(["export", str(log), "-o", str(tmp_path / "out")]) == 0
    frame = spark.read.parquet(str(tmp_path / "out" / "shop.items")).orderBy("id")
    assert values(records(frame)) == [
        {"id": 1, "title": "old", "weight": None, "price": Decimal("9.99")},
        {"id": 2**40, "title": "new", "weight": 0.5, "price": None},
    ]
