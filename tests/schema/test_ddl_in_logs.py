"""Statements of real servers with MINIMAL metadata, and the rows that are read after them."""

from __future__ import annotations

import pytest

import binspark
from binspark.event.table_metadata import DefaultCharset, MetadataField, MetadataKind
from binspark.schema import Catalog, SchemaHistory
from binspark.schema.table import TableName
from tests.support.schema.schema_events import INT, Story, text
from tests.support.schema.schema_logs import Recorder, catalog_table, mapped_schemas

DATABASE = "ddl_in_logs"
BOTH = (
    "CREATE TABLE t1 (a ENUM(0x61, b'1100010', 'c'), b CHAR(3) DEFAULT _utf8mb4 0x41)",
    "CREATE TABLE ddl_in_logs.20151214 (a DECIMAL(19.5), b FLOAT(7.4))",
    "ALTER TABLE ddl_in_logs.20151214 ADD c INT",
    "CREATE TABLE t2 (c1 INT, c2 INT)",
    "ALTER TABLE t2 ADD c3 INT AFTER c2, MODIFY c2 BIGINT AFTER c1",
    "ALTER TABLE t2 ADD COLUMN c4 INT PARTITION BY HASH (c1) PARTITIONS 2",
    "ALTER TABLE t2 ADD COLUMN c5 INT REMOVE PARTITIONING",
)
MARIADB = (
    "CREATE TABLE t3 (t3.a INT, ddl_in_logs.t3.b INT)",
    "CREATE TABLE m1 (a INT DEFAULT CASE WHEN 1 THEN 2 END, b VARCHAR(90) DEFAULT @@version)",
    "CREATE TABLE m2 (a INT PRIMARY KEY, b INT) PARTITION BY RANGE (a) "
    "(PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN (9))",
    "ALTER TABLE m2 CONVERT PARTITION p TO TABLE m3",
    "ALTER TABLE m3 DROP CONSTRAINT PRIMARY KEY",
    "ALTER TABLE m3 ADD c INT, ADD IF NOT EXISTS c BIGINT",
    "CREATE TABLE m4 (id INT, s DATE, e DATE, PERIOD FOR p(s, e), PRIMARY KEY (id, p WITHOUT OVERLAPS))",
    "CREATE TABLE m5 (a INT, c VARCHAR(10), UNIQUE (c) USING HASH)",
    "CREATE TABLE m6 (a INT, x INT WITH SYSTEM VERSIONING)",
    "CREATE TABLE m7 (a INT)",
    "ALTER TABLE m7 WITH SYSTEM VERSIONING",
    "CREATE TABLE m8 (b GEOMETRY NOT NULL, UNIQUE KEY (b(12)))",
    "CREATE TABLE m9 (a VARCHAR(65535), b DECIMAL(65,38))",
    "SET sql_mode = ORACLE",
    "CREATE TABLE m10 (a BLOB)",
    "SET sql_mode = MAXDB",
    "CREATE TABLE m11 (a TIMESTAMP)",
    "SET sql_mode = ''",
    "SET STATEMENT max_statement_time=60 FOR CREATE TABLE m12 (a INT, b ENUM('x','y'))",
    "SET STATEMENT max_statement_time=(1+2), lock_wait_timeout=3 FOR "
    "ALTER TABLE m12 MODIFY b ENUM('y','x'), ADD c INT FIRST",
    "/* why */ SET STATEMENT max_statement_time=60 FOR RENAME TABLE m12 TO m13",
)


def tables_of(catalog: Catalog) -> dict[TableName, object]:
    return {
        name: catalog_table(catalog, *name)
        for name, definition in catalog.tables.items()
        if name.schema == DATABASE and definition is not None
    }


def run_all(recorder: Recorder, statements: tuple[str, ...]) -> None:
    recorder.log_metadata("MINIMAL")
    recorder.new_database(DATABASE)
    recorder.run("SET sql_mode = ''", *statements)


def test_statements_that_were_not_understood_give_the_tables_of_the_server(recorder: Recorder) -> None:
    run_all(recorder, (*BOTH, *MARIADB * recorder.mariadb))
    history = SchemaHistory()
    mapped_schemas(recorder.events(), history)
    assert history.unreadable == []
    assert tables_of(history.catalog) == tables_of(recorder.catalog())


@pytest.mark.parametrize("names", ["binary", "latin1", "utf8mb4"])
def test_members_have_the_bytes_that_the_client_sent(recorder: Recorder, names: str) -> None:
    recorder.new_database(DATABASE)
    recorder.run(f"SET NAMES {names}")
    recorder.run_bytes("CREATE TABLE t (a ENUM('é') CHARACTER SET latin1, b ENUM('é') CHARACTER SET utf8mb4)".encode())
    recorder.run("SET NAMES utf8mb4")
    history = SchemaHistory()
    mapped_schemas(recorder.events(), history)
    assert tables_of(history.catalog) == tables_of(recorder.catalog())


def test_rows_are_read_after_statements_with_variables_of_their_own(recorder: Recorder) -> None:
    prefix = "SET STATEMENT max_statement_time=60 FOR " * recorder.mariadb
    run_all(
        recorder,
        (
            "CREATE TABLE t (a INT, b ENUM('x','y'))",
            f"{prefix}ALTER TABLE t MODIFY b ENUM('y','x')",
            "INSERT INTO t VALUES (1, 'x')",
            f"{prefix}TRUNCATE t",
        ),
    )
    changes = list(binspark.rows(recorder.logs(), tables=[f"{DATABASE}.t"]))
    assert [(change.op, change.after) for change in changes] == [("insert", {"a": 1, "b": "x"}), ("truncate", None)]


def test_text_in_a_collation_that_a_user_added_is_read_as_bytes_with_a_warning() -> None:
    story = Story()
    collations = MetadataField(MetadataKind.DEFAULT_CHARSET, DefaultCharset(352, ()))
    schema = story.map("shop.t", INT, text(5), metadata=(collations,))
    assert [column.collation for column in schema.columns] == [None, 63]
    assert "collations that only their server knows, and are read as bytes: @2 (352)" in story.doubts[0]


def test_a_definition_has_the_character_set_of_a_collation_that_a_user_added() -> None:
    story = Story()
    story.run("CREATE TABLE t (a INT, b VARCHAR(5) COLLATE latin1_test_ci)")
    collations = MetadataField(MetadataKind.DEFAULT_CHARSET, DefaultCharset(352, ()))
    schema = story.map("shop.t", INT, text(5), metadata=(collations,))
    assert [(column.name, column.collation) for column in schema.columns] == [("a", None), ("b", 8)]
    assert story.doubts == []
