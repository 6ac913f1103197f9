"""How the columns of a mirrored table change, in the terms that targets understand."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class AddColumn:
    """A new column; rows that are there get NULL in it, unless data files are rewritten."""

    field: pa.Field


@dataclass(frozen=True, slots=True)
class DropColumn:
    """A column that is gone."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameColumn:
    """A column with another name."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class ChangeType:
    """A column of another type that takes every value it has."""

    name: str
    type: pa.DataType


ColumnChange = AddColumn | DropColumn | RenameColumn | ChangeType


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """The steps to another schema, in their order; none if only the columns' order changes.

    The columns end in the order of `schema`. In Delta a column that is only added is the last one, wherever it is in
    `schema`: another order needs all data files to be rewritten.
    """

    schema: pa.Schema
    steps: tuple[ColumnChange, ...]


def replacement(old: pa.Schema, new: pa.Schema) -> SchemaChange | None:
    """Return how a table gets other columns when all its rows are replaced; None if it has them already."""
    if old.names == new.names and old.types == new.types:
        return None
    types = {field.name: field.type for field in old}
    added = [AddColumn(field) for field in new if field.name not in types]
    changed = [ChangeType(field.name, field.type) for field in new if types.get(field.name, field.type) != field.type]
    dropped = [DropColumn(name) for name in old.names if name not in new.names]
    return SchemaChange(new, (*added, *changed, *dropped))
