"""Columns of a batch as text, because someone asked for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa

from binspark.documents.conversion import Conversion, as_text, struct_conversion
from binspark.errors import OptionError
from binspark.schema.table import TableSchema
from binspark.values.column import Column

_BEFORE = "_before"


def with_text_columns(batch: pa.RecordBatch, table: TableSchema, names: Collection[str]) -> pa.RecordBatch:
    """Return a batch with some columns as text, in the struct of before images too. The names are in lower case."""
    columns = {
        name: column
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name.lower() in names and name in batch.schema.names
    }
    if not columns:
        return batch
    fields = [_field(field, columns) for field in batch.schema]
    arrays = [_step(array.type, field, columns)(array) for array, field in zip(batch.columns, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _field(field: pa.Field, columns: Mapping[str, Column]) -> pa.Field:
    if field.name == _BEFORE:
        return field.with_type(pa.struct([_field(child, columns) for child in field.type]))
    return field.with_type(pa.string()) if field.name in columns else field


def _step(have: pa.DataType, field: pa.Field, columns: Mapping[str, Column]) -> Conversion:
    if field.name == _BEFORE:
        names = {child.name: child.name for child in field.type}
        return struct_conversion(have, field.type, names, lambda kind, child: _step(kind, child, columns))
    if field.name not in columns:
        return lambda array: array
    step = as_text(have, columns[field.name])
    if step is None:
        raise OptionError(f"names {field.name}, but {have} has no text", option="string_columns")
    return step
