"""Columns of Delta tables: which types they have, and which tables the mirror cannot write."""

from __future__ import annotations

import pyarrow as pa
from deltalake import DeltaTable, Schema

from binspark.mirror.schema.column_changes import AddColumn, SchemaChange
from binspark.mirror.targets.target import TargetError
from binspark.mirror.targets.types import storable_type
from binspark.position import Position

_POSITION = "binspark.position"
_MAPPING = "delta.columnMapping.mode"
_NO_MAPPING = "none"
_VECTORS = "delta.enableDeletionVectors"


def delta_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column of a type gets in Delta: it has no unsigned integers, times of day or intervals."""
    if pa.types.is_time(kind):
        return pa.int64()
    return storable_type(kind, delta_type)


def arrow_schema(table: DeltaTable) -> pa.Schema:
    """Return the columns of a table in Arrow's types, without Delta's annotations."""
    return pa.schema([field.remove_metadata() for field in pa.schema(table.schema().to_arrow())])


def ordered_schema(schema: pa.Schema) -> Schema:
    """Return Delta's schema for columns in a new order.

    Schemas that differ only in their order are equal to delta-rs, and it would keep the old one: so each column is
    annotated with its position.
    """
    fields = [field.with_metadata({_POSITION: str(number)}) for number, field in enumerate(schema, 1)]
    return Schema.from_arrow(pa.schema(fields))


def only_adds(change: SchemaChange) -> bool:
    """Return whether a schema change is one of metadata: old files simply lack the new columns, which are the last.

    A change without steps puts the columns in another order.
    """
    return bool(change.steps) and all(isinstance(step, AddColumn) for step in change.steps)


def check_writable(table: DeltaTable, address: str) -> None:
    """Refuse a table whose data files cannot be read by the names of their columns, or whose rows are not all valid."""
    properties, position = table.metadata().configuration, Position(file=address)
    mapping = properties.get(_MAPPING, _NO_MAPPING)
    if mapping != _NO_MAPPING:
        raise TargetError(
            f"the table has {_MAPPING} = {mapping}, which the mirror cannot write: its files would have other names of "
            "columns. Drop the table in the target, and mirror it again",
            position,
        )
    if _has_deletion_vectors(table):
        raise TargetError(
            "another program deleted rows by deletion vectors, which the mirror does not read. Run REORG TABLE … APPLY "
            f"(PURGE), and set {_VECTORS} to false; then compare the table with its source by --check",
            position,
        )


def _has_deletion_vectors(table: DeltaTable) -> bool:
    features = table.protocol().reader_features or []
    return "deletionVectors" in features and any(batch.num_rows for batch in table.deletion_vectors())
