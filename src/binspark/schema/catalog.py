"""The known databases and tables, and the effect of each statement on them.

A log does not contain lower_case_table_names, on which the meaning of a name depends. So a name means the table with
exactly this name; if there is none, the one whose name differs only in case, whose definition is then not certain. A
server that preserves case can be recognized: by a name in a TABLE_MAP or a session that is not all in lower case, or by
two tables whose names differ only in case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from binspark.position import Position
from binspark.schema.alter import alter_table, file_position, lineage_step
from binspark.schema.changes import (
    AlterDatabase,
    AlterTable,
    Change,
    CopyTable,
    CreateDatabase,
    CreateTable,
    DropDatabase,
    DropTables,
    NotUnderstood,
    RenameTables,
    RenameTo,
    ReplaceRows,
    RolledBackRows,
    TemporaryTables,
    Unreadable,
)
from binspark.schema.definition import TableDefinition
from binspark.schema.lineage import Lineage
from binspark.schema.resolve import define_table
from binspark.schema.table import TableName, TableSchema


class KnownTables(MutableMapping[TableName, TableDefinition | None]):
    """Tables by name. A table that is None is known not to exist.

    A server with lower_case_table_names=1 stores names in lower case but logs statements as they are written, so that
    `Shop.Orders` and `shop.orders` may mean the same table. `spelling` finds it.
    """

    def __init__(self, tables: Mapping[TableName, TableDefinition | None] | None = None) -> None:
        self._tables: dict[TableName, TableDefinition | None] = {}
        self._mixed: dict[TableName, dict[TableName, None]] = {}
        self.update(tables or {})

    def __getitem__(self, name: TableName) -> TableDefinition | None:
        return self._tables[name]

    def __setitem__(self, name: TableName, table: TableDefinition | None) -> None:
        self._tables[name] = table
        self._note(name, exists=table is not None)

    def __delitem__(self, name: TableName) -> None:
        del self._tables[name]
        self._note(name, exists=False)

    def __iter__(self) -> Iterator[TableName]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def copy(self) -> KnownTables:
        """Return a copy that changes independently."""
        copied = KnownTables()
        copied._tables = dict(self._tables)
        copied._mixed = {lower: dict(spellings) for lower, spellings in self._mixed.items()}
        return copied

    def spelling(self, name: TableName) -> TableName:
        """Return the name of the table that exists: as written, in lower case, or in any other case."""
        return next(self.spellings(name), name)

    def spellings(self, name: TableName) -> Iterator[TableName]:
        """Yield the names of all existing tables that differ from a name only in case, in that order."""
        lower = in_lower_case(name)
        others = reversed(self._mixed.get(lower, ()))
        for spelling in dict.fromkeys((name, lower, *others)):
            if self._tables.get(spelling) is not None:
                yield spelling

    def _note(self, name: TableName, *, exists: bool) -> None:
        """Index a table whose name is not all in lower case; the others are found by their name."""
        lower = in_lower_case(name)
        if lower == name:
            return
        spellings = self._mixed.setdefault(lower, {})
        spellings.pop(name, None)
        if exists:
            spellings[name] = None
        elif not spellings:
            del self._mixed[lower]


def in_lower_case(name: TableName) -> TableName:
    """Return a name as a server with lower_case_table_names=1 stores it."""
    return TableName(name.schema.lower(), name.table.lower())


@dataclass(frozen=True, slots=True)
class Database:
    """A database.

    complete  all tables are known: a table that is not known does not exist
    present   False if the database was dropped
    """

    collation: int | None = None
    complete: bool = False
    present: bool = True


@dataclass(slots=True)
class Catalog:
    """Databases and tables at one position of a log. A table that is None is known not to exist.

    case_matters  whether names that differ only in case are known to mean different tables
    has_guessed   whether a statement was applied to a table whose name differs in case
    lineages      how the columns of each table were renamed and dropped, whether or not it has a known definition
    overriding    definitions that the user gave: where they agree with the log, no statement in it replaces them
    """

    databases: dict[str, Database] = field(default_factory=dict)
    tables: KnownTables = field(default_factory=KnownTables)
    case_matters: bool = False
    has_guessed: bool = False
    lineages: dict[TableName, Lineage] = field(default_factory=dict, compare=False)
    overriding: dict[TableName, TableDefinition] = field(default_factory=dict)

    def copy(self) -> Catalog:
        """Return a copy that changes independently."""
        return Catalog(
            dict(self.databases),
            self.tables.copy(),
            self.case_matters,
            self.has_guessed,
            dict(self.lineages),
            dict(self.overriding),
        )

    def table(self, name: TableName) -> TableDefinition | None:
        """Return the table that a name means."""
        known = self.tables.get(name)
        return known if known is not None or self.case_matters else self.tables.get(self.tables.spelling(name))

    def table_schema(self, name: TableName) -> TableSchema | None:
        """Return the schema of a table as it is certainly defined; None if it is not known."""
        definition = self.overriding.get(name) or self.tables.get(name)
        if definition is None or not definition.certain:
            return None
        return replace(definition.table_schema(*name), lineage=self.lineage(name))

    def lineage(self, name: TableName) -> Lineage:
        """Return how the columns of a table were renamed and dropped so far."""
        known = self.lineages.get(name)
        if known is None and not self.case_matters:
            known = self.lineages.get(self.tables.spelling(name))
        return Lineage(str(name)) if known is None else known

    def override(self) -> None:
        """Give the current definitions precedence over the statements that are applied from now on."""
        self.overriding = {name: table for name, table in self.tables.items() if table is not None}

    def apply(self, change: Change, origin: Position) -> None:
        """Apply a statement. If it contradicts what is known, raise `NotUnderstood` and forget its tables."""
        apply = _APPLY.get(type(change))
        if apply is None:
            return
        try:
            apply(self, change, origin)
        except NotUnderstood:
            self.forget(*affected_tables(change))
            raise

    def forget(self, *names: TableName) -> None:
        """Remove all that is known about these tables."""
        for name in names:
            self.tables.pop(self._meant(name), None)

    def collation_of(self, schema: str) -> int | None:
        """Return the default collation of a database, None where it is not known."""
        database = self._database(schema)
        return None if database is None else database.collation

    def is_absent(self, name: TableName) -> bool:
        """Return whether a table is known not to exist."""
        if self.table(name) is not None:
            return False
        database = self._database(name.schema)
        return name in self.tables or (database is not None and database.complete)

    def _database(self, schema: str) -> Database | None:
        known = self.databases.get(schema)
        return known if known is not None or self.case_matters else self.databases.get(schema.lower())

    def _is_same(self, schema: str, other: str) -> bool:
        return schema == other or (not self.case_matters and schema.lower() == other.lower())

    def _meant(self, name: TableName) -> TableName:
        """Return the name of the table that a statement means. After a guess the table is no longer certain."""
        if self.case_matters:
            return name
        spelling = self.tables.spelling(name)
        table = self.tables.get(spelling)
        if spelling != name and table is not None:
            self.has_guessed = True
            self.tables[spelling] = replace(table, certain=False)
        return spelling

    def _makes_new(self, change: CreateTable | CopyTable) -> bool:
        """Return whether a statement creates a table; if so, forget the table that it replaces."""
        known = self.table(change.name)
        if known is not None and change.if_not_exists:
            return False
        if known is not None and not change.replaces:
            self._detect_case(change.name, known)
        self.forget(change.name)
        return True

    def _detect_case(self, name: TableName, known: TableDefinition) -> None:
        """Detect a server that preserves case: it creates a table while one exists whose name differs only in case.

        Only definitions from the log count: one from a server or a dump may be newer than the statement.
        """
        if known is not self.tables.get(name) and known.certain and known.origin.file:
            self.case_matters = True

    def _create_table(self, change: CreateTable, origin: Position) -> None:
        certain = not change.if_not_exists or self.is_absent(change.name)
        if not self._makes_new(change):
            return
        self._begin_incarnation(change.name, origin, certain=certain)
        if change.columns is not None:
            definition = define_table(change, self.collation_of(change.name.schema), origin)
            self.tables[change.name] = replace(definition, certain=certain)

    def _copy_table(self, change: CopyTable, origin: Position) -> None:
        certain = not change.if_not_exists or self.is_absent(change.name)
        model = self.tables.get(self._meant(change.model))
        if not self._makes_new(change):
            return
        self._begin_incarnation(change.name, origin, certain=certain)
        if model is not None:
            copied = model.rebuilt()
            self.tables[change.name] = replace(copied, origin=origin, certain=certain and model.certain)

    def _alter_table(self, change: AlterTable, origin: Position) -> None:
        name = self._meant(change.name)
        table = self.tables.get(name)
        collation = self.collation_of(name.schema)
        step = lineage_step(change, table, origin)
        if step is not None:
            self.lineages[name] = self.lineage(name).followed_by(step)
        given = self.overriding.get(name)
        if given is not None:
            with suppress(NotUnderstood):  # it describes the table after this statement already
                self.overriding[name] = alter_table(given, change, collation, given.origin)
        try:
            if table is not None:
                self.tables[name] = alter_table(table, change, collation, origin)
        finally:
            for own in change.steps:
                if isinstance(own, RenameTo):
                    self._move(name, own.name, origin)
                elif isinstance(own, ReplaceRows) and own.other is not None:
                    self._convert_partition(own, self.tables.get(name), origin)

    def _convert_partition(self, step: ReplaceRows, table: TableDefinition | None, origin: Position) -> None:
        """Apply CONVERT PARTITION ... TO TABLE, which creates a table, and CONVERT TABLE, which drops it."""
        assert step.other is not None
        if step.drops:
            self._drop_tables(DropTables((step.other,)), origin)
        elif step.creates:
            self.forget(step.other)
            self._begin_incarnation(step.other, origin)
            if table is not None:
                self.tables[step.other] = replace(table, origin=origin)

    def _rename_tables(self, change: RenameTables, origin: Position) -> None:
        for old, new in change.pairs:
            self._move(self._meant(old), new, origin)

    def _move(self, old: TableName, new: TableName, origin: Position) -> None:
        if old == new:
            return
        self.lineages[new] = self.lineage(old)
        self._begin_incarnation(old, origin)
        if new not in self.overriding and old in self.overriding:
            self.overriding[new] = self.overriding.pop(old)
        self.tables.pop(new, None)
        table = self.tables.get(old)
        if table is not None:
            self.tables[new] = table
        self.tables[old] = None

    def _begin_incarnation(self, name: TableName, origin: Position, *, certain: bool = True) -> None:
        """Note that a name means another table from now on, or none."""
        if certain:
            self.lineages[name] = Lineage(file_position(origin))

    def _drop_tables(self, change: DropTables, origin: Position) -> None:
        for name in change.names:
            meant = self._meant(name)
            self._begin_incarnation(meant, origin)
            self.tables[meant] = self.tables[name] = None

    def _create_database(self, change: CreateDatabase, _origin: Position) -> None:
        """Apply CREATE DATABASE. With IF NOT EXISTS, a database that is not known may exist, with any collation."""
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

    def _drop_database(self, change: DropDatabase, origin: Position) -> None:
        self.databases[change.name] = Database(complete=True, present=False)
        for name in {**self.tables, **self.lineages}:
            if self._is_same(name.schema, change.name):
                self._begin_incarnation(name, origin)
        for name in list(self.tables):
            if self._is_same(name.schema, change.name):
                self.tables[name] = None

    def _unreadable(self, change: Unreadable, origin: Position) -> None:
        for name in change.names:
            self._begin_incarnation(self._meant(name), origin)
        raise NotUnderstood(change.reason)


def affected_tables(change: Change) -> tuple[TableName, ...]:
    """Return the tables that a statement affects."""
    match change:
        case Unreadable(names) | DropTables(names) | TemporaryTables(names):
            return names
        case RolledBackRows(names):
            return names or ()
        case RenameTables(pairs):
            return tuple(name for pair in pairs for name in pair)
        case AlterTable(name, steps):
            renamed = (step.name for step in steps if isinstance(step, RenameTo))
            exchanged = (step.other for step in steps if isinstance(step, ReplaceRows) and step.other is not None)
            return (name, *renamed, *exchanged)
        case CreateTable(name) | CopyTable(name):
            return (name,)
    return ()


def as_stored(
    change: CreateDatabase | AlterDatabase | DropDatabase, schema: str
) -> CreateDatabase | AlterDatabase | DropDatabase:
    """Return a statement about a database with the name that the server stored: the current schema in the event."""
    return replace(change, name=schema) if schema.lower() == change.name.lower() else change


def may_affect(change: Change, name: TableName) -> bool:
    """Return whether a statement may affect a table, whatever the case of its name means."""
    if isinstance(change, DropDatabase):
        return change.name.lower() == name.schema.lower()
    return any(in_lower_case(other) == in_lower_case(name) for other in affected_tables(change))


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
