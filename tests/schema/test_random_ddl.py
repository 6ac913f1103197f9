"""Random DDL from the grammar of both manuals: the history has the tables of information_schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pymysql.err import MySQLError

from binspark.event.table_map import TableMap
from binspark.schema import Catalog, SchemaHistory, TableSchema
from binspark.schema.definition import HASH_COLUMN
from binspark.schema.notices import SchemaNotice
from binspark.schema.table import TableName
from tests.support.schema.random_ddl import DdlMaker
from tests.support.schema.schema_logs import Recorder, catalog_table, hashes_nullable

DATABASE = "random_ddl"
STATEMENTS_PER_SESSION = 5
COLUMNS = f"""SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = '{DATABASE}' ORDER BY table_name, ordinal_position"""
KEYS = f"""SELECT DISTINCT table_name, index_name FROM information_schema.statistics
    WHERE table_schema = '{DATABASE}' ORDER BY 1, 2"""


class Run:
    """Random statements on a server, and what its log says of the tables then."""

    def __init__(self, recorder: Recorder, seed: int) -> None:
        self.recorder = recorder
        self.maker = DdlMaker(seed, mariadb=recorder.mariadb)
        self.accepted: list[str] = []
        self.notices: list[SchemaNotice] = []
        self.history = SchemaHistory(on_notice=self.notices.append)
        self.mapped: dict[TableName, TableSchema] = {}

    def make_tables(self, count: int) -> None:
        self.recorder.log_metadata("MINIMAL")
        self.recorder.run("SET NAMES utf8mb4", "SET sql_mode = ''")
        self.recorder.new_database(DATABASE)
        for number in range(count):
            if number % STATEMENTS_PER_SESSION == 0:
                self.recorder.run(*self.maker.session())
            statement = self.maker.statement().replace("{database}", DATABASE)
            try:
                self.recorder.run_bytes(statement.encode())
            except MySQLError:
                continue
            self.accepted.append(statement)
            self.maker.tables = self._tables()
        self.recorder.run("SET sql_mode = ''", "SET NAMES utf8mb4")

    def _tables(self) -> dict[str, tuple[list[str], list[str]]]:
        self.recorder.run("SET NAMES utf8mb4")
        tables: dict[str, tuple[list[str], list[str]]] = {}
        for table, column in self.recorder.run(COLUMNS):
            tables.setdefault(table, ([], []))[0].append(column)
        for table, key in self.recorder.run(KEYS):
            tables[table][1].append(key)
        return tables

    def read_log(self) -> Catalog:
        """Log a row of each table that takes one without values; read the log; return the tables of the server."""
        catalog = self.recorder.catalog()
        names = [name for name in catalog.tables if name.schema == DATABASE]
        _, start = self.recorder.log_position()
        for name in names:
            try:
                self.recorder.run(f"INSERT IGNORE INTO {DATABASE}.`{name.table}` () VALUES ()")
            except MySQLError:
                continue
        for event in self.recorder.events():
            self.history.feed(event)
            if isinstance(event.body, TableMap) and event.body.schema == DATABASE and event.offset > start:
                mapped = self.history.table_schema(event.body)
                self.mapped[TableName(mapped.schema, mapped.table)] = hashes_nullable(mapped)
        return catalog

    def different(self, catalog: Catalog) -> Iterator[tuple[TableName, object, object, list[str]]]:
        """Yield the tables that the history and the server have differently, and the statements about them.

        How many hashes there are depends on the storage engine, so the log counts.
        """
        known = {name for name, table in self.history.catalog.tables.items() if table and name.schema == DATABASE}
        for name in sorted(known | {name for name in catalog.tables if name.schema == DATABASE}):
            ours, theirs = schema_in(self.history.catalog, name), schema_in(catalog, name)
            logged = self.mapped.get(name)
            is_right = without_hashes(ours) == without_hashes(theirs) if logged is None else shown(logged) == theirs
            if not is_right:
                about = [statement for statement in self.accepted if name.table.lower() in statement.lower()]
                yield name, logged or ours, theirs, about


def schema_in(catalog: Catalog, name: TableName) -> TableSchema | None:
    if catalog.tables.get(name) is None:
        return None
    return hashes_nullable(shown(catalog_table(catalog, *name)))


def shown(schema: TableSchema) -> TableSchema:
    """Return a schema with members as information_schema shows them: empty if they are not valid text."""
    columns = tuple(
        column if column.members is None else replace(column, members=tuple(map(member_shown, column.members)))
        for column in schema.columns
    )
    return replace(schema, columns=columns)


def member_shown(member: str) -> str:
    return "" if "?" in member or "\\x" in member else member


def without_hashes(schema: TableSchema | None) -> TableSchema | None:
    if schema is None:
        return None
    columns = tuple(column for column in schema.columns if not (column.name or "").startswith(HASH_COLUMN))
    return replace(schema, columns=columns)


@pytest.mark.parametrize(
    ("seed", "count", "fewest"),
    [(1, 200, 50), *(pytest.param(seed, 500, 120, marks=pytest.mark.slow) for seed in range(2, 14))],
)
def test_random_ddl_gives_the_tables_of_the_server(recorder: Recorder, seed: int, count: int, fewest: int) -> None:
    run = Run(recorder, seed)
    run.make_tables(count)
    catalog = run.read_log()
    assert run.notices == []
    assert list(run.different(catalog)) == []
    assert len(run.accepted) >= fewest
