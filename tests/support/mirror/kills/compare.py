"""Compares a mirror with what its server selects, table by table and row by row, as the formats' libraries read it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa

from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.schema.definitions import as_mirrored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.mirror.snapshot.chunk import COMPLETE
from binspark.mirror.snapshot.read import read_chunk
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.state import Phase
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Target
from binspark.schema.definition import TableDefinition
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from tests.support.mirror.live_mirrors import rows_of

_SHOWN = 3


def differences(config: ConnectionConfig, lake: Path, database: str, kind: Format) -> tuple[list[str], int]:
    """Return how a mirror differs from its server, which nobody changes meanwhile, and how many rows are equal."""
    target = parse_target(str(lake), kind)
    present = _present(config, database)
    found = _left_over(target, database, set(present))
    rows = 0
    for name, definition in present.items():
        problems, count = _compared(config, target, lake, kind, name, definition)
        found += problems
        rows += count
    if not found:
        report = check(config, target, TablePatterns(frozenset({f"{database}.*"})), CheckSettings(wait_seconds=0))
        compared = [table for table in report.tables if table.name in present]
        for table in compared:
            if not table.is_equal:
                shown = (difference.describe() for difference in table.differences[:_SHOWN])
                found.append(f"check: {table.describe()}: {', '.join(shown)}")
        found += [f"check: {name} was not compared" for name in set(present) - {table.name for table in compared}]
    return found, rows


def keys_of(config: ConnectionConfig, database: str) -> dict[TableName, tuple[str, ...]]:
    """Return the columns of the keys of all tables of a database, by which they are mirrored."""
    present = _present(config, database)
    return {name: as_mirrored(name, found, lambda kind: kind, MIRROR_OPTIONS).key for name, found in present.items()}


def _present(config: ConnectionConfig, database: str) -> dict[TableName, TableDefinition]:
    with connect(config) as connection:
        tables = from_server(connection.rows).tables.items()
    return {name: definition for name, definition in tables if name.schema == database and definition is not None}


def _left_over(target: Target, database: str, present: set[TableName]) -> list[str]:
    """Return what is wrong with tables that the server does not have."""
    found = []
    for name in target.tables():
        table = None if name in present or name.schema != database else target.table(name)
        state = None if table is None else table.read().state
        if state is not None and state.phase is not Phase.DROPPED and not state.has_versions:
            found.append(f"{name}: the server does not have it, the mirror has it as {state.phase}")
    return found


def _compared(
    config: ConnectionConfig, target: Target, lake: Path, kind: Format, name: TableName, definition: TableDefinition
) -> tuple[list[str], int]:
    table = target.table(name)
    state = None if table is None else table.read().state
    if state is None:
        return [f"{name}: the mirror does not have it"], 0
    if state.phase is not Phase.CURRENT or state.pending is not None:
        return [f"{name}: it is {state.phase}, pending {state.pending}, consistent from {state.consistent_from}"], 0
    mirrored = as_mirrored(name, definition, target.column_type, MIRROR_OPTIONS)
    stored = rows_of(lake, str(name), kind)
    if set(stored.column_names) != set(mirrored.schema.names):
        return [f"{name}: columns {stored.column_names}, expected {mirrored.schema.names}"], 0
    expected = pa.Table.from_batches(read_chunk(config, mirrored, COMPLETE), schema=mirrored.schema)
    have, want = _counted(stored.select(mirrored.schema.names)), _counted(expected)
    if have != want:
        missing, extra = want - have, have - want
        parts = f"missing {missing.total()}: {list(missing)[:_SHOWN]}, extra {extra.total()}: {list(extra)[:_SHOWN]}"
        return [f"{name} {mirrored.schema.names} key {mirrored.key}: {parts}"], 0
    return [], want.total()


def _counted(rows: pa.Table) -> Counter[str]:
    columns = [column.to_pylist() for column in rows.columns]
    return Counter(map(repr, zip(*columns, strict=True)))
