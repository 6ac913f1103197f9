"""What statements do to mirrored tables: CREATE, ALTER, RENAME, DROP and TRUNCATE, each exactly once.

A range of the log ends after such a statement. So all rows before it are applied with the old schema, in the commit
that also stores what is left to do (`TableState.pending`); the change itself is the next commit. A table whose position
is after the statement has it already.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa

from binspark.mirror.definitions import stored
from binspark.mirror.keys import key_kinds
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.leaves.rewrite import write_leaves
from binspark.mirror.open_table import OpenTable
from binspark.mirror.schema_changes import (
    AlteredTable,
    ColumnPlan,
    Pending,
    Resnapshot,
    column_plan,
    plan_alter,
    schema_change,
)
from binspark.mirror.settings import DropMode
from binspark.mirror.state import Phase
from binspark.mirror.tables import MirroredTables
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
    Unreadable,
)
from binspark.schema.table import TableName
from binspark.spark.streaming.statements import Statement

log = logging.getLogger("binspark.mirror")
_MOVING = "__binspark_moving"


class StatementApplier:
    """Makes the changes of statements in the tables of a mirror.

    missing   tables that the source has and the mirror has not: their rows have to be copied
    """

    def __init__(self, tables: MirroredTables) -> None:
        self._tables = tables
        self.missing: set[TableName] = set()

    def emptied(self, statement: Statement) -> set[TableName]:
        """Return the tables whose rows before a statement need not be applied: it removes them."""
        change = statement.change
        if statement.rows_follow:
            return set()
        return {table.name for table in self._emptied_by(change)}

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
            case DropTables() | DropDatabase():
                for table in self._due(self._emptied_by(change), statement):
                    self._drop(table, statement)
            case CreateTable() | CopyTable() if not statement.rows_follow:
                self._create(statement, statement.position)
            case Unreadable(names):
                for name in names:
                    self._copy_again(name, f"a statement is not understood: {change.reason}")
        self.finish()
        self._tables.apply(change, statement.origin)
        for table in self._tables:
            if self._tables.catalog.tables.get(table.source_name) != table.definition:
                self._tables.define(table.source_name, table.definition)

    def finish(self) -> None:
        """Make all changes that were left to do, also those of a run that was killed."""
        waiting = [table for table in self._tables if table.state.pending is not None]
        for table in waiting:
            self._finish(table, Pending.from_json(table.state.pending or ""))
        for table in list(self._tables):
            if table.name.table.endswith(_MOVING):
                self._tables.rename(table, table.source_name)

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
        catalog = self._after(statement)
        definition = catalog.tables.get(change.name)
        if definition is None:
            self._copy_again(change.name, "its CREATE TABLE is not understood")
            return
        self._tables.create(change.name, replace(definition, certain=True), position, Phase.CURRENT)

    def _drop(self, table: OpenTable, statement: Statement) -> None:
        if self._tables.settings.on_drop is DropMode.DROP:
            self._tables.drop(table.name)
            return
        table.commit(replace(table.state.moved(statement.position), phase=Phase.DROPPED, pending=None))

    def _emptied_by(self, change: object) -> list[OpenTable]:
        match change:
            case TruncateTable(name):
                names: Iterable[TableName] = (name,)
            case DropTables(names):
                pass
            case DropDatabase(schema):
                names = [table.name for table in self._tables if table.name.schema.lower() == schema.lower()]
            case CreateTable(name, replaces=True) | CopyTable(name, replaces=True):
                names = (name,)
            case _:
                names = ()
        found = (self._tables.find(name) for name in names)
        return [table for table in found if table is not None]

    def _due(self, tables: Iterable[OpenTable], statement: Statement) -> Iterator[OpenTable]:
        """Yield the tables that a statement has not changed yet."""
        for table in tables:
            if table.is_applied and not table.state.position.reaches(statement.position):
                yield table

    def _copy_again(self, name: TableName, reason: str) -> None:
        """Let a table be copied again."""
        if self._tables.patterns.wants(name):
            log.warning("%s is copied again: %s", name, reason)
            self.missing.add(name)

    # --- ALTER and RENAME ---------------------------------------------------------------------------------------------

    def _altered(self, change: AlterTable, statement: Statement) -> Iterator[tuple[TableName, Pending]]:
        others = [name for name in _exchanged(change) if self._tables.find(name) is not None]
        for name in others:
            self._copy_again(name, "a partition was exchanged with it")
        table = self._tables.find(change.name)
        new_name = next((step.name for step in change.steps if isinstance(step, RenameTo)), change.name)
        if table is None:
            if new_name != change.name and self._tables.patterns.wants(new_name):
                self.missing.add(new_name)
            return
        if not any(self._due([table], statement)):
            return
        if new_name == change.name:
            new_name = table.name
        if table.state.phase is Phase.CATCH_UP:
            self._copy_again(new_name, "it was altered while it was copied")
            return
        before, after = self._tables.catalog, self._after(statement)
        definition = after.tables.get(new_name)
        if definition is None:
            self._copy_again(new_name, "its ALTER TABLE is not understood")
            return
        definition = replace(definition, certain=True)
        altered = AlteredTable(table.definition, definition, before.lineage(table.source_name), after.lineage(new_name))
        try:
            new = self._tables.mirrored(new_name, definition)
            types = {field.name: field.type for field in new.schema}
            pending = plan_alter(new_name, change, altered, types)
            column_plan(table.table, new, pending)
        except Resnapshot as error:
            self._copy_again(new_name, str(error))
            return
        yield table.name, pending

    def _renamed(self, change: RenameTables, statement: Statement) -> Iterator[tuple[TableName, Pending]]:
        names: dict[TableName, TableName] = {}
        for old, new in change.pairs:
            origin = next((first for first, last in names.items() if last == old), old)
            names[origin] = new
        for origin, new_name in names.items():
            table = self._tables.find(origin)
            if table is None:
                if self._tables.patterns.wants(new_name):
                    self.missing.add(new_name)
            elif any(self._due([table], statement)):
                kept = tuple((name, name) for name in table.table.schema.names)
                yield table.name, Pending(new_name, table.definition, kept)

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
        if not self._tables.patterns.wants(new_name):
            table.commit(replace(table.state, pending=None, phase=Phase.DROPPED))
            return
        if table.name != new_name and not table.name.table.endswith(_MOVING):
            in_the_way = self._tables.find(new_name)
            if in_the_way is not None:
                self._make_way(in_the_way)
            table = self._tables.rename(table, new_name)
        self._convert(table, pending)

    def _make_way(self, table: OpenTable) -> None:
        """Let another table have the name of one: it has been dropped, or gets another name by the same statement."""
        if table.state.pending is None:
            self._tables.drop(table.name)
            return
        pending = Pending.from_json(table.state.pending)
        moving = TableName(pending.name.schema, f"{pending.name.table}{_MOVING}")
        self._convert(self._tables.rename(table, moving), pending)

    def _convert(self, table: OpenTable, pending: Pending) -> None:
        """Make the columns of a table, and its rows where they change, those of its new definition."""
        old = table.table
        new = self._tables.mirrored(pending.name, pending.definition)
        plan, change = column_plan(old, new, pending), schema_change(old, new, pending)
        renamed = dict(pending.names)
        old_key = tuple((renamed.get(name), kind) for name, kind in key_kinds(old))
        needs_rewrite = change is not None and table.target.needs_rewrite(change)
        state = replace(table.state, definition=stored(pending.name, pending.definition), key=new.key, pending=None)
        if not (needs_rewrite or plan.fills or old_key != key_kinds(new)):
            table.commit(state, schema_change=change)
        else:
            directory = table.target.directory if change is None else table.target.directory_after(change)
            rows = self._rows(table, plan)
            size = sum(file.size for file in table.version.files)
            added = write_leaves(rows, directory, new, self._tables.settings.limits.of_table(size))
            table.commit(state, added, table.version.files, change)
        self._tables.define(pending.name, pending.definition)

    @staticmethod
    def _rows(table: OpenTable, plan: ColumnPlan) -> Iterator[pa.RecordBatch]:
        reader = LeafReader(table.target.directory, table.table)
        for file in table.version.files:
            for rows in reader.batches(file):
                yield plan.convert(rows.rows)


def _exchanged(change: AlterTable) -> list[TableName]:
    return [step.other for step in change.steps if isinstance(step, ReplaceRows) and step.other is not None]
