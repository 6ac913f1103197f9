"""Compared with real servers: collations, dumps, and DDL of every kind."""

from __future__ import annotations

import pytest

from binspark.schema import Catalog, SchemaHistory, from_dump
from binspark.schema.collations import collation_number, default_collation, max_character_bytes
from binspark.schema.table import TableName
from tests.support.schema.schema_logs import Recorder, catalog_table, mapped_schemas
from tests.support.schema.type_tables import create_statements

DATABASE = "schema_servers"
COLLATIONS = {
    "mysql": "SELECT collation_name, id, character_set_name, is_default FROM information_schema.collations",
    "mariadb": """SELECT full_collation_name, id, character_set_name, is_default
        FROM information_schema.collation_character_set_applicability""",
}
SINCE_8_0 = {"utf8mb4": 255}
DUMPS = {"mysql": "mysqldump", "mariadb": "mariadb-dump"}

DDL = (
    "CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20) COMMENT 'a ''quoted'' comment')",
    "CREATE TABLE b LIKE a",
    "CREATE TABLE c SELECT *, 1 AS one FROM a",
    "ALTER TABLE a ADD COLUMN n INT NOT NULL DEFAULT 3 AFTER id, ADD KEY by_n (n)",
    "ALTER TABLE a CHANGE v w VARCHAR(300) CHARACTER SET latin1 FIRST, DROP COLUMN n",
    "CREATE INDEX by_w ON a (w)",
    "DROP INDEX by_w ON a",
    "RENAME TABLE b TO b2, c TO b, b2 TO c",
    "ALTER TABLE c RENAME TO schema_servers.d, ADD x INT UNSIGNED",
    "CREATE TABLE p (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10))",
    "ALTER TABLE p ADD PARTITION (PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "ALTER TABLE p DROP PARTITION p1, p2",
    "ALTER TABLE p REMOVE PARTITIONING",
    "ALTER TABLE p DROP PRIMARY KEY, ADD COLUMN (q INT, r TEXT), ADD PRIMARY KEY (q, r(7))",
    "CREATE TABLE e (a VARCHAR(5), b ENUM('x') CHARACTER SET utf8mb4)",
    "ALTER TABLE e CONVERT TO CHARACTER SET utf8mb3 COLLATE utf8mb3_bin",
    "ALTER TABLE e DEFAULT CHARACTER SET utf8mb4, ADD c TEXT",
    "ALTER DATABASE schema_servers COLLATE utf8mb4_bin",
    "CREATE TABLE f (a VARCHAR(5), b VARCHAR(5) CHARACTER SET utf8mb4, c CHAR(3) BINARY)",
    "ALTER TABLE f CONVERT TO CHARACTER SET DEFAULT",
    "ALTER TABLE f ENGINE=MyISAM COMMENT='x', ORDER BY a, b DESC",
    "CREATE TABLE IF NOT EXISTS f (z INT)",
    "CREATE TABLE g (a INT, b INT, UNIQUE (a))",
    "ALTER TABLE g MODIFY a INT NOT NULL, RENAME COLUMN b TO a2, RENAME INDEX a TO i",
    "CREATE TABLE doomed (a INT)",
    "DROP TABLE doomed",
    "TRUNCATE TABLE a",
    "CREATE VIEW v AS SELECT 1 AS one",
    "DROP VIEW v",
)


def tables_of(catalog: Catalog) -> dict[TableName, object]:
    """Return the tables of the database that are there."""
    return {
        name: catalog_table(catalog, *name)
        for name, definition in catalog.tables.items()
        if name.schema == DATABASE and definition is not None
    }


def test_collations_have_the_numbers_that_the_server_gives_them(recorder: Recorder) -> None:
    rows = recorder.run(COLLATIONS[recorder.server.family.name])
    widths = dict(recorder.run("SELECT character_set_name, maxlen FROM information_schema.character_sets"))
    assert len(rows) > 250
    ours = [(name, collation_number(name, mariadb=recorder.mariadb)) for name, *_ in rows]
    assert ours == [(name, number) for name, number, *_ in rows]
    assert {charset: max_character_bytes(number) for _, number, charset, _ in rows} == {
        charset: widths[charset] for _, _, charset, _ in rows
    }


def test_character_sets_have_the_default_collations_of_the_server(recorder: Recorder) -> None:
    rows = recorder.run(COLLATIONS[recorder.server.family.name])
    reported = {charset: number for _, number, charset, is_default in rows if is_default == "Yes"}
    meant = {charset: default_collation(charset) for charset in reported}
    assert meant | ({} if recorder.mariadb else SINCE_8_0) == reported


def test_a_dump_agrees_with_information_schema(recorder: Recorder) -> None:
    recorder.new_database(DATABASE)
    recorder.run("SET sql_mode = ''", *create_statements(mariadb=recorder.mariadb))
    recorder.run(
        "CREATE VIEW a_view AS SELECT 1 AS x",
        "CREATE TRIGGER before_bits BEFORE INSERT ON bits FOR EACH ROW SET NEW.b = 1",
        "CREATE PROCEDURE makes_tables() BEGIN SELECT 'x;y'; CREATE TABLE never_made (a INT); END",
    )
    server = recorder.server
    options = ("--no-defaults", f"--socket={server.socket}", "--user=root", "--no-data", "--routines")
    dumped = server.programs.run(DUMPS[server.family.name], *options, "--databases", DATABASE)
    assert dumped.returncode == 0
    assert tables_of(from_dump(dumped.stdout.decode())) == tables_of(recorder.catalog())


def test_ddl_of_every_kind_gives_the_tables_of_the_server(recorder: Recorder) -> None:
    recorder.new_database(DATABASE, "CHARACTER SET utf8mb4")
    recorder.run("SET sql_mode = ''", *DDL)
    history = SchemaHistory()
    mapped_schemas(recorder.events(), history)
    assert history.unreadable == []
    assert tables_of(history.catalog) == tables_of(recorder.catalog())


@pytest.mark.parametrize("mode", ["ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "REAL_AS_FLOAT"])
def test_statements_are_read_under_the_sql_mode_that_they_ran_under(recorder: Recorder, mode: str) -> None:
    statements = {
        "ANSI_QUOTES": 'CREATE TABLE "m" ("a ""b""" INT, "c" ENUM(\'x\'))',
        "NO_BACKSLASH_ESCAPES": r"CREATE TABLE m (a ENUM('x\', 'y') COMMENT '\', b INT)",
        "REAL_AS_FLOAT": "CREATE TABLE m (a REAL)",
    }
    recorder.new_database(DATABASE)
    recorder.run(f"SET sql_mode = '{mode}'", statements[mode])
    history = SchemaHistory()
    mapped_schemas(recorder.events(), history)
    recorder.run("SET sql_mode = ''")
    assert tables_of(history.catalog) == tables_of(recorder.catalog())


def test_case_matters_on_the_server(recorder: Recorder) -> None:
    assert recorder.catalog().case_matters
