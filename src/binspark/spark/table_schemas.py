"""The newest schema version of a table, in a set of logs or on a server."""

from __future__ import annotations

from binspark.columns.metadata_fields import BEFORE, Metadata, metadata_names, refuse_collisions
from binspark.columns.types import ColumnOptions, form_of
from binspark.errors import SchemaError
from binspark.schema.table import TableName
from binspark.spark.options import MissingColumns, SourceOptions
from binspark.spark.plan import ReadPlan, SchemaVersion
from binspark.spark.schemas import PREFIX_OPTION
from binspark.spark.server_schema import server_catalog, server_position

_NO_POLICIES = ColumnOptions()


def describe_version(version: SchemaVersion) -> str:
    """Return a schema version as text: the table, its columns with their types, the position that it comes from."""
    columns = zip(version.table.column_names, version.table.columns, strict=True)
    listed = ", ".join(f"{name} {form_of(column, _NO_POLICIES).type}" for name, column in columns)
    position = str(version.position)
    return f"{version.table.name} ({listed})" + (f" at {position}" if position else "")


def newest_version(plan: ReadPlan, table: str) -> SchemaVersion:
    """Return the newest schema of a table in logs: that of the last statement about it, or of its last rows."""
    schema, _, name = table.partition(".")
    definition = plan.history.catalog.tables.get(TableName(schema, name))
    if definition is not None and definition.certain:
        return SchemaVersion(definition.table_schema(schema, name), definition.origin)
    from binspark.files.schema_scan import newest_schema  # loads kernels

    found = newest_schema(plan.logs, table, plan.history)
    if found is None:
        message = f"the logs contain no rows of {table}, and its columns are not known"
        raise SchemaError(f"{message}; binspark.tables(spark, path) lists the tables that are there")
    return SchemaVersion(found[0], found[1].position)


def current_version(options: SourceOptions, table: str) -> SchemaVersion:
    """Return the schema that a table has on a server now."""
    position = server_position(options.server)
    schema, _, name = table.partition(".")
    definition = server_catalog(options.server).tables.get(TableName(schema, name))
    if definition is None:
        raise SchemaError(f"the server has no table {table}, or its user may not see it", position)
    return SchemaVersion(definition.table_schema(schema, name), position)


def check_columns(names: list[str], version: SchemaVersion, options: SourceOptions) -> None:
    """Refuse columns that a table does not have, and those that it has twice."""
    prefix, table = options.selection.metadata_prefix, version.table
    metadata = {*metadata_names(prefix, Metadata), f"{prefix}{BEFORE}"}
    chosen = {name.lower() for name in names}
    for name in table.column_names:
        if name.lower() in chosen:
            refuse_collisions([*metadata, name], table.name, PREFIX_OPTION)
    known = {*table.column_names, *metadata}
    unknown = [name for name in names if name not in known]
    if unknown and options.missing_columns is MissingColumns.ERROR:
        has = ", ".join(version.table.column_names)
        message = f"{version.table.name} has no column {unknown[0]!r}; it has {has}"
        raise SchemaError(f"{message}. missingColumns=null makes such columns null", version.position)
