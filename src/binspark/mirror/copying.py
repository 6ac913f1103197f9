"""The rows that a table has when its mirror begins, copied in chunks while others write to it.

Changes begin at the position before the first row was read. A row may be read before or after a change that follows in
the log: applied by key, the change makes it right. The files of chunks are recorded beside the table, so that a copy
that was interrupted continues; the table gets the rows of all chunks in one commit, and keeps its old ones until then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from binspark.mirror.runners.runner import Runner
from binspark.mirror.snapshot.borders import estimated_bytes, estimated_rows, plan_chunks
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.copy import ChunkCopier, ChunkCopy, CopiedChunk
from binspark.mirror.snapshot.positions import consistent_from, wait_for_prepared
from binspark.mirror.snapshot.statement import TableChanged
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.mirror.tables.staged_files import ColumnsChanged
from binspark.mirror.tables.staging import StagedFilesLost
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.schema.definition import TableDefinition
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect

log = logging.getLogger("binspark.mirror")
_TABLES = 4
"""How many tables are copied at a time."""

_GROUP = 8
"""How many chunks are recorded together."""

OnCopied = Callable[[TableName, int, int], None]
"""Is called with a table, how many rows of it were copied in this run, and about how many it has."""

OnBegin = Callable[[BinlogPosition, Mapping[TableName, TableDefinition | None]], None]


class TableCopier:
    """Copies tables of a server.

    choose_runner   returns what copies the chunks of a table, by its approximate size in bytes
    on_begin        is called before the copies of tables begin, with their position, and the definitions there
    """

    def __init__(
        self,
        config: ConnectionConfig,
        tables: MirroredTables,
        on_copied: OnCopied,
        choose_runner: Callable[[int], Runner],
        checkpoint: Callable[[str], None] = lambda _step: None,
        on_begin: OnBegin = lambda _position, _definitions: None,
    ) -> None:
        self._config = config
        self._tables = tables
        self._on_copied = on_copied
        self._choose_runner = choose_runner
        self._checkpoint = checkpoint
        self._on_begin = on_begin
        self._is_stopped = False

    def stop(self) -> None:
        """End after the chunks that are being read."""
        self._is_stopped = True

    def copy(self, names: Iterable[TableName]) -> None:
        """Copy tables that are not there, and continue with those whose copy was interrupted."""
        with connect(self._config) as connection:
            self._begin(connection, (name for name in names if not self._is_begun(name)))
        waiting = [table for table in self._tables if table.state.phase is Phase.SNAPSHOT]
        with ThreadPoolExecutor(_TABLES) as pool:
            for _ in pool.map(self._copy_table, waiting):
                pass

    def _is_begun(self, name: TableName) -> bool:
        table = self._tables.find(name)
        return table is not None and table.state.phase is Phase.SNAPSHOT

    def _begin(self, connection: Connection, names: Iterable[TableName]) -> None:
        """Begin to copy tables, from the position on that comes before their definitions were read.

        A table of which a part was copied begins again.
        """
        wanted = sorted(set(names))
        if not wanted:
            return
        position, definitions = _definitions_at_end(connection, wanted)
        wait_for_prepared(connection)
        self._on_begin(position, definitions)
        for name, definition in definitions.items():
            if definition is not None:
                self._tables.begin_copy(name, definition, position)
            else:
                log.warning("%s no longer exists on the server, and is not copied", name)
                self._tables.abandon_copy(name)

    def _copy_table(self, table: OpenTable) -> None:
        """Copy a table; if it is altered meanwhile, from its beginning."""
        with connect(self._config) as connection:
            found: OpenTable | None = table
            while found is not None and found.state.phase is Phase.SNAPSHOT and not self._is_stopped:
                try:
                    self._copy(connection, found)
                except (TableChanged, ColumnsChanged, StagedFilesLost) as error:
                    log.warning("%s is copied again from the beginning: %s", table.name, error.message)
                    self._begin(connection, [table.name])
                    found = self._tables.find(table.name)

    def _copy(self, connection: Connection, table: OpenTable) -> None:
        """Copy the chunks of a table that are missing, then replace its rows by theirs."""
        staging = self._tables.staging(table)
        expected = estimated_rows(connection, staging.table)
        copied = staging.copied()
        rows = sum(chunk.rows for chunk in copied)
        self._on_copied(table.name, rows, expected)
        done = _joined([chunk.chunk for chunk in copied])
        chunks = plan_chunks(connection, staging.table, self._tables.settings.rows_per_chunk, done)
        copier = ChunkCopier(self._config, staging.position, self._tables.settings.limits)
        runner = self._choose_runner(estimated_bytes(connection, staging.table))

        def copy(chunk: Chunk) -> CopiedChunk:
            job = ChunkCopy(copier, staging.table, staging.directory, chunk)
            return runner.each([job], f"copy a chunk of {table.name}")[0]

        with ThreadPoolExecutor(runner.readers) as pool:
            for group in _grouped(pool, chunks, copy, 2 * runner.readers):
                copied += staging.record(group)
                rows += sum(chunk.rows for chunk in group)
                self._on_copied(table.name, rows, max(expected, rows))
                self._checkpoint("chunk")
                if self._is_stopped:
                    return
        positions = [chunk.position for chunk in copied]
        if staging.table.key:
            state = staging.state(Phase.CATCH_UP, consistent_from=consistent_from(connection, positions))
        else:  # it is one chunk, as the table was at one position: that is current
            state = staging.state(Phase.CURRENT, positions[0] if positions else None)
        self._tables.end_copy(staging, state.moved(state.position), staging.files(copied))
        self._checkpoint("copied")


def _definitions_at_end(
    connection: Connection, names: Sequence[TableName]
) -> tuple[BinlogPosition, dict[TableName, TableDefinition | None]]:
    """Return the end of the log, and the definitions that tables have there; None for those that are not there.

    A table may be altered between the two queries: rows in the log before that would not fit its new definition. So
    nothing may be written to the log meanwhile, or the definitions are read once more, and are the same.
    """
    schemas = {name.schema for name in names}
    found: dict[TableName, TableDefinition | None] = {}
    while True:
        position, before = end_of_log(connection), found
        tables = from_server(connection.rows, schemas).tables
        found = {name: tables.get(name) for name in names}
        if found == before or end_of_log(connection).coordinates == position.coordinates:
            return position, found


def _grouped(
    pool: ThreadPoolExecutor, chunks: Iterator[Chunk], copy: Callable[[Chunk], CopiedChunk], count: int
) -> Iterator[list[CopiedChunk]]:
    """Yield chunks that were copied, some at a time, in their order; while they are recorded, others are copied.

    `count` is how many are waiting for the pool or in it.
    """
    waiting: list[Future[CopiedChunk]] = []

    def fill() -> None:
        waiting.extend(pool.submit(copy, chunk) for chunk in islice(chunks, count - len(waiting)))

    fill()
    while waiting:
        group = [waiting.pop(0).result()]
        while waiting and len(group) < _GROUP and waiting[0].done():
            group.append(waiting.pop(0).result())
        fill()
        yield group


def _joined(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return chunks that follow each other as one."""
    joined: list[Chunk] = []
    for chunk in chunks:
        if joined and joined[-1].high == chunk.low:
            joined[-1] = Chunk(joined[-1].low, chunk.high)
        else:
            joined.append(chunk)
    return joined
