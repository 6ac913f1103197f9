"""Copies of tables in a target as they are now, without the mirror that makes and follows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from binspark.mirror.check.report import TableReport
from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.rewrite import write_leaves
from binspark.mirror.schema.definitions import as_mirrored, stored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable
from binspark.mirror.snapshot.chunk import COMPLETE
from binspark.mirror.snapshot.read import read_chunk
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.target import Commit, Target, TargetTable
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.testing.servers import Server
from tests.support.servers import config_of

Edit = Callable[[pa.Table], pa.Table]


def mirror_table(server: Server, target: Target, name: TableName) -> tuple[TargetTable, MirroredTable]:
    """Copy a table into a target."""
    config = config_of(server.port)
    with connect(config) as connection:
        definition = from_server(connection.rows).tables[name]
        position = end_of_log(connection)
    assert definition is not None
    mirrored = as_mirrored(name, definition, target.column_type, MIRROR_OPTIONS)
    state = TableState("test", Phase.CURRENT, position, stored(name, definition), mirrored.key)
    table = target.create(name, mirrored.schema, state)
    rows = read_chunk(config, mirrored, COMPLETE)
    _replace(table, mirrored, pa.Table.from_batches(rows, schema=mirrored.schema))
    return table, mirrored


def edit_rows(table: TargetTable, mirrored: MirroredTable, edit: Edit) -> None:
    """Change the rows of a mirrored table without its mirror."""
    _replace(table, mirrored, edit(stored_rows(table, mirrored)))


def move_to_end(server: Server, table: TargetTable) -> None:
    """Let a mirrored table be at the end of the server's log, as if its mirror had applied everything."""
    version = table.read()
    assert version.state is not None
    with connect(config_of(server.port)) as connection:
        state = replace(version.state, position=end_of_log(connection))
    table.commit(Commit(version, state))


def position_of(table: TargetTable) -> BinlogPosition:
    """Return the position that a mirrored table stores."""
    state = table.read().state
    assert state is not None
    return state.position


def stored_rows(table: TargetTable, mirrored: MirroredTable) -> pa.Table:
    """Return the rows of a mirrored table."""
    reader = LeafReader(table.directory, mirrored)
    batches = [found.rows for file in table.read().files for found in reader.batches(file)]
    return pa.Table.from_batches(batches, schema=mirrored.schema)


def checked(server: Server, target: Target, name: TableName, settings: CheckSettings | None = None) -> TableReport:
    """Check one table, which nobody changes meanwhile."""
    settings = settings or CheckSettings(wait_seconds=0)
    (report,) = check(config_of(server.port), target, TablePatterns(frozenset([str(name)])), settings).tables
    return report


def _replace(table: TargetTable, mirrored: MirroredTable, rows: pa.Table) -> None:
    version = table.read()
    assert version.state is not None
    added: list[DataFile] = []
    if rows.num_rows:
        added = write_leaves(rows.combine_chunks().to_batches(), table.directory, mirrored, LeafLimits())
    table.commit(Commit(version, version.state, added, version.files))
