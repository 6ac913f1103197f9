"""The rows that a table has when its mirror begins, copied in chunks while others write to it.

Changes begin at the position before the first row was read. A row may be read before or after a change that follows in
the log: applied by key, the change makes it right. Chunks that are in the table are stored with it, so that a copy that
was interrupted continues.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

from binspark.mirror.open_table import OpenTable
from binspark.mirror.snapshot.borders import estimated_rows, plan_chunks
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.copy import ChunkCopier, CopiedChunk
from binspark.mirror.snapshot.positions import consistent_from
from binspark.mirror.snapshot.statement import TableChanged
from binspark.mirror.state import Phase
from binspark.mirror.tables import MirroredTables
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.schema.definition import TableDefinition
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect

log = logging.getLogger("binspark.mirror")
_TABLES = 4
_READERS = 2
"""How many tables are copied at a time, and how many chunks of each."""

_GROUP = 8
"""How many chunks are committed together."""

OnCopied = Callable[[TableName, int, int], None]
"""Is called with a table, how many rows of it were copied in this run, and about how many it has."""


class TableCopier:
    """Copies tables of a server."""

    def __init__(
        self,
        config: ConnectionConfig,
        tables: MirroredTables,
        on_copied: OnCopied,
        checkpoint: Callable[[str], None] = lambda _step: None,
    ) -> None:
        self._config = config
        self._tables = tables
        self._on_copied = on_copied
        self._checkpoint = checkpoint
        self._is_stopped = False

    def stop(self) -> None:
        """End after the chunks that are being read."""
        self._is_stopped = True

    def copy(self, names: Iterable[TableName]) -> None:
        """Copy tables that are not there, and continue with those whose copy was interrupted."""
        with connect(self._config) as connection:
            self._begin(connection, names)
        waiting = [table for table in self._tables if table.state.phase is Phase.SNAPSHOT]
        with ThreadPoolExecutor(_TABLES) as pool:
            for _ in pool.map(self._copy_table, waiting):
                pass

    def _begin(self, connection: Connection, names: Iterable[TableName]) -> None:
        """Create tables, with the position from which on their changes are applied; it comes before their definitions.

        A table of which a part was copied begins again.
        """
        wanted = sorted(set(names))
        if not wanted:
            return
        position, definitions = _definitions_at_end(connection, wanted)
        for name, definition in definitions.items():
            if definition is not None:
                self._tables.create(name, definition, position, Phase.SNAPSHOT)
                continue
            log.warning("%s is not there any more", name)
            if name in self._tables:
                self._tables.drop(name)

    def _copy_table(self, table: OpenTable) -> None:
        """Copy a table; if it is altered meanwhile, from its beginning."""
        with connect(self._config) as connection:
            found: OpenTable | None = table
            while found is not None and found.state.phase is Phase.SNAPSHOT and not self._is_stopped:
                try:
                    self._copy(connection, found)
                except TableChanged as error:
                    log.warning("%s is copied again from the beginning: %s", table.name, error.message)
                    self._begin(connection, [table.name])
                    found = self._tables.find(table.name)

    def _copy(self, connection: Connection, table: OpenTable) -> None:
        expected = estimated_rows(connection, table.table)
        rows = sum(file.rows for file in table.version.files)
        self._on_copied(table.name, rows, expected)
        done = [Chunk.from_json(text) for text in table.state.chunks_done]
        positions: list[BinlogPosition | None] = [None] * len(done)
        chunks = plan_chunks(connection, table.table, self._tables.settings.rows_per_chunk, done)
        copier = ChunkCopier(self._config, table.state.position, self._tables.settings.limits)
        directory, schema = table.target.directory, table.table
        with ThreadPoolExecutor(_READERS) as pool:
            for group in _grouped(pool, chunks, lambda chunk: copier.copy(schema, directory, chunk)):
                rows += sum(copied.rows for copied in group)
                positions += [copied.position for copied in group]
                done = _joined([*done, *(copied.chunk for copied in group)])
                self._commit(table, group, done)
                self._on_copied(table.name, rows, max(expected, rows))
                self._checkpoint("chunk")
                if self._is_stopped:
                    return
        if table.table.key:
            reached = consistent_from(connection, positions)
            state = replace(table.state, phase=Phase.CATCH_UP, chunks_done=(), consistent_from=reached)
            table.commit(state.moved(state.position))
        self._checkpoint("copied")

    def _commit(self, table: OpenTable, group: Sequence[CopiedChunk], done: Sequence[Chunk]) -> None:
        """Add chunks to a table. Without a key it is one chunk, as the table was at one position: that is current."""
        state = replace(table.state, chunks_done=tuple(chunk.to_json() for chunk in done))
        if not table.table.key:
            position = group[0].position or state.position
            state = replace(state, phase=Phase.CURRENT, chunks_done=(), position=position)
        table.commit(state, [file for copied in group for file in copied.files])


def _definitions_at_end(
    connection: Connection, names: Sequence[TableName]
) -> tuple[BinlogPosition, dict[TableName, TableDefinition | None]]:
    """Return the end of the log, and the definitions that tables have there; None for those that are not there.

    A table may be altered between the two queries: rows in the log before that would not fit its new definition.
    """
    found: dict[TableName, TableDefinition | None] = {}
    while True:
        position, before = end_of_log(connection), found
        tables = from_server(connection.rows).tables
        found = {name: tables.get(name) for name in names}
        if found == before:
            return position, found


def _grouped(
    pool: ThreadPoolExecutor, chunks: Iterator[Chunk], copy: Callable[[Chunk], CopiedChunk]
) -> Iterator[list[CopiedChunk]]:
    """Yield chunks that were copied, some at a time, in their order; while they are committed, others are copied."""
    waiting: list[Future[CopiedChunk]] = []

    def fill() -> None:
        waiting.extend(pool.submit(copy, chunk) for chunk in islice(chunks, _READERS * 2 - len(waiting)))

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
