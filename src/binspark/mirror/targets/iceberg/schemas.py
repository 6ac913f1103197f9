"""Columns of Iceberg tables: their types, their numbers, and how they change."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyiceberg.io.pyarrow import pyarrow_to_schema, schema_to_pyarrow
from pyiceberg.schema import Schema, index_by_name
from pyiceberg.table import Transaction
from pyiceberg.types import IcebergType

from binspark.mirror.files.data_file import with_field_ids
from binspark.mirror.schema.column_changes import (
    AddColumn,
    ChangeType,
    ColumnChange,
    DropColumn,
    RenameColumn,
    SchemaChange,
)
from binspark.mirror.targets.types import storable_type

_WIDENED = {pa.int32(): pa.int64(), pa.float32(): pa.float64()}


def iceberg_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column of a type gets in Iceberg: it has no integers smaller than 32 bits."""
    if kind in (pa.int8(), pa.int16(), pa.uint8(), pa.uint16()):
        return pa.int32()
    if pa.types.is_time(kind):
        return pa.time64("us")
    return storable_type(kind, iceberg_type)


def arrow_schema(schema: Schema) -> pa.Schema:
    """Return the columns of a table in Arrow's types, without Iceberg's numbers."""
    fields = schema_to_pyarrow(schema, include_field_ids=False)
    return pa.schema([pa.field(field.name, iceberg_type(_plain(field.type))) for field in fields])


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    return kind


def field_ids(schema: Schema) -> tuple[tuple[str, int], ...]:
    """Return the number of each field, nested ones by their paths."""
    return tuple(index_by_name(schema).items())


def is_promotion(old: pa.DataType, new: pa.DataType) -> bool:
    """Return whether files with the old type are read as the new one: Iceberg's format allows few such changes."""
    if old == new:
        return True
    if pa.types.is_decimal(old) and pa.types.is_decimal(new):
        return bool(old.scale == new.scale and old.precision <= new.precision)
    return bool(_WIDENED.get(old) == new)


def needs_rewrite(schema: pa.Schema, change: SchemaChange) -> bool:
    """Return whether a schema change has a step that makes a column another one, which old files do not have."""
    types = {field.name: field.type for field in schema}
    for step in change.steps:
        if isinstance(step, RenameColumn):
            types[step.new_name] = types.pop(step.name)
        elif isinstance(step, AddColumn):
            types[step.field.name] = step.field.type
        elif isinstance(step, ChangeType):
            if not is_promotion(types[step.name], step.type):
                return True
            types[step.name] = step.type
    return False


def apply(transaction: Transaction, change: SchemaChange) -> None:
    """Make the steps of a schema change in a transaction. Each is a change of its own: names may be exchanged."""
    for step in change.steps:
        _step(transaction, step)
    current = [field.name for field in transaction.table_metadata.schema().fields]
    if current != change.schema.names:
        with transaction.update_schema() as update:
            update.move_first(change.schema.names[0])
            for before, name in zip(change.schema.names, change.schema.names[1:], strict=False):
                update.move_after(name, before)


def _step(transaction: Transaction, step: ColumnChange) -> None:
    if isinstance(step, ChangeType):
        old = arrow_schema(transaction.table_metadata.schema()).field(step.name).type
        if old == step.type:
            return
        if not is_promotion(old, step.type):
            _step(transaction, DropColumn(step.name))
            _step(transaction, AddColumn(pa.field(step.name, step.type)))
            return
    with transaction.update_schema(allow_incompatible_changes=True) as update:
        if isinstance(step, AddColumn):
            update.add_column((step.field.name,), _type(step.field))
        elif isinstance(step, DropColumn):
            update.delete_column((step.name,))
        elif isinstance(step, RenameColumn):
            update.rename_column((step.name,), step.new_name)
        else:
            update.update_column((step.name,), _type(pa.field(step.name, step.type)))


def _type(field: pa.Field) -> IcebergType:
    return new_schema(pa.schema([field])).fields[0].field_type


def new_schema(schema: pa.Schema) -> Schema:
    """Return Iceberg's schema for columns; their numbers are provisional."""
    paths = [path for field in schema for path in _paths(field.type, field.name)]
    return pyarrow_to_schema(with_field_ids(schema, tuple((path, number) for number, path in enumerate(paths, 1))))


def _paths(kind: pa.DataType, path: str) -> Iterator[str]:
    yield path
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _paths(field.type, f"{path}.{field.name}")
    elif pa.types.is_list(kind):
        yield from _paths(kind.value_type, f"{path}.element")
