"""The databases and tables that are known, and what each statement does to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from binspark.position import Position
from binspark.schema.alter import alter_table
from binspark.schema.changes import (
    AlterDatabase,
    AlterTable,
    Change,
    CopyTable,
    CreateDatabase,
    CreateTable,
    DropDatabase,
    DropTables,
    RenameTables,
    RenameTo,
    TemporaryTables,
    Unreadable,
)
from binspark.schema.definition import TableDefinition
from binspark.schema.resolve import define_table
from binspark.schema.sql_reader import NotUnderstood, TableName


@dataclass(frozen=True, slots=True)
class Database:
    """A database.

    complete  it was seen from its beginning, so that a table that is not known is not there
    present   it is there; one that was dropped is not
    """

    collation: int | None = None
    complete: bool = False
    present: bool = True


@dataclass(slots=True)
class Catalog:
    """Databases and tables at one moment. A table that is None is known not to be there."""

    databases: dict[str, Database] = field(default_factory=dict)
    tables: dict[TableName, TableDefinition | None] = field(default_factory=dict)

    def copy(self) -> Catalog:
        return Catalog(dict(self.databases), dict(self.tables))

    def apply(self, change: Change, origin: Position) -> None:
        """Do what a statement did. One that does not fit raises `NotUnderstood`, and its tables are not known then."""
        apply = _APPLY.get(type(change))
        if apply is None:
            return
        try:
            apply(self, change, origin)
        except NotUnderstood:
            self.forget(*subjects(change))
            raise

    def forget(self, *names: TableName) -> None:
        """Know nothing about these tables from here on."""
        for name in names:
            self.tables.pop(name, None)

    def collation_of(self, schema: str) -> int | None:
        database = self.databases.get(schema)
        return None if database is None else database.collation

    def is_absent(self, name: TableName) -> bool:
        """Whether a table is known not to be there."""
        if name in self.tables:
            return self.tables[name] is None
        database = self.databases.get(name.schema)
        return database is not None and database.complete

    def _create_table(self, change: CreateTable, origin: Position) -> None:
        if change.if_not_exists and self.tables.get(change.name) is not None:
            return
        certain = not change.if_not_exists or self.is_absent(change.name)
        if change.columns is None:
            self.forget(change.name)
            return
        definition = define_table(change, self.collation_of(change.name.schema), origin)
        self.tables[change.name] = replace(definition, certain=certain)

    def _copy_table(self, change: CopyTable, origin: Position) -> None:
        if change.if_not_exists and self.tables.get(change.name) is not None:
            return
        certain = not change.if_not_exists or self.is_absent(change.name)
        model = self.tables.get(change.model)
        if model is None:
            self.forget(change.name)
        else:
            self.tables[change.name] = replace(model, origin=origin, certain=certain and model.certain)

    def _alter_table(self, change: AlterTable, origin: Position) -> None:
        table = self.tables.get(change.name)
        if table is not None:
            self.tables[change.name] = alter_table(table, change, self.collation_of(change.name.schema), origin)
        for step in change.steps:
            if isinstance(step, RenameTo):
                self._move(change.name, step.name)

    def _rename_tables(self, change: RenameTables, _origin: Position) -> None:
        for old, new in change.pairs:
            self._move(old, new)

    def _move(self, old: TableName, new: TableName) -> None:
        if old == new:
            return
        self.forget(new)
        table = self.tables.get(old)
        if table is not None:
            self.tables[new] = table
        self.tables[old] = None

    def _drop_tables(self, change: DropTables, _origin: Position) -> None:
        for name in change.names:
            self.tables[name] = None

    def _create_database(self, change: CreateDatabase, _origin: Position) -> None:
        """With IF NOT EXISTS a database that was never heard of may be there already, with any collation."""
        known = self.databases.get(change.name)
        if change.if_not_exists and known is not None and known.present:
            return
        certain = known is not None or not change.if_not_exists
        collation = change.session.collation(change.charset, change.session.server_collation)
        self.databases[change.name] = Database(collation, complete=True) if certain else Database()

    def _alter_database(self, change: AlterDatabase, _origin: Position) -> None:
        if change.charset:
            known = self.databases.get(change.name, Database())
            collation = change.session.collation(change.charset, change.session.server_collation)
            self.databases[change.name] = replace(known, collation=collation)

    def _drop_database(self, change: DropDatabase, _origin: Position) -> None:
        self.databases[change.name] = Database(complete=True, present=False)
        self.tables = {name: None if name.schema == change.name else table for name, table in self.tables.items()}

    def _unreadable(self, change: Unreadable, _origin: Position) -> None:
        raise NotUnderstood(change.reason)


def subjects(change: Change) -> tuple[TableName, ...]:
    """Return the tables that a statement is about."""
    match change:
        case Unreadable(names) | DropTables(names) | TemporaryTables(names):
            return names
        case RenameTables(pairs):
            return tuple(name for pair in pairs for name in pair)
        case AlterTable(name, steps):
            return (name, *(step.name for step in steps if isinstance(step, RenameTo)))
        case CreateTable(name) | CopyTable(name):
            return (name,)
    return ()


_APPLY: dict[type, Callable[[Catalog, Any, Position], None]] = {
    CreateTable: Catalog._create_table,
    CopyTable: Catalog._copy_table,
    AlterTable: Catalog._alter_table,
    RenameTables: Catalog._rename_tables,
    DropTables: Catalog._drop_tables,
    CreateDatabase: Catalog._create_database,
    AlterDatabase: Catalog._alter_database,
    DropDatabase: Catalog._drop_database,
    Unreadable: Catalog._unreadable,
}
