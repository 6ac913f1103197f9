"""The newest shape of a table in a set of logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.columns.metadata_fields import METADATA_NAMES
from binspark.columns.types import ColumnOptions, form_of
from binspark.errors import SchemaError
from binspark.position import Position
from binspark.schema.catalog import Catalog
from binspark.schema.server import from_server
from binspark.schema.sql.reader import TableName
from binspark.spark.options import Missing, SourceOptions
from binspark.spark.plan import ReadPlan, Shape
from binspark.spark.schemas import BEFORE

_ARGUMENTS = {
    "host": "hosts",
    "port": "port",
    "user": "user",
    "password": "password",
    "socket": "socket",
    "defaultsFile": "defaults_file",
    "sslMode": "tls_mode",
    "sslCa": "tls_ca",
    "sslCert": "tls_cert",
    "sslKey": "tls_key",
}


def connection_arguments(server: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of the data source that name a server as those of a connection."""
    return {_ARGUMENTS[name]: int(value) if name == "port" else value for name, value in server.items()}


def server_position(server: Mapping[str, str]) -> Position:
    """Ask a server where it writes."""
    from binspark.client.connect import connect
    from binspark.client.facts import log_end
    from binspark.client.gather import connection_options

    with connect(connection_options(**connection_arguments(server))) as connection:
        end = log_end(connection)
    return Position(file=end.file, offset=end.offset)


def server_catalog(server: Mapping[str, str]) -> Catalog:
    """Ask a server for its tables."""
    from binspark.client.connect import connect
    from binspark.client.gather import connection_options

    with connect(connection_options(**connection_arguments(server))) as connection:
        return from_server(connection.rows)


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
    from binspark.files.survey import newest_shape  # loads kernels

    found = newest_shape(plan.logs, table, plan.history)
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
    if unknown and options.missing_columns is Missing.ERROR:
        has = ", ".join(shape.table.column_names)
        message = f"{shape.table.name} has no column {unknown[0]!r}; it has {has}"
        raise SchemaError(f"{message}. missingColumns=null makes such columns null", shape.position)
