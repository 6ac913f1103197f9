"""Names that differ only in case: one table to some servers, several to others, and a log does not contain which."""

from __future__ import annotations

import pickle

import pytest

from binspark.event import Query
from binspark.frames import EventCode
from binspark.schema import Catalog, SchemaHistory, from_dump, from_json, to_json
from binspark.schema.changes import DropDatabase, DropTables
from binspark.schema.notices import SchemaNotice
from binspark.schema.server import unaffected_tables
from binspark.schema.table import TableName
from tests.support.schema.schema_events import BIGINT, INT, Story, text

CREATE = "CREATE TABLE Shop.Orders (Id INT)"


def test_a_table_is_found_by_its_name_in_lower_case() -> None:
    story = Story()
    story.run(CREATE)
    assert story.map("shop.orders", INT).column_names == ("Id",)


@pytest.mark.parametrize(
    ("statements", "table", "names"),
    [
        (["ALTER TABLE SHOP.ORDERS ADD x INT"], "shop.orders", ("Id", "x")),
        (["ALTER TABLE orders RENAME COLUMN ID TO number"], "shop.orders", ("number",)),
        (["CREATE INDEX i ON orders (id)", "DROP INDEX I ON ORDERS"], "shop.orders", ("Id",)),
        (["RENAME TABLE orders TO Bills"], "shop.bills", ("Id",)),
        (["RENAME TABLE orders TO Bills"], "shop.orders", ("@1",)),
        (["RENAME TABLE Orders TO ORDERS"], "shop.orders", ("Id",)),
        (["ALTER TABLE ORDERS RENAME Bills"], "shop.bills", ("Id",)),
        (["CREATE TABLE Copy LIKE orders"], "shop.copy", ("Id",)),
        (["CREATE TABLE IF NOT EXISTS orders (other BIGINT)"], "shop.orders", ("Id",)),
        (["CREATE OR REPLACE TABLE ORDERS (other INT)"], "shop.orders", ("other",)),
        (["CREATE OR REPLACE TABLE ORDERS (other INT)", "DROP TABLE orders"], "shop.orders", ("@1",)),
        (["DROP TABLE `orders`"], "shop.orders", ("@1",)),
        (["DROP TABLE `orders`", "CREATE TABLE ordERS (again INT)"], "shop.orders", ("again",)),
        (["DROP DATABASE SHOP"], "shop.orders", ("@1",)),
        (["ALTER TABLE orders FROBNICATE"], "shop.orders", ("@1",)),
    ],
    ids=" ; ".join,
)
def test_statements_may_write_a_name_in_any_case(statements: list[str], table: str, names: tuple[str, ...]) -> None:
    story = Story()
    story.run(CREATE, *statements)
    assert story.map(table, *[INT] * len(names)).column_names == names


def test_the_character_set_of_a_database_counts_for_its_name_in_any_case() -> None:
    story = Story()
    story.run("CREATE DATABASE SHOP CHARACTER SET latin1", "CREATE TABLE Shop.t (a VARCHAR(5))")
    assert story.map("shop.t", text(5)).columns[0].collation == 8


def test_a_temporary_table_is_dropped_by_its_name_in_any_case() -> None:
    story = Story()
    story.run(CREATE, "CREATE TEMPORARY TABLE ORDERS (x INT)", "ALTER TABLE orders ADD y INT", "DROP TABLE Orders")
    assert story.map("shop.orders", INT).column_names == ("Id",)
    story.run("DROP TABLE orders")
    assert story.map("shop.orders", INT).column_names == ("@1",)


def test_a_guess_that_does_not_fit_the_log_is_no_error() -> None:
    story = Story()
    story.run(CREATE)
    assert story.map("shop.orders", BIGINT, INT).column_names == ("@1", "@2")


def test_a_table_that_was_changed_on_a_guess_is_no_error_either() -> None:
    story = Story()
    story.run("CREATE TABLE orders (id INT)", "ALTER TABLE Orders ADD x INT")
    assert story.map("shop.orders", INT, INT).column_names == ("id", "x")
    assert story.map("shop.orders", INT).column_names == ("@1",)


def test_a_stored_name_that_is_not_in_lower_case_shows_that_case_matters() -> None:
    story = Story()
    story.run(CREATE)
    assert story.map("shop.Bills", INT).column_names == ("@1",)
    assert story.map("shop.orders", INT).column_names == ("@1",)
    assert story.map("Shop.Orders", INT).column_names == ("Id",)


def test_earlier_guesses_are_revised() -> None:
    story = Story()
    story.run("CREATE TABLE orders (id INT)", "ALTER TABLE Orders ADD x INT")
    story.map("shop.Orders", INT, INT)
    assert story.map("shop.orders", INT).column_names == ("id",)
    assert story.map("shop.orders", INT, INT).column_names == ("@1", "@2")
    assert len(story.doubts) == 1


def test_two_tables_that_differ_only_in_case_show_that_case_matters() -> None:
    story = Story()
    story.run("CREATE TABLE orders (id INT)", "CREATE TABLE Orders (number INT)", "DROP TABLE ORDERS")
    assert story.map("shop.orders", INT).column_names == ("id",)
    assert story.map("shop.Orders", INT).column_names == ("number",)


def test_a_dump_may_be_newer_than_a_statement_that_created_one_of_its_tables() -> None:
    story = Story(SchemaHistory(from_dump("USE shop; CREATE TABLE orders (id INT, x INT)")))
    story.run("CREATE TABLE Orders (number INT)")
    assert story.map("shop.orders", INT).column_names == ("number",)


def test_a_database_that_is_not_in_lower_case_shows_that_case_matters() -> None:
    story = Story()
    story.put(EventCode.QUERY, Query(1, 0, 0, "Shop", (), b"CREATE TABLE Orders (id INT)"))
    assert story.map("shop.orders", INT).column_names == ("@1",)


def test_the_case_that_a_later_part_of_a_log_shows_counts_for_an_earlier_one() -> None:
    story = Story()
    story.run("CREATE TABLE orders (id INT)", "ALTER TABLE Orders ADD x INT")
    offset = story.offset
    story.map("shop.Orders", INT, INT)
    earlier = Story(story.history.until(story.file, offset))
    assert earlier.map("shop.orders", INT).column_names == ("id",)
    again = Story(Story().history.followed_by(story.history))
    assert again.map("shop.orders", INT).column_names == ("id",)


def test_a_catalog_in_which_case_matters_can_be_pickled() -> None:
    catalog = from_dump("USE shop; CREATE TABLE Orders (id INT)")
    assert Story(SchemaHistory(catalog)).map("shop.orders", INT).column_names == ("id",)
    catalog.case_matters = True
    for travelled in (catalog.copy(), pickle.loads(pickle.dumps(catalog)), from_json(to_json(catalog))):
        assert Story(SchemaHistory(travelled)).map("shop.orders", INT).column_names == ("@1",)


def test_a_table_is_affected_by_its_name_in_any_case() -> None:
    current = from_dump("CREATE DATABASE shop; USE shop; CREATE TABLE a (x INT); CREATE TABLE b (x INT);")
    left = unaffected_tables(current, [DropTables((TableName("Shop", "A"),))])
    assert set(left.tables) == {TableName("shop", "b")}
    assert not left.databases["shop"].complete
    assert unaffected_tables(current, [DropDatabase("SHOP")]) == Catalog()


def test_names_of_a_server_that_stores_them_in_lower_case_are_not_guesses() -> None:
    notices: list[SchemaNotice] = []
    story = Story(SchemaHistory(on_notice=notices.append, lower_case_names=True))
    story.run(CREATE)
    assert story.map("shop.orders", INT).column_names == ("Id",)
    assert story.map("shop.orders", BIGINT).column_names == ("@1",)
    assert len(notices) == 1
