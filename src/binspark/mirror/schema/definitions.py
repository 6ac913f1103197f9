"""The definition of a mirrored table: as its state stores it, and the columns that the mirror has of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa

from binspark.columns.options import ColumnOptions
from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MirroredTable, mirrored_table
from binspark.schema.as_json import from_json, to_json
from binspark.schema.catalog import Catalog, KnownTables
from binspark.schema.definition import TableDefinition
from binspark.schema.table import TableName
from binspark.schema.text import WIDE_CHARSETS
from binspark.values.charsets import charset_of
from binspark.values.column import Column

ColumnType = Callable[[pa.DataType], pa.DataType]
"""Returns the type that a column of a type has in the target."""


def stored(name: TableName, definition: TableDefinition) -> str:
    """Return a definition as the state of a table stores it."""
    return to_json(Catalog(tables=KnownTables({name: definition})))


def read_stored(text: str) -> tuple[TableName, TableDefinition]:
    """Return the name and the definition that a state stores."""
    for name, definition in from_json(text).tables.items():
        if definition is not None:
            return name, definition
    raise SchemaError("the state of the mirror has no definition of its table")


def as_mirrored(
    name: TableName, definition: TableDefinition, column_type: ColumnType, options: ColumnOptions
) -> MirroredTable:
    """Return how a table is mirrored: with the columns of its definition, but not those that a server hides in it."""
    source = definition.table_schema(*name)
    count = len(definition.columns) + 2 * definition.versioned  # row_start and row_end
    table = mirrored_table(replace(source, columns=source.columns[:count]), column_type, options)
    is_replaced = (
        definition.mariadb and not definition.versioned
    )  # otherwise REPLACE deletes a row, and inserts another
    return replace(table, replace_keys=_unique_keys(definition)) if is_replaced else table


def _unique_keys(definition: TableDefinition) -> tuple[tuple[str, ...], ...]:
    """Return the names of the columns of each unique key."""
    names = {defined.folded: defined.name for defined in definition.columns}
    keys = ([(part.column or "").lower() for part in key.parts] for key in definition.keys if key.unique)
    return tuple(tuple(names[part] for part in parts) for parts in keys if names.keys() >= set(parts))


def catalog_of(tables: Iterable[tuple[TableName, TableDefinition]], databases: Catalog) -> Catalog:
    """Return a catalog with these tables, and what is known of databases."""
    catalog = Catalog(dict(databases.databases), case_matters=databases.case_matters)
    for name, definition in tables:
        catalog.tables[name] = replace(definition, certain=True)
    return catalog


def has_members_without_text(column: Column) -> bool:
    """Return whether members of an ENUM or SET have no text, as after a conversion to a character set of wide units.

    MySQL leaves the bytes of members as they are: `a` is a byte, and a character of UTF-16 has two.
    """
    is_wide = column.collation is not None and charset_of(column.collation) in WIDE_CHARSETS
    return is_wide and column.members is not None and "" in column.members
