"""What statements do to mirrored tables: CREATE, ALTER, RENAME, DROP and TRUNCATE, each exactly once.

A range of the log ends after such a statement. So all rows before it are applied with the old schema, in the commit
that also stores what is left to do (`TableState.pending`); the change itself is the next commit. A table whose position
is after the statement has it already.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from binspark.mirror.leaves import ColumnRewrite
from binspark.mirror.schema.alter import (
    AlteredTable,
    Pending,
    Resnapshot,
    check_types,
    fills,
    plan_alter,
    schema_change,
)
from binspark.mirror.schema.definitions import stored
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import table_of_versions, versions_name
from binspark.mirror.settings import DropMode
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.mirror.uncertain_rows import UncertainRows
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.changes import (
    AlterTable,
    CopyTable,
    CreateTable,
    DropDatabase,
    DropTables,
    NotUnderstood,
    RenameTables,
    RenameTo,
    ReplaceRows,
    TruncateTable,
)
from binspark.schema.emptied import dropped_tables
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.spark.streaming.statements import Statement

log = logging.getLogger("binspark.mirror")
_MOVING = "__binspark_moving"


class StatementApplier:
    """Makes the changes of statements in the tables of a mirror.

    missing      tables that the source has and the mirror has not: their rows have to be copied
    reasons      why tables of the mirror are copied again
    config       how the server is reached from which tables are copied. Without it, all that is known of tables comes
                 from the log
    on_gone      is called with a table that the log drops, if its versions do not end by its changes, and the position
    """

    def __init__(
        self,
        tables: MirroredTables,
        config: ConnectionConfig | None,
        on_gone: Callable[[TableName, BinlogPosition], None] = lambda _name, _position: None,
    ) -> None:
        self._tables = tables
        self._config = config
        self._on_gone = on_gone
        self._uncertain = UncertainRows(tables, config)
        self.missing: set[TableName] = set()
        self.reasons: dict[TableName, str] = {}
        self._left: set[TableName] = set()

    def emptied(self, statement: Statement) -> set[TableName]:
        """Return the tables whose rows before a statement need not be applied: they are removed or copied again.

        The latter stay at their positions until they are copied: a run that is killed before that finds the statement
        again.
        """
        change = statement.change
        copied = {table.name for table in map(self._tables.find, self.missing) if table is not None} | self._left
        uncertain = map(self._tables.find, self._uncertain.of(statement))
        copied |= {table.name for table in uncertain if table is not None}
        if statement.rows_follow:
            return copied
        return {table.name for table in self._emptied_by(change)} | copied

    def before_rows(self, statement: Statement, start: BinlogPosition) -> None:
        """Make what has to be made before the rows of a range are applied: rows follow CREATE TABLE in it."""
        if statement.rows_follow and isinstance(statement.change, CreateTable | CopyTable):
            self._create(statement, start)

    def pending(self, statement: Statement) -> dict[TableName, Pending]:
        """Return what a statement leaves to do for each table whose rows before it are applied first."""
        change = statement.change
        if isinstance(change, AlterTable):
            return dict(self._altered(change, statement))
        if isinstance(change, RenameTables):
            return dict(self._renamed(change, statement))
        return {}

    def after_rows(self, statement: Statement) -> None:
        """Make the change of a statement, after all rows before it were applied."""
        change = statement.change
        match change:
            case TruncateTable():
                for table in self._due(self._emptied_by(change), statement):
                    table.commit(table.state.moved(statement.position), removed=table.version.files)
            case DropTables() | DropDatabase() | AlterTable():
                for table in self._due(self._emptied_by(change), statement):
                    self._drop(table, statement)
            case CreateTable() | CopyTable() if not statement.rows_follow:
                self._create(statement, statement.position)
        for name, reason in self._uncertain.of(statement).items():
            self.copy_again(name, reason)
        self._end_abandoned(statement)
        self.finish()
        self._leave(statement)
        self._note_missing(change)
        self._tables.apply(change, statement.origin)
        for table in self._tables:
            is_live = table.state.phase is not Phase.DROPPED and not table.has_versions
            is_known = table.name not in self.missing and is_live
            if is_known and self._tables.catalog.tables.get(table.source_name) != table.definition:
                self._tables.define(table.source_name, table.definition)

    def _note_missing(self, change: object) -> None:
        """Note tables that were renamed from tables which are not mirrored."""
        match change:
            case RenameTables(pairs):
                names = set(_final_names(pairs).values())
            case AlterTable(_, steps):
                names = {step.name for step in steps if isinstance(step, RenameTo)}
                names |= {step.other for step in steps if isinstance(step, ReplaceRows) and step.creates and step.other}
            case _:
                return
        self.missing |= {name for name in names if self._tables.patterns.wants(name) and name not in self._tables}

    def finish(self) -> None:
        """Make all changes that were left to do, also those of a run that was killed."""
        while waiting := [table for table in self._tables if table.state.pending is not None]:
            self._finish(waiting[0], Pending.from_json(waiting[0].state.pending or ""))
        for table in self._tables:
            if table.name.table.endswith(_MOVING):
                name = versions_name(table.source_name) if table.has_versions else table.source_name
                self._tables.rename(table, name)

    # --- Tables that come and go --------------------------------------------------------------------------------------

    def _create(self, statement: Statement, position: BinlogPosition) -> None:
        change = statement.change
        assert isinstance(change, CreateTable | CopyTable)
        known = self._tables.find(change.name)
        exists = known is not None and known.state.phase is not Phase.DROPPED
        if known is not None and known.position.reaches(statement.position):
            return
        if not self._tables.patterns.wants(change.name) or (exists and change.if_not_exists):
            return
        if isinstance(change, CopyTable) and self._may_be_ahead(change.model, statement):
            self.copy_again(change.name, f"{change.model}, which it is like, may have had other columns then")
            return
        catalog = self._after(statement)
        definition = catalog.tables.get(change.name)
        if definition is None:
            self.copy_again(change.name, "its CREATE TABLE is not understood")
            return
        self._tables.create(change.name, replace(definition, certain=True), position, Phase.CURRENT)

    def _may_be_ahead(self, name: TableName, statement: Statement) -> bool:
        """Return whether the definition of a table may be that of a position after a statement.

        That of a table which is not mirrored is as the server has it now. That of one which will be dropped is as it
        was when a copy of it was abandoned.
        """
        table = self._tables.find(name)
        if table is None or table.state.phase is Phase.DROPPED:
            return self._config is not None
        return not statement.position.reaches(table.position)

    def _drop(self, table: OpenTable, statement: Statement) -> None:
        if self._tables.settings.on_drop is DropMode.DROP:
            self._tables.drop(table.name)
            return
        self._end_without_key(table, statement.position)
        table.commit(replace(table.state.moved(statement.position), phase=Phase.DROPPED, pending=None))
        self._tables.suspend_versions(table.name)

    def _end_without_key(self, table: OpenTable, position: BinlogPosition) -> None:
        """End versions from before a table lost its key: the log does not end them any more."""
        if not table.table.key and not table.has_versions:
            self._on_gone(table.name, position)

    def _emptied_by(self, change: object) -> list[OpenTable]:
        match change:
            case TruncateTable(name):
                names: Iterable[TableName] = (name,)
            case DropTables(names):
                pass
            case DropDatabase(schema):
                own = (table for table in self._tables if not table.has_versions)
                names = [table.name for table in own if table.name.schema.lower() == schema.lower()]
            case CreateTable(name, replaces=True) | CopyTable(name, replaces=True):
                names = (name,)
            case AlterTable(_, steps):
                names = dropped_tables(steps)
            case _:
                names = ()
        found = (self._tables.find(name) for name in names)
        return [table for table in found if table is not None]

    def _due(self, tables: Iterable[OpenTable], statement: Statement) -> Iterator[OpenTable]:
        """Yield the tables that a statement has not changed yet."""
        for table in tables:
            if table.is_applied and not table.state.position.reaches(statement.position):
                yield table

    def copy_again(self, name: TableName, reason: str) -> None:
        """Mark a table to be copied again."""
        if self._tables.patterns.wants(name):
            log.warning("%s is copied again: %s", name, reason)
            self.missing.add(name)
            self.reasons[name] = reason

    def _copy_again_as(self, table: OpenTable, new_name: TableName, reason: str) -> None:
        """Mark a table to be copied again under the name that a statement gives it; its old name is free by then."""
        self.copy_again(new_name, reason)
        if new_name != table.name:
            self._left.add(table.name)

    def _leave(self, statement: Statement) -> None:
        """Drop the mirrors of tables that are copied again under other names."""
        for table in filter(None, map(self._tables.find, self._left)):
            self._on_gone(table.name, statement.position)
            self._tables.drop(table.name)
        self._left.clear()

    def _end_abandoned(self, statement: Statement) -> None:
        """Note that the log has dropped tables whose copies were given up, or has given them other names."""
        change = statement.change
        match change:
            case RenameTables(pairs):
                found = list(filter(None, map(self._tables.find, _final_names(pairs))))
            case AlterTable(name, steps) if any(isinstance(step, RenameTo) for step in steps):
                found = list(filter(None, [self._tables.find(name)]))
            case _:
                found = self._emptied_by(change)
        for table in found:
            if table.state.abandoned:
                self._on_gone(table.name, statement.position)
                table.commit(replace(table.state.moved(statement.position), abandoned=False))

    # --- ALTER and RENAME ---------------------------------------------------------------------------------------------

    def _altered(self, change: AlterTable, statement: Statement) -> Iterator[tuple[TableName, Pending]]:
        for name in _exchanged(change):
            other = self._tables.find(name)
            if other is None or not other.position.reaches(statement.position):
                self.copy_again(name, "a partition was exchanged with it")
        table = self._tables.find(change.name)
        new_name = next((step.name for step in change.steps if isinstance(step, RenameTo)), change.name)
        if table is None or not any(self._due([table], statement)):
            return
        if new_name == change.name:
            new_name = table.name
        if table.state.phase is Phase.CATCH_UP:
            self._copy_again_as(table, new_name, "it was altered while it was copied")
            return
        before, after = self._tables.catalog, self._after(statement)
        definition = after.tables.get(new_name)
        if definition is None:
            self._copy_again_as(table, new_name, "its ALTER TABLE is not understood")
            return
        definition = replace(definition, certain=True)
        altered = AlteredTable(table.definition, definition, before.lineage(table.source_name), after.lineage(new_name))
        try:
            new = self._tables.mirrored(new_name, definition)
            types = {field.name: field.type for field in new.schema}
            pending = plan_alter(new_name, change, altered, types)
            check_types(table.table, new, pending)
        except Resnapshot as error:
            self._copy_again_as(table, new_name, str(error))
            return
        yield from self._with_versions(table, pending)

    def _renamed(self, change: RenameTables, statement: Statement) -> Iterator[tuple[TableName, Pending]]:
        for origin, new_name in _final_names(change.pairs).items():
            table = self._tables.find(origin)
            if table is None or not any(self._due([table], statement)):
                continue
            if table.state.phase is Phase.CATCH_UP:  # rows may have been read from a table that has its name since
                self._copy_again_as(table, new_name, "it was renamed while it was copied")
            else:
                kept = tuple((name, name) for name in table.table.schema.names)
                yield from self._with_versions(table, Pending(new_name, table.definition, kept))

    def _with_versions(self, table: OpenTable, pending: Pending) -> Iterator[tuple[TableName, Pending]]:
        """Yield what is left to do for a table, and the same for the versions of its rows.

        If the key becomes another, versions stay as they are: they end, or begin again with the rows of the table.
        """
        yield table.name, pending
        versions = self._tables.versions_of(table.name)
        if versions is None or not versions.is_applied:
            return
        name, renamed = versions_name(pending.name), dict(pending.names)
        if tuple(map(renamed.get, table.table.key)) == self._tables.mirrored(pending.name, pending.definition).key:
            own = versions.table.schema.names[len(table.table.schema.names) :]
            yield versions.name, replace(pending, name=name, names=(*pending.names, *((each, each) for each in own)))
        else:
            kept = tuple((each, each) for each in versions.table.schema.names)
            yield versions.name, Pending(name, versions.definition, kept)

    def _after(self, statement: Statement) -> Catalog:
        """Return the definitions after a statement."""
        catalog = self._tables.catalog.copy()
        try:
            catalog.apply(statement.change, statement.origin)
        except NotUnderstood as error:
            log.warning("%s: %s", statement.origin, error.message)
        return catalog

    def _finish(self, table: OpenTable, pending: Pending) -> None:
        new_name = pending.name
        if not self._tables.wants(new_name):
            if not table.has_versions:
                self._on_gone(table.name, table.state.position)
            table.commit(replace(table.state, pending=None, phase=Phase.DROPPED))
            return
        if table.name != new_name and not table.name.table.endswith(_MOVING):
            in_the_way = self._tables.find(new_name)
            if in_the_way is not None and _has_taken(in_the_way, table):
                self._tables.drop(table.name)  # the table was copied under its new name already
                return
            if in_the_way is not None:
                self._make_way(in_the_way)
            self._end_without_key(table, table.state.position)
            table = self._tables.rename(table, new_name)
        self._convert(table, pending)

    def _make_way(self, table: OpenTable) -> None:
        """Free the name of a table for another one: it has been dropped, or the same statement renames it."""
        if table.state.pending is None:
            self._tables.drop(table.name)
            return
        pending = Pending.from_json(table.state.pending)
        moving = TableName(pending.name.schema, f"{pending.name.table}{_MOVING}")
        self._end_without_key(table, table.state.position)
        self._convert(self._tables.rename(table, moving), pending)

    def _convert(self, table: OpenTable, pending: Pending) -> None:
        """Make the columns of a table, and its rows where they change, those of its new definition."""
        name = table_of_versions(pending.name) if table.has_versions else pending.name
        old, new = table.table, self._tables.with_definition(table, name, pending.definition)
        change = schema_change(old, new, pending)
        is_other = bool(change.steps) or old.schema.names != new.schema.names
        directory = table.target.directory_after(change) if is_other else table.target.directory
        files = ColumnRewrite(change, new, directory, fills(new, pending))
        definition = stored(name, pending.definition)
        state = replace(table.state, definition=definition, key=new.key, pending=None)
        needs_rewrite = (is_other and table.target.needs_rewrite(change)) or files.fill or not _keeps_key(files, old)
        if not needs_rewrite or not table.version.files:
            table.commit(state, schema_change=change if is_other else None)
        else:
            rewritten = table.rewritten(files, self._tables.settings.limits)
            table.commit(state, rewritten.added, rewritten.removed, change if is_other else None)
        if not table.has_versions:  # which may be ahead of their table
            self._tables.define(name, pending.definition)


def _has_taken(other: OpenTable, table: OpenTable) -> bool:
    """Return whether another table is the one that a table becomes, and not one that gets another name, too."""
    return other.is_applied and other.state.pending is None and other.position.reaches(table.state.position)


def _keeps_key(files: ColumnRewrite, old: MirroredTable) -> bool:
    return old.key == files.table.key or files.keeps_order(old)


def _exchanged(change: AlterTable) -> list[TableName]:
    exchanged = (step for step in change.steps if isinstance(step, ReplaceRows) and not step.drops)
    return [step.other for step in exchanged if step.other is not None]


def _final_names(pairs: Sequence[tuple[TableName, TableName]]) -> dict[TableName, TableName]:
    """Return the names of tables before RENAME TABLE, which renames one after the other, and after it."""
    names: dict[TableName, TableName] = {}
    for old, new in pairs:
        origin = next((first for first, last in names.items() if last == old), old)
        names[origin] = new
    return names
