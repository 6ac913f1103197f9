"""The schema from a TABLE_MAP and the one from a definition, merged; and how they differ."""

from __future__ import annotations

from dataclasses import replace

from binspark.event.column_types import ColumnType
from binspark.schema.definition import TableDefinition
from binspark.schema.table import TableSchema
from binspark.schema.text import is_known
from binspark.values.column import BINARY_COLLATION, Column

_SAME_VALUES = {
    ColumnType.TIME: ColumnType.TIME2,
    ColumnType.DATETIME: ColumnType.DATETIME2,
    ColumnType.TIMESTAMP: ColumnType.TIMESTAMP2,
    ColumnType.NEWDATE: ColumnType.DATE,
    ColumnType.TINY_BLOB: ColumnType.BLOB,
    ColumnType.MEDIUM_BLOB: ColumnType.BLOB,
    ColumnType.LONG_BLOB: ColumnType.BLOB,
}
"""Types that are the same in DDL: the log has the format in which a value is stored."""

_TIMES = (ColumnType.TIME2, ColumnType.DATETIME2, ColumnType.TIMESTAMP2)


def difference(logged: TableSchema, defined: TableSchema) -> str | None:
    """Return how a TABLE_MAP and a definition differ, with both sides of it; None if they agree."""
    if len(logged.columns) != len(defined.columns):
        return f"{len(logged.columns)} columns in the log, {len(defined.columns)} in the definition"
    for number, (seen, known) in enumerate(zip(logged.columns, defined.columns, strict=True), 1):
        if seen.name is not None and seen.name.lower() != (known.name or "").lower():
            return f"column {number} is called {seen.name!r} in the log, {known.name!r} in the definition"
        if _layout(seen, known) != _layout(known, known):
            in_log, in_definition = _described(seen), _described(known)
            return f"column {number} ({known.name}) is {in_log} in the log, {in_definition} in the definition"
    return None


def with_hidden_columns(logged: TableSchema, definition: TableDefinition) -> tuple[TableSchema, tuple[str, ...]]:
    """Return the schema of a definition with the columns of functional indexes, if the log has them; and their names.

    A functional index is on hidden columns, one for each of its expressions, which come after all others. MySQL before
    8.0.18 logs them. MariaDB has hidden columns for the hashes of unique keys: the log shows how many.
    """
    defined = definition.table_schema(logged.schema, logged.table)
    known, found = len(defined.columns), len(logged.columns)
    if definition.mariadb and known != found:
        plain = known - sum(key.hashed for key in definition.keys)
        hashes = logged.columns[plain:] if found >= plain else ()
        fitting = definition.with_hashes(found - plain) if found >= plain else None
        if fitting is not None and all(column.type is ColumnType.LONGLONG for column in hashes):
            return fitting.table_schema(logged.schema, logged.table), ()
    if not known < found <= known + definition.expressions:
        return defined, ()
    hidden = tuple(replace(column, visible=False, generated=True) for column in logged.columns[known:])
    return replace(defined, columns=(*defined.columns, *hidden)), logged.column_names[known:]


def merge(logged: TableSchema, defined: TableSchema, *, visibility_is_logged: bool) -> TableSchema:
    """Return the schema of a TABLE_MAP, completed by a definition that agrees with it."""
    columns = tuple(
        _merge_column(seen, known, visibility_is_logged)
        for seen, known in zip(logged.columns, defined.columns, strict=True)
    )
    if logged.primary_key is not None:
        return replace(logged, columns=columns)
    return replace(logged, columns=columns, primary_key=defined.primary_key, prefixes=defined.prefixes)


def in_known_charsets(table: TableSchema) -> tuple[TableSchema, tuple[str, ...]]:
    """Return a table whose text in unknown character sets is bytes, and these columns: users can add collations."""
    columns, unknown = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        is_bytes = column.collation is not None and not is_known(column.collation)
        columns.append(replace(column, collation=BINARY_COLLATION) if is_bytes else column)
        unknown += [f"{name} ({column.collation})"] * is_bytes
    return (replace(table, columns=tuple(columns)) if unknown else table), tuple(unknown)


def _merge_column(seen: Column, known: Column, visibility_is_logged: bool) -> Column:
    digits_are_logged = seen.type not in _SAME_VALUES
    return replace(
        seen,
        scale=seen.scale if digits_are_logged else known.scale,
        unsigned=known.unsigned if seen.unsigned is None else seen.unsigned,
        collation=seen.collation if seen.collation is not None and is_known(seen.collation) else known.collation,
        members=known.members if seen.members is None else seen.members,
        name=known.name if seen.name is None else seen.name,
        visible=seen.visible if visibility_is_logged else known.visible,
        geometry_type=known.geometry_type if seen.geometry_type is None else seen.geometry_type,
        dimensions=known.dimensions if seen.dimensions is None else seen.dimensions,
        notation=known.notation,
        generated=known.generated,
        row_end=known.row_end,
    )


def _layout(column: Column, known: Column) -> tuple[int, ...]:
    """Return what must be the same on both sides. A length counts only if the definition has it."""
    kind = _SAME_VALUES.get(column.type, column.type)
    length = column.length if known.length else 0
    scale = column.scale if column.type not in _SAME_VALUES else known.scale
    return kind, length, column.precision, scale


def _described(column: Column) -> str:
    name = column.type.name
    if column.type is ColumnType.NEWDECIMAL:
        return f"DECIMAL({column.precision},{column.scale})"
    if column.type in _TIMES:
        return f"{name} with {column.scale} fractional digits"
    return f"{name} of length {column.length}" if column.length else name
