"""The tables that a statement empties: TRUNCATE, DROP and CREATE OR REPLACE leave no row events of the rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NamedTuple

from binspark.schema.catalog import Catalog
from binspark.schema.changes import (
    AlterTable,
    Change,
    CopyTable,
    CreateTable,
    DropDatabase,
    DropTables,
    ReplaceRows,
    Step,
    TruncateTable,
)
from binspark.schema.table import TableName, TableSchema


class Emptied(NamedTuple):
    """The tables that lose all their rows by a statement.

    tables    their schemas before it; without columns if they are not known
    database  the database that was dropped with all its tables, those that are not known included; empty for none
    """

    tables: tuple[TableSchema, ...] = ()
    database: str = ""

    def by_name(self, known: Collection[str], *, case_matters: bool) -> dict[str, TableSchema]:
        """Return the tables by name: as in `known`, the names of tables in row events, where only the case differs.

        A server with lower_case_table_names=1 logs statements with names as they were written.
        """
        spellings = {} if case_matters else {name.lower(): name for name in known}
        found: dict[str, TableSchema] = {}
        for table in self.tables:
            name = table.name if table.name in known else spellings.get(table.name.lower(), table.name)
            schema, _, own_name = name.partition(".")
            found[name] = replace(table, schema=schema, table=own_name)
        return found


NONE_EMPTIED = Emptied()


def emptied_by(change: Change, catalog: Catalog) -> Emptied:
    """Return the tables that a statement empties; `catalog` has what is known before it."""
    if isinstance(change, DropDatabase):
        names = [name for name in catalog.tables if name.schema == change.name and catalog.tables[name] is not None]
        return Emptied(tuple(_schema(name, catalog) for name in names), change.name)
    return Emptied(tuple(_schema(name, catalog) for name in _names(change)))


def _names(change: Change) -> tuple[TableName, ...]:
    match change:
        case DropTables(names):
            return names
        case TruncateTable(name):
            return (name,)
        case CreateTable(name, replaces=True) | CopyTable(name, replaces=True):
            return (name,)
        case AlterTable(_, steps):
            return dropped_tables(steps)
    return ()


def dropped_tables(steps: Iterable[Step]) -> tuple[TableName, ...]:
    """Return the tables that ALTER TABLE drops: their rows are those of a partition then."""
    rows = (step for step in steps if isinstance(step, ReplaceRows) and step.drops)
    return tuple(step.other for step in rows if step.other is not None)


def unknown_table(name: str) -> TableSchema:
    """Return the schema of a table, `shop.orders`, of which nothing but the name is known."""
    schema, _, table = name.partition(".")
    return TableSchema(schema, table, ())


def _schema(name: TableName, catalog: Catalog) -> TableSchema:
    """Return the schema of the table that a statement means, by the name that the server stores."""
    stored = name if catalog.case_matters else catalog.tables.spelling(name)
    definition = catalog.table(name)
    return TableSchema(*stored, ()) if definition is None else definition.table_schema(*stored)
