"""Logs and catalogs of real servers, for tests that compare schemas from several sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from binspark.event import Event
from binspark.event.table_map import TableMap
from binspark.files import read_events
from binspark.schema import Catalog, SchemaHistory, TableSchema, from_server
from binspark.schema.definition import HASH_COLUMN
from binspark.schema.lineage import Lineage
from binspark.schema.table import TableName
from binspark.testing.servers import MySQL, Server


class Recorder:
    """One session on a server, and what the server logs from now on."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.mariadb = server.family is not MySQL
        self._connection = server.connect()
        self._cursor = self._connection.cursor()
        self.run("FLUSH BINARY LOGS")
        self._seen = len(server.log_files()) - 1

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements; return the rows of the last."""
        for statement in statements:
            self._cursor.execute(statement)
        return list(self._cursor.fetchall())

    def run_bytes(self, statement: bytes) -> None:
        """Run a statement of these bytes, whatever the character set of the session is."""
        self._cursor._query(statement)

    def new_database(self, name: str, options: str = "CHARACTER SET latin1") -> None:
        self.run(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name} {options}", f"USE {name}")

    def log_metadata(self, setting: str) -> None:
        """Set binlog_row_metadata."""
        self.run(f"SET GLOBAL binlog_row_metadata = {setting}")

    def log_position(self) -> tuple[str, int]:
        """Return the active log and its end."""
        status = "SHOW MASTER STATUS" if self.mariadb else "SHOW BINARY LOG STATUS"
        name, offset, *_ = self.run(status)[0]
        return str(name), int(offset)

    def events(self) -> Iterator[Event]:
        """Yield all events since the beginning."""
        return read_events(self.logs())

    def logs(self) -> list[str]:
        """Return the complete logs since the beginning."""
        self.run("FLUSH BINARY LOGS")
        return [str(path) for path in self.server.log_files()[self._seen : -1]]

    def catalog(self) -> Catalog:
        return from_server(lambda sql: self.run(sql))

    def close(self) -> None:
        self.log_metadata("FULL")
        self._connection.close()


def catalog_table(catalog: Catalog, schema: str, table: str) -> TableSchema:
    """Return a table as a catalog defines it."""
    definition = catalog.tables[TableName(schema, table)]
    assert definition is not None
    return definition.table_schema(schema, table)


def mapped_schemas(events: Iterator[Event], history: SchemaHistory) -> list[TableSchema]:
    """Feed a history, and return the schema of every TABLE_MAP, without what only a history has: the lineage."""
    found = []
    for event in events:
        history.feed(event)
        if isinstance(event.body, TableMap):
            found.append(replace(history.table_schema(event.body), lineage=Lineage()))
    return found


def hashes_nullable(schema: TableSchema) -> TableSchema:
    """Return a schema without what only the log of MariaDB contains: which of its hidden hashes cannot be NULL.

    The lineage, which only a history has, is left out too.
    """
    columns = tuple(
        replace(column, nullable=column.nullable or (column.name or "").startswith(HASH_COLUMN))
        for column in schema.columns
    )
    return replace(schema, columns=columns, lineage=Lineage())


def all_visible(schema: TableSchema) -> TableSchema:
    """Return a schema without what no log of MariaDB contains: invisible and generated columns, and addresses."""
    columns = tuple(
        replace(column, visible=True, notation=None, generated=False, row_end=False) for column in schema.columns
    )
    return replace(schema, columns=columns, lineage=Lineage())
