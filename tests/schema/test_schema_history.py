"""A schema history after the events that it is fed."""

from __future__ import annotations

import pickle

import pytest

from binspark.errors import SchemaError
from binspark.event import Query
from binspark.event.column_types import ColumnType
from binspark.event.status_vars import Charsets, GtidFlags3, StatusCode, StatusVariable
from binspark.event.table_metadata import MetadataField, MetadataKind
from binspark.frames import EventCode
from binspark.schema import SchemaHistory, from_json, to_json
from binspark.schema.notices import SchemaNotice
from binspark.schema.table import TableName
from tests.support.schema.schema_events import BIGINT, INT, MARIADB, Story, table_map, text

CREATE = "CREATE TABLE t (id INT UNSIGNED PRIMARY KEY, name VARCHAR(5))"


def test_names_signs_and_keys_come_from_ddl_where_the_log_has_none() -> None:
    story = Story()
    story.run("CREATE DATABASE shop CHARACTER SET latin1", CREATE)
    schema = story.map("shop.t", INT, text(5))
    assert schema.column_names == ("id", "name")
    assert [(column.unsigned, column.collation) for column in schema.columns] == [(True, None), (None, 8)]
    assert schema.primary_key == (0,)


def test_the_log_takes_precedence() -> None:
    story = Story()
    story.run(CREATE)
    fields = (
        MetadataField(MetadataKind.SIGNEDNESS, (False,) * 8),
        MetadataField(MetadataKind.COLUMN_CHARSET, (33,)),
    )
    schema = story.map("shop.t", INT, text(5), metadata=fields)
    assert [(column.unsigned, column.collation) for column in schema.columns] == [(False, None), (None, 33)]


def test_a_table_without_a_definition_has_the_schema_of_its_table_map() -> None:
    assert Story().map("shop.t", INT, text(5)).column_names == ("@1", "@2")


@pytest.mark.parametrize(
    ("columns", "difference"),
    [
        ([INT], "1 columns in the log, 2 in the definition"),
        ([BIGINT, text(5)], "column 1 (id) is LONGLONG in the log, LONG in the definition"),
        ([INT, text(20)], "column 2 (name) is VARCHAR of length 20 in the log, VARCHAR of length 5 in the definition"),
    ],
)
def test_a_definition_that_disagrees_is_not_used_and_reported_once_with_both_positions(
    columns: list[tuple[int, int]], difference: str
) -> None:
    story = Story()
    story.run("CREATE DATABASE shop CHARACTER SET latin1", CREATE)
    assert story.map("shop.t", *columns).column_names == ("@1", "@2")[: len(columns)]
    story.map("shop.t", *columns)
    (doubt,) = story.doubts
    assert doubt.startswith(f"binlog.000001:204 (TABLE_MAP): shop.t: {difference}; ")
    assert "binlog.000001:104 (QUERY)" in doubt


def test_other_names_in_the_log_than_in_the_definition_are_those_of_the_log() -> None:
    story = Story()
    story.run(CREATE)
    names = MetadataField(MetadataKind.COLUMN_NAME, ("name", "id"))
    assert story.map("shop.t", INT, text(5), metadata=(names,)).column_names == ("name", "id")
    assert "column 1 is called 'name' in the log, 'id' in the definition" in story.doubts[0]


def test_an_unreadable_statement_is_reported_and_its_table_unknown_until_it_is_created_again() -> None:
    reported: list[SchemaNotice] = []
    story = Story(SchemaHistory(on_notice=reported.append))
    story.run(CREATE, "ALTER TABLE t FROBNICATE name")
    assert story.map("shop.t", INT, text(5)).column_names == ("@1", "@2")
    story.run("ALTER TABLE t ADD x INT")
    assert story.map("shop.t", INT, text(5), INT).column_names == ("@1", "@2", "@3")
    story.run("DROP TABLE t", CREATE)
    assert story.map("shop.t", INT, text(5)).column_names == ("id", "name")
    assert reported == story.history.unreadable
    assert [(entry.position.offset, entry.statement) for entry in story.history.unreadable] == [
        (104, "ALTER TABLE t FROBNICATE name")
    ]


def test_a_step_that_does_not_fit_the_known_table_is_reported() -> None:
    story = Story()
    story.run(CREATE, "ALTER TABLE t DROP COLUMN nowhere", CREATE, "ALTER TABLE t ADD id INT")
    assert story.reasons == [
        "column 'nowhere' is changed, but it is not in the known columns of the table",
        "column 'id' is added, but it is already in the table",
    ]


def test_a_statement_that_failed_makes_its_table_unknown() -> None:
    story = Story()
    story.run(CREATE)
    story.run("ALTER TABLE t ADD x INT", error=1317)
    assert story.reasons == ["the statement ended with error 1317"]
    assert story.map("shop.t", INT, text(5), INT).column_names == ("@1", "@2", "@3")


def test_create_if_not_exists_changes_no_table_that_is_known() -> None:
    story = Story()
    story.run(CREATE, "CREATE TABLE IF NOT EXISTS t (other INT)")
    assert story.map("shop.t", INT, text(5)).column_names == ("id", "name")


def test_create_if_not_exists_counts_only_as_far_as_the_log_agrees() -> None:
    story = Story()
    story.run("CREATE TABLE IF NOT EXISTS t (other INT)")
    assert story.map("shop.t", INT).column_names == ("other",)
    assert story.map("shop.t", INT, INT).column_names == ("@1", "@2")


def test_create_if_not_exists_is_certain_in_a_complete_database() -> None:
    story = Story()
    story.run("CREATE DATABASE shop", "CREATE TABLE IF NOT EXISTS t (other INT)")
    assert story.map("shop.t", INT, INT).column_names == ("@1", "@2")
    assert len(story.doubts) == 1


def test_tables_are_renamed_one_after_the_other() -> None:
    story = Story()
    story.run("CREATE TABLE a (x INT)", "CREATE TABLE b (y INT)", "RENAME TABLE a TO c, b TO a, c TO b")
    assert story.map("shop.a", INT).column_names == ("y",)
    assert story.map("shop.b", INT).column_names == ("x",)


def test_a_table_created_from_a_query_is_known_from_the_log_alone() -> None:
    story = Story()
    story.run(CREATE, "DROP TABLE t", "CREATE TABLE t AS SELECT 1 AS one")
    assert story.map("shop.t", INT).column_names == ("@1",)
    assert story.history.unreadable == []


def test_a_copy_keeps_its_schema_when_the_original_changes() -> None:
    story = Story()
    story.run(CREATE, "CREATE TABLE u LIKE t", "ALTER TABLE t RENAME COLUMN name TO label")
    assert story.map("shop.u", INT, text(5)).column_names == ("id", "name")


def test_truncate_and_indexes_leave_a_table_as_it_is() -> None:
    story = Story()
    story.run(CREATE, "TRUNCATE TABLE t", "CREATE INDEX i ON t (name)", "DROP INDEX i ON t")
    assert story.map("shop.t", INT, text(5)).primary_key == (0,)


def test_a_unique_key_serves_as_primary_key_until_there_is_one() -> None:
    story = Story()
    story.run("CREATE TABLE t (a INT NOT NULL, b INT NOT NULL)", "CREATE UNIQUE INDEX i ON t (b)")
    assert story.map("shop.t", INT, INT).primary_key == (1,)
    story.run("ALTER TABLE t ADD PRIMARY KEY (a)")
    assert story.map("shop.t", INT, INT).primary_key == (0,)
    story.run("ALTER TABLE t DROP PRIMARY KEY, DROP INDEX i")
    assert story.map("shop.t", INT, INT).primary_key == ()


def test_temporary_tables_hide_others_only_from_their_own_session() -> None:
    story = Story()
    story.run(CREATE)
    story.run("CREATE TEMPORARY TABLE t (x INT)", "ALTER TABLE t ADD y INT", "DROP TABLE t", thread=2)
    assert story.map("shop.t", INT, text(5)).column_names == ("id", "name")
    story.run("ALTER TABLE t ADD z INT", thread=2)
    assert story.map("shop.t", INT, text(5), INT).column_names == ("id", "name", "z")


def test_of_a_two_phase_alter_only_the_commit_counts() -> None:
    story = Story(log_format=MARIADB)
    story.run(CREATE)
    for flags, expected in ((2, 2), (8, 2), (2, 2), (4, 3)):
        story.run("ALTER TABLE t ADD x INT", status=(StatusVariable(StatusCode.GTID_FLAGS3, GtidFlags3(flags, 1)),))
        definition = story.history.catalog.tables[TableName("shop", "t")]
        assert definition is not None
        assert len(definition.columns) == expected


def test_a_database_without_a_charset_gets_that_of_the_server() -> None:
    story = Story()
    status = (
        StatusVariable(StatusCode.CHARSET, Charsets(45, 45, 33)),
        StatusVariable(StatusCode.DEFAULT_COLLATION_FOR_UTF8MB4, 255),
    )
    story.run("CREATE DATABASE shop", CREATE, "CREATE TABLE u (a VARCHAR(5) CHARACTER SET utf8mb4)", status=status)
    assert story.map("shop.t", INT, text(15)).columns[1].collation == 33
    assert story.map("shop.u", text(20)).columns[0].collation == 255


def test_a_database_that_may_have_existed_has_no_known_collation() -> None:
    story = Story()
    story.run("CREATE DATABASE IF NOT EXISTS shop CHARACTER SET latin1", CREATE)
    assert story.map("shop.t", INT, text(15)).columns[1].collation is None
    story.run("DROP DATABASE IF EXISTS shop", "CREATE DATABASE IF NOT EXISTS shop CHARACTER SET latin1", CREATE)
    assert story.map("shop.t", INT, text(5)).columns[1].collation == 8


def test_with_an_unknown_collation_lengths_are_not_compared() -> None:
    story = Story()
    status = (StatusVariable(StatusCode.CHARSET, Charsets(9999, 9999, 9999)),)
    statements = ("CREATE DATABASE shop", CREATE, "ALTER TABLE t ADD x TEXT, ADD y CHAR(3) BINARY")
    story.run(*statements, "ALTER TABLE t CONVERT TO CHARACTER SET latin1", status=status)
    assert story.reasons == []
    blob, char = (ColumnType.BLOB, 2), (ColumnType.STRING, 0x03FE)
    assert story.map("shop.t", INT, text(5), blob, char).column_names == ("id", "name", "x", "y")


def test_statements_are_read_in_the_character_set_of_the_client() -> None:
    story = Story()
    latin1 = (StatusVariable(StatusCode.CHARSET, Charsets(8, 8, 8)),)
    statement = "CREATE TABLE t (`größe` INT)"
    story.put(EventCode.QUERY, Query(1, 0, 0, "shop", latin1, statement.encode("latin-1")))
    assert story.map("shop.t", INT).column_names == ("größe",)


def test_fractional_digits_that_are_not_logged_come_from_ddl() -> None:
    story = Story(log_format=MARIADB)
    story.run("CREATE TABLE t (a TIME(3), b DATETIME)")
    schema = story.map("shop.t", (ColumnType.TIME, 0), (ColumnType.DATETIME, 0))
    assert [(column.type, column.scale) for column in schema.columns] == [
        (ColumnType.TIME, 3),
        (ColumnType.DATETIME, 0),
    ]


def test_the_same_schema_is_returned_until_the_table_changes() -> None:
    story = Story()
    story.run(CREATE, "CREATE TABLE other (x INT)")
    first = story.map("shop.t", INT, text(5))
    story.run("ALTER TABLE other ADD y INT")
    assert story.map("shop.t", INT, text(5)) is first
    story.run("ALTER TABLE t RENAME COLUMN name TO label")
    assert story.map("shop.t", INT, text(5)).column_names == ("id", "label")


def test_a_history_can_be_pickled() -> None:
    story = Story(SchemaHistory(on_notice=lambda _: None))
    story.run("CREATE DATABASE shop CHARACTER SET latin1", CREATE, "CREATE TABLE x (y WIBBLE)")
    story.map("shop.t", INT, text(5))
    travelled = pickle.loads(pickle.dumps(story.history))
    assert travelled.catalog == story.history.catalog
    assert travelled.unreadable == story.history.unreadable
    assert travelled.table_schema(table_map("shop.t", INT, text(5))).column_names == ("id", "name")


def test_histories_of_two_parts_of_a_log_combine_to_that_of_the_log() -> None:
    statements = (CREATE, "ALTER TABLE t ADD a INT", "ALTER TABLE t CHANGE a b BIGINT", "RENAME TABLE t TO u")
    complete, first, second = Story(), Story(), Story()
    complete.run(*statements)
    first.run(*statements[:2])
    second.offset = first.offset
    second.run(*statements[2:])
    both = first.history.followed_by(second.history)
    assert both.catalog == complete.history.catalog
    assert both.entries == complete.history.entries


def test_what_was_reported_once_is_not_reported_again_by_parts_of_a_history() -> None:
    reported: list[SchemaNotice] = []
    story = Story(SchemaHistory(on_notice=reported.append))
    story.run("CREATE TABLE t (a WIBBLE)")
    assert story.history.until("binlog.000001", 500).unreadable == reported
    assert story.history.followed_by(SchemaHistory()).unreadable == reported
    assert len(reported) == 1


def test_a_reader_that_begins_later_knows_what_was_before() -> None:
    story = Story()
    story.run(CREATE, "ALTER TABLE t RENAME COLUMN name TO label")
    story.next_file("binlog.000002")
    story.run("ALTER TABLE t ADD x INT")
    mapped = table_map("shop.t", INT, text(5))
    assert story.history.until("binlog.000001", 104).table_schema(mapped).column_names == ("id", "name")
    assert story.history.until("binlog.000001", 204).table_schema(mapped).column_names == ("id", "label")
    assert story.history.until("binlog.000002", 4).table_schema(mapped).column_names == ("id", "label")
    with pytest.raises(SchemaError, match="does not contain this file"):
        story.history.until("binlog.000009", 4)


def test_a_catalog_goes_through_json_unchanged() -> None:
    story = Story(log_format=MARIADB)
    story.run(
        "CREATE DATABASE shop CHARACTER SET latin1",
        "CREATE TABLE t (a ENUM('ä','b') NOT NULL, b DECIMAL(5,2) UNSIGNED, c TEXT, UNIQUE (c), PRIMARY KEY (a, c(5)))",
        "CREATE TABLE v (a INT) WITH SYSTEM VERSIONING",
        "CREATE TABLE gone (a INT)",
        "DROP TABLE gone",
    )
    catalog = story.history.catalog
    assert from_json(to_json(catalog)) == catalog
    assert catalog.tables[TableName("shop", "gone")] is None


@pytest.mark.parametrize(
    "document", ["", "[]", "{}", '{"format": "else"}', '{"format": "binspark schema 1", "tables": 3}']
)
def test_an_invalid_schema_document_is_refused(document: str) -> None:
    with pytest.raises(SchemaError):
        from_json(document)


def test_a_history_that_begins_later_has_the_temporary_tables_at_its_position() -> None:
    story = Story()
    story.run("CREATE TABLE t (id INT, name VARCHAR(20))")
    story.run("CREATE TEMPORARY TABLE t (x INT)", thread=2)
    middle = story.offset
    later = Story(story.history.until("binlog.000001", middle))
    later.offset = middle
    later.run("ALTER TABLE t ADD y INT", thread=2)
    assert later.map("shop.t", INT, text(80)).column_names == ("id", "name")
    joined = story.history.followed_by(SchemaHistory()).until("binlog.000001", middle)
    again = Story(joined)
    again.run("ALTER TABLE t ADD y INT", thread=2)
    assert again.map("shop.t", INT, text(80)).column_names == ("id", "name")
