"""Columns of a batch as text, because someone asked for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pyarrow as pa

from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.documents.conversion import Conversion, as_text, struct_conversion
from binspark.errors import OptionError
from binspark.values.column import Column


def with_text_columns(found: TableBatch, names: Collection[str]) -> pa.RecordBatch:
    """Return a batch with some columns as text, in the structs of keys and before images too. Names are in lower case.

    Metadata columns have other names: who shows columns by name has seen to that.
    """
    batch, table = found.batch, found.table
    structs = {found.metadata.index(Metadata.KEY)} if Metadata.KEY in found.metadata else set()
    if found.has_before:
        structs.add(batch.num_columns - 1)
    columns = {
        name: column
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name.lower() in names and name in batch.schema.names
    }
    if not columns:
        return batch
    fields = [
        _struct(field, columns) if index in structs else _field(field, columns)
        for index, field in enumerate(batch.schema)
    ]
    arrays = [
        _struct_step(array.type, field, columns)(array)
        if index in structs
        else _step(array.type, field, columns)(array)
        for index, (array, field) in enumerate(zip(batch.columns, fields, strict=True))
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _struct(field: pa.Field, columns: Mapping[str, Column]) -> pa.Field:
    return field.with_type(pa.struct([_field(child, columns) for child in field.type]))


def _struct_step(have: pa.DataType, field: pa.Field, columns: Mapping[str, Column]) -> Conversion:
    names = {child.name: child.name for child in field.type}
    return struct_conversion(have, field.type, names, lambda kind, child: _step(kind, child, columns))


def _field(field: pa.Field, columns: Mapping[str, Column]) -> pa.Field:
    return field.with_type(pa.string()) if field.name in columns else field


def _step(have: pa.DataType, field: pa.Field, columns: Mapping[str, Column]) -> Conversion:
    if field.name not in columns:
        return lambda array: array
    step = as_text(have, columns[field.name])
    if step is None:
        raise OptionError(f"names {field.name}, but {have} has no text", option="string_columns")
    return step
