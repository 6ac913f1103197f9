"""Copies a chunk into leaves, over lost connections. An executor runs it; all that it takes and returns is pickled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.rewrite import write_leaves
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.borders import if_unchanged
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.positions import require_reached
from binspark.mirror.snapshot.read import chunk_at_position
from binspark.mirror.snapshot.select import queried_schema, table_name
from binspark.mirror.snapshot.statement import TableChanged
from binspark.replication.position import BinlogPosition
from binspark.schema.server import table_from_server
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection
from binspark.server.retry import Retry, RetryingConnection


@dataclass(frozen=True, slots=True)
class CopiedChunk:
    """A chunk in the target's directory, not committed yet.

    files      its leaves
    rows       how many rows they have
    position   the position at which the rows were read, where it is known: MariaDB reports it, and tables without a key
               are locked for a moment
    """

    chunk: Chunk
    files: tuple[DataFile, ...]
    rows: int
    position: BinlogPosition | None


@dataclass(frozen=True, slots=True)
class ChunkCopier:
    """Copies chunks of tables from a server.

    start    where the changes begin that will be applied to the rows: the server must have reached it
    limits   the sizes of leaves
    retry    how often to connect again
    """

    config: ConnectionConfig
    start: BinlogPosition
    limits: LeafLimits = field(default_factory=LeafLimits)
    retry: Retry = field(default_factory=Retry)

    def copy(self, table: MirroredTable, directory: TableDirectory, chunk: Chunk) -> CopiedChunk:
        """Copy a chunk. If the connection is lost, it is copied again; files of an attempt that failed are left over.

        `TableChanged` if the table no longer has the columns that it had.
        """
        connection = RetryingConnection(self.config, self.retry)
        try:
            return connection.run(lambda opened: self._copy(opened, table, directory, chunk))
        finally:
            connection.close()

    def _copy(
        self, connection: Connection, table: MirroredTable, directory: TableDirectory, chunk: Chunk
    ) -> CopiedChunk:
        require_reached(connection, self.start)
        with chunk_at_position(connection, table, chunk) as (position, batches):
            require_unchanged(connection, table)
            files = write_leaves(_with_rows(batches), directory, table, self.limits)
        return CopiedChunk(chunk, tuple(files), sum(file.rows for file in files), position)


def require_unchanged(connection: Connection, table: MirroredTable) -> None:
    """Refuse a table whose columns are not what they were when the snapshot began.

    The query of a chunk would not notice another character set, or more members of an ENUM. From the first statement
    on, a consistent read keeps others from altering the table.

    A table without a key must not have been altered at all: the position of its rows is this moment, and what is
    applied to them does not include statements before it.
    """
    if_unchanged(lambda: connection.rows(f"SELECT 1 FROM {table_name(table)} LIMIT 0"))  # noqa: S608 (quoted)
    definition = table_from_server(connection.rows, table.name)
    columns = {} if definition is None else {defined.name: defined.column for defined in definition.columns}
    for column in queried_schema(table).columns:
        found = columns.get(column.name or "")
        if found is not None and found != column:
            message = f"column {column.name} of {table.name} was changed while the table was read"
            raise TableChanged(message, connection.position)
    if definition is not None and not table.key:
        now = definition.table_schema(*table.name)
        if now.primary_key or now.columns[: len(columns) + 2 * definition.versioned] != table.source.columns:
            raise TableChanged(f"{table.name} was altered while it was read", connection.position)


def _with_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return (batch for batch in batches if batch.num_rows)


@dataclass(frozen=True, slots=True)
class ChunkCopy:
    """Copies one chunk. It is sent to executors."""

    copier: ChunkCopier
    table: MirroredTable
    directory: TableDirectory
    chunk: Chunk

    def __call__(self) -> CopiedChunk:
        """Copy the chunk."""
        return self.copier.copy(self.table, self.directory, self.chunk)
