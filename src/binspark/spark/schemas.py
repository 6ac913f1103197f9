"""The Spark schemas of views and typed tables, and the Arrow schemas of their batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_schema
from pyspark.sql.types import (
    DataType,
    DayTimeIntervalType,
    GeometryType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from binspark.columns.list_fields import BODY, EVENT_FIELDS
from binspark.columns.metadata import ALWAYS, BEFORE, Metadata, refuse_collisions
from binspark.columns.metadata_fields import metadata_type
from binspark.columns.options import ColumnOptions
from binspark.columns.types import GEOMETRY, form_of
from binspark.errors import SchemaError
from binspark.schema.table import TableSchema
from binspark.spark.options import PREFIX_OPTION, DroppedColumns, JsonFormat, RowFormat, SourceOptions
from binspark.values.column import Column

_TIME = DayTimeIntervalType(DayTimeIntervalType.HOUR, DayTimeIntervalType.SECOND)
TABLES_FIELDS = (
    pa.field("schema", pa.string()),
    pa.field("table", pa.string()),
    pa.field("operation", pa.string()),
    pa.field("rows", pa.int64()),
    pa.field("bytes", pa.int64()),
    pa.field("uncounted_events", pa.int64()),
)
CHUNK_FIELDS = (
    pa.field("_table", pa.string()),
    pa.field("_seq", pa.string()),
    pa.field("_log_file", pa.string()),
    pa.field("_log_pos", pa.int64()),
    pa.field("_log_row", pa.int32()),
    pa.field("_rows", pa.int64()),
    pa.field("_schema", pa.string()),
    pa.field("_chunk", pa.binary()),
)
CHANGES_NAMES = ("schema", "table")
CHANGES_IMAGES = (BEFORE, "after")
CORRUPT_FIELDS = (
    pa.field("file", pa.string()),
    pa.field("pos", pa.int64()),
    pa.field("end_pos", pa.int64()),
    pa.field("event", pa.string()),
    pa.field("error", pa.string()),
    pa.field("message", pa.string()),
)


def spark_schema(fields: Iterable[pa.Field]) -> StructType:
    """Return the schema for Arrow fields; all columns are nullable."""
    return StructType([StructField(field.name, spark_type(field.type)) for field in fields])


def spark_type(kind: pa.DataType) -> DataType:
    """Return the Spark type for an Arrow type. A dictionary becomes the type of its values."""
    if pa.types.is_duration(kind):
        return _TIME
    return from_arrow_type(kind.value_type if pa.types.is_dictionary(kind) else kind, prefer_timestamp_ntz=True)


def arrow_schema(schema: StructType) -> pa.Schema:
    """Return the exact schema that Spark requires of batches."""
    return to_arrow_schema(schema, timezone="UTC")


def changes_schema(options: SourceOptions) -> StructType:
    """Return the schema of the view `changes`."""
    image: DataType = VariantType() if options.rows is RowFormat.VARIANT else spark_type(pa.string())
    prefix = options.selection.metadata_prefix
    names = [StructField(f"{prefix}{name}", spark_type(pa.string())) for name in CHANGES_NAMES]
    metadata = [_metadata_field(name, image, prefix) for name in ALWAYS]
    images = [StructField(f"{prefix}{name}", image) for name in CHANGES_IMAGES]
    return StructType([*names, *metadata, *images])


def _metadata_field(name: Metadata, key: DataType | None, prefix: str) -> StructField:
    if name is Metadata.KEY:
        assert key is not None
        return StructField(f"{prefix}{name}", key)
    return StructField(f"{prefix}{name}", spark_type(metadata_type(name)))


def events_schema(*, body: bool = True) -> StructType:
    """Return the schema of the view `events`, with the decoded body or without."""
    schema = spark_schema(EVENT_FIELDS)
    return schema.add(BODY, VariantType()) if body else schema


def table_schema(table: TableSchema, options: SourceOptions) -> StructType:
    """Return the schema of a typed table: the metadata columns, then those of the table, then the old row.

    A table without a key has no column for it: not every format can store a struct without fields.
    """
    columns, selection = _columns(table, options), options.selection
    key = StructType([columns[index] for index in table.primary_key]) if table.primary_key else None
    names = [name for name in Metadata if selection.has(name) and (name is not Metadata.KEY or key is not None)]
    fields = [_metadata_field(name, key, selection.metadata_prefix) for name in names] + columns
    if selection.before:
        fields.append(StructField(f"{selection.metadata_prefix}{BEFORE}", StructType(columns)))
    refuse_collisions([field.name for field in fields], table.name, PREFIX_OPTION)
    return StructType(fields)


def _columns(table: TableSchema, options: SourceOptions) -> list[StructField]:
    columns = zip(table.column_names, table.columns, strict=True)
    dropped = _dropped_columns(table) if options.dropped_columns is DroppedColumns.KEEP else ()
    return [StructField(name, _column_type(name, column, options)) for name, column in (*columns, *dropped)]


def _dropped_columns(table: TableSchema) -> Iterator[tuple[str, Column]]:
    for name, dropped in table.dropped_columns():
        if dropped.column is None:
            message = f"{table.name} had a column {dropped.name!r}, but the logs do not show its type"
            raise SchemaError(f"{message}: use .schema(…) with its type, instead of droppedColumns=keep")
        yield name, dropped.column


def column_options(options: SourceOptions) -> ColumnOptions:
    """Return the policies for values that do not fit a column's type."""
    return options.selection.options


def _column_type(name: str, column: Column, options: SourceOptions) -> DataType:
    if name.lower() in options.selection.string_columns:
        return StringType()
    kind = form_of(column, column_options(options)).type
    if column.is_document and options.json is JsonFormat.VARIANT:
        return VariantType()
    if kind == GEOMETRY and options.geometry is not None:
        return GeometryType(options.geometry)
    return spark_type(kind)
