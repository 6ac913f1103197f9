"""Long random sequences of ALTER TABLE: after each statement the history has the schema of the server."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pymysql.err import MySQLError

from binspark.event.table_map import TableMap
from binspark.schema import SchemaHistory, TableSchema
from binspark.schema.table import TableName
from tests.support.schema.random_alters import AlterMaker
from tests.support.schema.schema_logs import Recorder, catalog_table, hashes_nullable

DATABASE = "schema_alters"
STATEMENTS = 250
FEWEST_TAKEN = 60


def record_alters(recorder: Recorder, seed: int) -> dict[tuple[str, int], tuple[str, TableSchema]]:
    """Run random statements; return for each accepted one the position after it and the schema of the server."""
    maker = AlterMaker(seed)
    recorder.new_database(DATABASE)
    recorder.run("SET sql_mode = ''", "CREATE TABLE t (id INT NOT NULL, a VARCHAR(20), b TEXT, PRIMARY KEY (id))")
    said = {}
    for _ in range(STATEMENTS):
        maker.columns = [row[0] for row in recorder.run("SHOW COLUMNS FROM t")]
        maker.keys = sorted({row[2] for row in recorder.run("SHOW INDEX FROM t")})
        statement = maker.statement("t")
        with suppress(MySQLError):
            recorder.run(statement)
            said[recorder.log_position()] = statement, catalog_table(recorder.catalog(), DATABASE, "t")
            recorder.log_metadata("FULL")
            recorder.run("INSERT INTO t () VALUES ()")
            recorder.log_metadata("MINIMAL")
            recorder.run("DELETE FROM t")
    return said


def replay(recorder: Recorder, positions: set[tuple[str, int]]) -> dict[tuple[str, int], TableSchema]:
    """Feed the log to a history; return its schemas at these positions."""
    history = SchemaHistory()
    known = {}
    for event in recorder.events():
        history.feed(event)
        position = event.file.rpartition("/")[2], event.end_offset
        definition = history.catalog.tables.get(TableName(DATABASE, "t"))
        if position in positions and definition is not None:
            known[position] = definition.table_schema(DATABASE, "t")
        if isinstance(event.body, TableMap) and event.body.schema == DATABASE:
            logged = history.table_schema(event.body)
            assert definition is not None
            assert hashes_nullable(logged) == definition.table_schema(DATABASE, "t")
    assert history.unreadable == []
    return known


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_history_follows_any_sequence_of_alters(recorder: Recorder, seed: int) -> None:
    said = record_alters(recorder, seed)
    known = replay(recorder, set(said))
    assert len(said) >= FEWEST_TAKEN
    assert {position: (said[position][0], schema) for position, schema in known.items()} == said
