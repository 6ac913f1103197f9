"""The newest shape of a table in a set of logs."""

from __future__ import annotations

from binspark.columns.metadata_fields import METADATA_NAMES
from binspark.columns.types import ColumnOptions, form_of
from binspark.errors import SchemaError
from binspark.schema.table import TableName
from binspark.spark.options import MissingColumns, SourceOptions
from binspark.spark.plan import ReadPlan, Shape
from binspark.spark.schemas import BEFORE
from binspark.spark.server_schema import server_catalog, server_position

_NO_POLICIES = ColumnOptions()


def shape_text(shape: Shape) -> str:
    """Return a shape as people read it: the table, its columns with their types, where it comes from."""
    columns = zip(shape.table.column_names, shape.table.columns, strict=True)
    listed = ", ".join(f"{name} {form_of(column, _NO_POLICIES).type}" for name, column in columns)
    place = str(shape.position)
    return f"{shape.table.name} ({listed})" + (f" at {place}" if place else "")


def find_shape(plan: ReadPlan, table: str) -> Shape:
    """Return the newest shape of a table: that of the last statement about it, or of its last rows."""
    schema, _, name = table.partition(".")
    definition = plan.history.catalog.tables.get(TableName(schema, name))
    if definition is not None and definition.certain:
        return Shape(definition.table_schema(schema, name), definition.origin)
    from binspark.files.schema_scan import newest_schema  # loads kernels

    found = newest_schema(plan.logs, table, plan.history)
    if found is None:
        message = f"the logs hold no rows of {table}, and nothing tells its columns"
        raise SchemaError(f"{message}; binspark.tables(spark, path) lists the tables that are there")
    return Shape(found[0], found[1].position)


def server_shape(options: SourceOptions, table: str) -> Shape:
    """Return the shape that a table has on a live server now."""
    position = server_position(options.server)
    schema, _, name = table.partition(".")
    definition = server_catalog(options.server).tables.get(TableName(schema, name))
    if definition is None:
        raise SchemaError(f"the server has no table {table}, or its user may not see it", position)
    return Shape(definition.table_schema(schema, name), position)


def check_columns(names: list[str], shape: Shape, options: SourceOptions) -> None:
    """Refuse columns that a table does not have."""
    known = {*shape.table.column_names, *METADATA_NAMES, BEFORE}
    unknown = [name for name in names if name not in known]
    if unknown and options.missing_columns is MissingColumns.ERROR:
        has = ", ".join(shape.table.column_names)
        message = f"{shape.table.name} has no column {unknown[0]!r}; it has {has}"
        raise SchemaError(f"{message}. missingColumns=null makes such columns null", shape.position)
