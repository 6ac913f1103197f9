"""The newest schema version of a table, in a set of logs or on a server."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from binspark.columns.metadata import BEFORE, Metadata, metadata_names, refuse_collisions
from binspark.columns.options import ColumnOptions
from binspark.columns.types import form_of
from binspark.errors import SchemaError, UnknownTable
from binspark.files.sources import log_order
from binspark.position import Position
from binspark.schema.catalog import Catalog, may_affect
from binspark.schema.changes import NotUnderstood
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableName
from binspark.spark.options import PREFIX_OPTION, MissingColumns, SourceOptions
from binspark.spark.plan import ReadPlan, SchemaVersion
from binspark.spark.server_schema import select_grant, server_catalog, server_position

_NO_POLICIES = ColumnOptions()


def describe_version(version: SchemaVersion) -> str:
    """Return a schema version as text: the table, its columns with their types, the position that it comes from."""
    columns = zip(version.table.column_names, version.table.columns, strict=True)
    listed = ", ".join(f"{name} {form_of(column, _NO_POLICIES).type}" for name, column in columns)
    position = str(version.position)
    return f"{version.table.name} ({listed})" + (f" at {position}" if position else "")


def newest_version(plan: ReadPlan, table: str) -> SchemaVersion:
    """Return the newest schema of a table up to where the logs are read: of the last statement, or the last rows."""
    name = TableName(*table.split(".", 1))
    history = _history_at_end(plan)
    defined, changed = history.catalog.table_schema(name), _last_change(history, name)
    if defined is not None and name not in history.catalog.overriding:
        return SchemaVersion(defined, changed or Position())
    from binspark.files.schema_scan import newest_schema  # loads kernels

    found = newest_schema(plan.logs, table, plan.history)
    if found is not None:
        return SchemaVersion(found[0], changed or found[1].position)
    if defined is not None:
        return SchemaVersion(defined, changed or Position())
    message = f"the logs contain no rows of {table}, and its columns are not known"
    raise UnknownTable(f"{message}; binspark.tables(spark, path) lists the tables that are there")


def _history_at_end(plan: ReadPlan) -> SchemaHistory:
    last = plan.logs[-1] if plan.logs else None
    return plan.history if last is None or last.end is None else plan.history.at(last.name, last.end)


def _last_change(history: SchemaHistory, name: TableName) -> Position | None:
    """Return the position of the last statement about a table: rows after it have its newest schema."""
    found = (entry.position for entry in reversed(history.entries) if may_affect(entry.change, name))
    return next(found, None)


def current_version(options: SourceOptions, table: str) -> SchemaVersion:
    """Return the schema that a table has on a server now."""
    position = server_position(options.server)
    schema, _, name = table.partition(".")
    definition = server_catalog(options.server).tables.get(TableName(schema, name))
    if definition is None:
        grant = select_grant(options.server, TableName(schema, name))
        raise SchemaError(f"the server has no table {table}, or its user may not see it: {grant}", position)
    return SchemaVersion(definition.table_schema(schema, name), position)


def with_lineage(version: SchemaVersion, statements: SchemaHistory, begin: Position) -> SchemaVersion:
    """Return a schema version of a server with how its columns came about, by the statements since `begin`.

    Its position becomes that of the last statement about the table: rows after it have this version.
    """
    name = TableName(version.table.schema, version.table.table)
    catalog, position = Catalog(), begin
    for entry in statements.entries:
        if _order(entry.position) >= _order(version.position):
            break
        with suppress(NotUnderstood):
            catalog.apply(entry.change, entry.position)
        if may_affect(entry.change, name):
            position = entry.position
    return SchemaVersion(replace(version.table, lineage=catalog.lineage(name)), position)


def _order(position: Position) -> tuple[tuple[str, int], int]:
    return log_order((position.file or "").rpartition("/")[2]), position.offset or 0


def check_columns(names: list[str], version: SchemaVersion, options: SourceOptions) -> None:
    """Refuse columns that a table neither has nor had, and those that it has twice."""
    prefix, table = options.selection.metadata_prefix, version.table
    metadata = {*metadata_names(prefix, Metadata), f"{prefix}{BEFORE}"}
    chosen = {name.lower() for name in names}
    for name in table.column_names:
        if name.lower() in chosen:
            refuse_collisions([*metadata, name], table.name, PREFIX_OPTION)
    dropped = (name for name, _ in table.dropped_columns())
    known = {name.lower() for name in (*table.column_names, *table.lineage.past_names(), *dropped)}
    unknown = [name for name in names if name.lower() not in known and name not in metadata]
    if unknown and options.missing_columns is MissingColumns.ERROR:
        has = ", ".join(table.column_names)
        message = f"{table.name} has no column {unknown[0]!r}; it has {has}"
        raise SchemaError(f"{message}. missingColumns=null makes such columns null", version.position)
