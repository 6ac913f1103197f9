"""What a TABLE_MAP alone says about its table."""

from __future__ import annotations

from dataclasses import replace

from binspark.errors import DecodeError, Malformed
from binspark.event.table_map import TableMap
from binspark.event.table_metadata import MetadataKind
from binspark.schema.log_metadata import spread_metadata
from binspark.schema.log_types import column_of
from binspark.schema.table import TableSchema
from binspark.values.column import Column


def from_table_map(table_map: TableMap, *, mariadb: bool = False) -> TableSchema:
    """Return the table as the log describes it. What the server did not write stays None.

    The families count differently which columns have a collation, so the reader must know who wrote the log.
    """
    columns = [_column(table_map, index) for index in range(table_map.column_count)]
    facts = spread_metadata(table_map, columns, mariadb=mariadb)
    described = tuple(replace(column, **known) for column, known in zip(columns, facts, strict=True))
    key, prefixes = _primary_key(table_map)
    return TableSchema(table_map.schema, table_map.table, described, key, prefixes)


def _column(table_map: TableMap, index: int) -> Column:
    nullable = bool(table_map.null_bits[index >> 3] >> (index & 7) & 1)
    try:
        return column_of(table_map.column_types[index], table_map.column_metadata[index], nullable)
    except DecodeError as error:
        name = f"{table_map.schema}.{table_map.table}"
        raise type(error)(f"column {index + 1} of {name}: {error.message}", error.position) from None


def _primary_key(table_map: TableMap) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Return the key's columns and prefixes. A server that writes names also writes the key, if there is one."""
    simple: tuple[int, ...] | None = table_map.optional(MetadataKind.SIMPLE_PRIMARY_KEY)
    with_prefix: tuple[tuple[int, int], ...] | None = table_map.optional(MetadataKind.PRIMARY_KEY_WITH_PREFIX)
    parts = with_prefix or tuple((index, 0) for index in simple or ())
    if not parts:
        return (None if table_map.column_names is None else ()), ()
    beyond = [index for index, _ in parts if index >= table_map.column_count]
    if beyond:
        raise Malformed(f"the primary key has column {beyond[0]}, the table only {table_map.column_count} columns")
    return tuple(index for index, _ in parts), tuple(prefix for _, prefix in parts)
