"""What a server says of its tables today, as far as it was true when a log was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from binspark.schema.catalog import Catalog, subjects
from binspark.schema.changes import Change, CreateDatabase, DropDatabase
from binspark.schema.sql_reader import TableName


def true_before(today: Catalog, changes: Iterable[Change]) -> Catalog:
    """Return the tables that none of these statements has changed: of the others, a server knows what came of it.

    A database of which tables are left out no longer claims to know all of its tables.
    """
    earlier = today.copy()
    for change in changes:
        if isinstance(change, CreateDatabase | DropDatabase):
            earlier.databases.pop(change.name, None)
            _leave_out(earlier, [name for name in earlier.tables if name.schema == change.name])
        _leave_out(earlier, subjects(change))
    return earlier


def as_hints(today: Catalog) -> Catalog:
    """Return the tables as what they may have been: where a log says otherwise, the log counts."""
    hints = today.copy()
    for name, definition in today.tables.items():
        if definition is not None:
            hints.tables[name] = replace(definition, certain=False)
    for schema, database in today.databases.items():
        hints.databases[schema] = replace(database, complete=False)
    return hints


def _leave_out(catalog: Catalog, names: Iterable[TableName]) -> None:
    for name in names:
        catalog.tables.pop(name, None)
        if name.schema in catalog.databases:
            catalog.databases[name.schema] = replace(catalog.databases[name.schema], complete=False)
