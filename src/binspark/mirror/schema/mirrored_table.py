"""A table as it is mirrored: its schema in the source and in the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from binspark.columns.options import ColumnOptions, TimeFormat
from binspark.columns.types import form_of
from binspark.schema.definition import HASH_COLUMN
from binspark.schema.table import TableName, TableSchema

_HIDDEN = (HASH_COLUMN, "!hidden!")
"""How the names of columns begin that servers add for keys of long columns and of expressions. No query gets them."""

ROW_END = "row_end"
"""The column that MariaDB adds to the key of a table that keeps its old rows: when a row ended."""

MIRROR_OPTIONS = ColumnOptions(time=TimeFormat.STRING)
"""How values become columns in a mirror by default: neither format has an interval that TIME fits into."""


HISTORY = TableName("binspark_history", "changes")
"""The table of the target that has the history of changes, if there is one. See `mirror.history`."""


@dataclass(frozen=True, slots=True)
class MirroredTable:
    """A table at one position of the source. It is sent to executors.

    source   its schema there
    schema   the columns in the target, in the same order; columns that servers hide are not among them
    key      the names of the key's columns; empty for a table without a key
    options  how values become columns
    has_versions  whether it has all versions of the rows: see `version_table`
    replace_keys  the unique keys of a table of MariaDB, by their columns: REPLACE updates the row that has one of them
    """

    source: TableSchema
    schema: pa.Schema
    key: tuple[str, ...]
    options: ColumnOptions = MIRROR_OPTIONS
    has_versions: bool = False
    replace_keys: tuple[tuple[str, ...], ...] = ()

    @property
    def name(self) -> TableName:
        """The name of the table."""
        return TableName(self.source.schema, self.source.table)

    @property
    def has_exact_key(self) -> bool:
        """Whether it has a key, and no column of it is a floating-point number."""
        kinds = [self.schema.field(name).type for name in self.key]
        return bool(kinds) and not any(map(pa.types.is_floating, kinds))


def mirrored_table(
    source: TableSchema, column_type: Callable[[pa.DataType], pa.DataType], options: ColumnOptions = MIRROR_OPTIONS
) -> MirroredTable:
    """Return how a table is mirrored. `column_type` is that of the target."""
    names, key = source.column_names, [source.column_names[index] for index in source.primary_key or ()]
    if key and has_history(source):
        key.append(ROW_END)
    fields = [
        pa.field(name, column_type(form_of(column, options).type))
        for name, column in zip(names, source.columns, strict=True)
        if not name.startswith(_HIDDEN)
    ]
    return MirroredTable(source, pa.schema(fields), tuple(key), options)


def has_history(source: TableSchema) -> bool:
    """Return whether a table of MariaDB keeps its old rows (WITH SYSTEM VERSIONING), which the log has as rows, too."""
    return any(column.name == ROW_END and not column.visible for column in source.columns)
