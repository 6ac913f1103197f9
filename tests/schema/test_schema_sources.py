"""Table maps, DDL, information_schema and dumps give the same schema of a table."""

from __future__ import annotations

import pytest

from binspark.event.table_map import TableMap
from binspark.schema import SchemaHistory, TableSchema, from_dump, from_table_map
from tests.support.schema.schema_logs import Recorder, all_visible, catalog_table, mapped_schemas
from tests.support.schema.type_tables import create_statements

SETTINGS = {"mysql": ("FULL", "MINIMAL"), "mariadb": ("FULL", "MINIMAL", "NO_LOG")}
DATABASE = "schema_sources"


def statements_of(recorder: Recorder) -> list[str]:
    return create_statements(mariadb=recorder.mariadb)


@pytest.fixture
def with_tables(recorder: Recorder) -> Recorder:
    """A database with every type, and a row in each table under every setting of binlog_row_metadata."""
    recorder.new_database(DATABASE)
    recorder.run("SET sql_mode = ''", *statements_of(recorder))
    tables = [row[0] for row in recorder.run("SHOW TABLES")]
    for setting in SETTINGS[recorder.server.family.name]:
        recorder.log_metadata(setting)
        for table in tables:
            quoted = "`" + table.replace("`", "``") + "`"
            recorder.run(f"REPLACE INTO {quoted} () VALUES ()", f"DELETE FROM {quoted}")
    return recorder


def schemas_by_table(schemas: list[TableSchema]) -> dict[str, list[TableSchema]]:
    found: dict[str, list[TableSchema]] = {}
    for schema in schemas:
        found.setdefault(schema.table, []).append(schema)
    return found


def test_a_schema_is_the_same_for_every_binlog_row_metadata(with_tables: Recorder) -> None:
    history = SchemaHistory()
    by_table = schemas_by_table(mapped_schemas(with_tables.events(), history))
    assert history.unreadable == []
    assert len(by_table) == len(statements_of(with_tables))
    assert min(len(schemas) for schemas in by_table.values()) == 2 * len(SETTINGS[with_tables.server.family.name])
    assert {table: set(schemas) for table, schemas in by_table.items()} == {
        table: {schemas[0]} for table, schemas in by_table.items()
    }


def test_information_schema_agrees_with_ddl_and_log(with_tables: Recorder) -> None:
    by_table = schemas_by_table(mapped_schemas(with_tables.events(), SchemaHistory()))
    catalog = with_tables.catalog()
    assert {table: catalog_table(catalog, DATABASE, table) for table in by_table} == {
        table: schemas[0] for table, schemas in by_table.items()
    }


def test_full_metadata_alone_gives_the_schema_of_ddl_and_log(with_tables: Recorder) -> None:
    history = SchemaHistory()
    alone = {}
    together = {}
    for event in with_tables.events():
        history.feed(event)
        if isinstance(event.body, TableMap) and event.body.column_names is not None:
            alone[event.body.table] = all_visible(from_table_map(event.body, mariadb=with_tables.mariadb))
            together[event.body.table] = all_visible(history.table_schema(event.body))
    assert alone == together
    assert len(alone) == len(statements_of(with_tables))


def test_the_definitions_that_a_server_shows_are_read_like_a_dump(with_tables: Recorder) -> None:
    tables = [row[0] for row in with_tables.run("SHOW TABLES")]
    quoted = ["`" + table.replace("`", "``") + "`" for table in tables]
    shown = [with_tables.run(f"SHOW CREATE TABLE {table}")[0][1] for table in quoted]
    dumped = from_dump(";\n".join(shown), DATABASE, mariadb=with_tables.mariadb)
    catalog = with_tables.catalog()
    assert {table: catalog_table(dumped, DATABASE, table) for table in tables} == {
        table: catalog_table(catalog, DATABASE, table) for table in tables
    }
