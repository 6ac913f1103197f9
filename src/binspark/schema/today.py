"""What a server says of its tables today, as far as it was true when a log was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from binspark.schema.catalog import Catalog, subjects
from binspark.schema.changes import Change, CreateDatabase, DropDatabase
from binspark.schema.sql_reader import TableName


def true_before(today: Catalog, changes: Iterable[Change]) -> Catalog:
    """Return the tables that none of these statements has changed: of the others, a server knows what came of it.

    A database of which tables are left out no longer claims to know all of its tables. A statement may write names in
    another case than the server.
    """
    earlier = today.copy()
    for change in changes:
        if isinstance(change, CreateDatabase | DropDatabase):
            schema = change.name.lower()
            earlier.databases = {name: known for name, known in earlier.databases.items() if name.lower() != schema}
            _leave_out(earlier, [name for name in earlier.tables if name.schema.lower() == schema])
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
        for spelling in (name, *catalog.tables.spellings(name)):
            catalog.tables.pop(spelling, None)
            if spelling.schema in catalog.databases:
                catalog.databases[spelling.schema] = replace(catalog.databases[spelling.schema], complete=False)
