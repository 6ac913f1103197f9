"""What a mirror will do, before it does it: `--dry-run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.borders import estimated_rows
from binspark.mirror.source.change_source import ChangeSource
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.schema.definition import TableDefinition
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.connection import connect


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """What will be done with a table.

    action    `copy`, `copy again`, `continue the copy`, `apply changes`, or `nothing`
    rows      about how many rows it has in the source
    key       the columns that identify its rows; empty for none
    columns   names and types in the target
    notes     what will cost time, or is not exact
    """

    name: TableName
    action: str
    rows: int | None
    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return {
            "table": str(self.name),
            "action": self.action,
            "rows": self.rows,
            "key": list(self.key),
            "columns": dict(self.columns),
            "notes": list(self.notes),
        }


def make_plan(source: ChangeSource, tables: MirroredTables) -> list[PlannedTable]:
    """Return what will be done with each table. Nothing is changed."""
    again = {TableName(*name.split(".", 1)) for name in tables.settings.resnapshot}
    if source.config is None:
        tables.load(tables.catalog, source, again)
        return [_known(tables, table.name, None) for table in tables]
    with connect(source.config) as connection:
        present = from_server(connection.rows)
        tables.load(present, source, again)
        wanted = {
            name: definition
            for name, definition in present.tables.items()
            if definition is not None and tables.patterns.wants(name)
        }
        if not wanted and not len(tables):
            raise tables.patterns.no_table()
        tables.patterns.warn_of_unmatched(name for name, known in present.tables.items() if known is not None)
        planned = [_planned(tables, name, definition, again) for name, definition in sorted(wanted.items())]
        gone = [
            _known(tables, table.name, None) for table in tables if table.name not in wanted and not table.has_versions
        ]
        rows = {plan.name: estimated_rows(connection, _mirrored(tables, plan.name, wanted)) for plan in planned}
    return [_with_rows(plan, rows[plan.name]) for plan in planned] + gone


def _with_rows(plan: PlannedTable, rows: int) -> PlannedTable:
    return PlannedTable(plan.name, plan.action, rows, plan.key, plan.columns, plan.notes)


def _mirrored(tables: MirroredTables, name: TableName, wanted: dict[TableName, TableDefinition]) -> MirroredTable:
    return tables.mirrored(name, wanted[name])


def _planned(
    tables: MirroredTables, name: TableName, definition: TableDefinition, again: set[TableName]
) -> PlannedTable:
    if name in tables:
        return _known(tables, name, None)
    try:
        table = tables.mirrored(name, definition)
    except SchemaError as error:
        return PlannedTable(name, "nothing", None, (), (), (error.message,))
    return _plan_of(table, "copy again" if name in again else "copy")


def _known(tables: MirroredTables, name: TableName, rows: int | None) -> PlannedTable:
    table = tables.find(name)
    assert table is not None
    actions = {Phase.SNAPSHOT: "continue the copy", Phase.DROPPED: "nothing"}
    plan = _plan_of(table.table, actions.get(table.state.phase, "apply changes"))
    return plan if rows is None else _with_rows(plan, rows)


def _plan_of(table: MirroredTable, action: str) -> PlannedTable:
    notes = []
    if not table.key:
        notes.append(
            "no key: it is locked for milliseconds while it is copied, and needs binlog_row_image=FULL; "
            "each change is found by all columns"
        )
    columns = tuple((field.name, str(field.type)) for field in table.schema)
    return PlannedTable(table.name, action, None, table.key, columns, tuple(notes))
