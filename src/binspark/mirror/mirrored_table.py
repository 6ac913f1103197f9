"""A table as it is mirrored: its schema in the source and in the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from binspark.columns.options import ColumnOptions, TimeFormat
from binspark.columns.types import form_of
from binspark.schema.table import TableName, TableSchema

MIRROR_OPTIONS = ColumnOptions(time=TimeFormat.STRING)
"""How values become columns in a mirror by default: neither format has an interval that TIME fits into."""


@dataclass(frozen=True, slots=True)
class MirroredTable:
    """A table at one position of the source. It is sent to executors.

    source   its schema there
    schema   the columns in the target, in the same order
    key      the names of the key's columns; empty for a table without a key
    options  how values become columns
    """

    source: TableSchema
    schema: pa.Schema
    key: tuple[str, ...]
    options: ColumnOptions = MIRROR_OPTIONS

    @property
    def name(self) -> TableName:
        """The name of the table."""
        return TableName(self.source.schema, self.source.table)


def mirrored_table(
    source: TableSchema, column_type: Callable[[pa.DataType], pa.DataType], options: ColumnOptions = MIRROR_OPTIONS
) -> MirroredTable:
    """Return how a table is mirrored. `column_type` is that of the target."""
    names, key = source.column_names, source.primary_key or ()
    fields = [
        pa.field(name, column_type(form_of(column, options).type))
        for name, column in zip(names, source.columns, strict=True)
    ]
    return MirroredTable(source, pa.schema(fields), tuple(names[index] for index in key), options)
