"""A schema that the user gave beside the DDL of the log, and columns that no definition has."""

from __future__ import annotations

from binspark.schema import SchemaHistory, from_dump
from binspark.schema.notices import HiddenColumns, SchemaNotice
from tests.support.schema.schema_events import BIGINT, INT, Story, text


def given(sql: str) -> Story:
    catalog = from_dump(f"USE shop; {sql};")
    catalog.override()
    return Story(SchemaHistory(catalog))


def test_a_given_schema_takes_precedence_over_create_table() -> None:
    story = given("CREATE TABLE t (x INT, y INT)")
    story.run("CREATE TABLE t (a INT, b INT)")
    assert story.map("shop.t", INT, INT).column_names == ("x", "y")


def test_a_given_schema_from_before_follows_the_statements_of_the_log() -> None:
    story = given("CREATE TABLE t (a INT, b INT)")
    story.run("ALTER TABLE t RENAME COLUMN b TO c, ADD COLUMN d BIGINT")
    assert story.map("shop.t", INT, INT, BIGINT).column_names == ("a", "c", "d")


def test_a_given_schema_from_after_describes_rows_before_a_statement_too() -> None:
    story = given("CREATE TABLE t (a INT, c INT)")
    story.run("CREATE TABLE t (a INT, b INT)")
    assert story.map("shop.t", INT, INT).column_names == ("a", "c")
    story.run("ALTER TABLE t RENAME COLUMN b TO c")
    assert story.map("shop.t", INT, INT).column_names == ("a", "c")


def test_where_a_given_schema_does_not_fit_the_log_has_the_names() -> None:
    story = given("CREATE TABLE t (a INT, c BIGINT)")
    story.run("CREATE TABLE t (a INT, b INT)")
    assert story.map("shop.t", INT, INT).column_names == ("a", "b")
    assert story.map("shop.t", INT, BIGINT).column_names == ("a", "c")


FUNCTIONAL = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10) CHARACTER SET latin1, KEY ((UPPER(name))))"


def notices_of(story: Story) -> list[SchemaNotice]:
    found: list[SchemaNotice] = []
    story.history.on_notice = found.append
    return found


def test_the_column_of_a_functional_index_has_a_number() -> None:
    story = Story()
    notices = notices_of(story)
    story.run(FUNCTIONAL)
    schema = story.map("shop.t", INT, text(10), text(10))
    assert schema.column_names == ("id", "name", "@3")
    assert schema.primary_key == (0,)
    assert [column.visible for column in schema.columns] == [True, True, False]
    story.map("shop.t", INT, text(10), text(11))
    (notice,) = notices
    assert isinstance(notice, HiddenColumns)
    assert str(notice) == "shop.t has a column that is not in its definition, for a functional index; shown as @3"


def test_a_hidden_column_comes_after_one_that_was_added_later() -> None:
    story = Story()
    story.run(FUNCTIONAL, "ALTER TABLE t ADD COLUMN amount BIGINT")
    assert story.map("shop.t", INT, text(10), BIGINT, text(10)).column_names == ("id", "name", "amount", "@4")


def test_more_columns_than_hidden_ones_contradict_the_definition() -> None:
    story = Story()
    story.run(FUNCTIONAL)
    assert story.map("shop.t", INT, text(10), text(10), INT).column_names == ("@1", "@2", "@3", "@4")
    story.run("ALTER TABLE t DROP KEY functional_index")
    assert story.map("shop.t", INT, text(10), text(10)).column_names == ("@1", "@2", "@3")
    assert "4 columns in the log, 2 in the definition" in story.doubts[0]
