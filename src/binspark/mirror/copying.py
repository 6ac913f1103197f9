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

from binspark.mirror.data_file import DataFile
from binspark.mirror.leaves import write_leaves
from binspark.mirror.open_table import OpenTable
from binspark.mirror.snapshot.borders import estimated_rows, plan_chunks
from binspark.mirror.snapshot.chunk import COMPLETE, Chunk
from binspark.mirror.snapshot.positions import exact_position
from binspark.mirror.snapshot.read import read_chunk, read_rows
from binspark.mirror.snapshot.statement import TableChanged
from binspark.mirror.source import ChangeSource
from binspark.mirror.state import Phase
from binspark.mirror.tables import MirroredTables
from binspark.replication.find import end_of_log
from binspark.schema.definition import TableDefinition
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect

log = logging.getLogger("binspark.mirror")
_READERS = 4
_GROUP = 8
"""How many chunks are committed together."""

OnCopied = Callable[[TableName, int, int], None]
"""Is called with a table, how many rows of it were copied in this run, and about how many it has."""


class TableCopier:
    """Copies tables of a server."""

    def __init__(
        self,
        config: ConnectionConfig,
        source: ChangeSource,
        tables: MirroredTables,
        on_copied: OnCopied,
        checkpoint: Callable[[str], None] = lambda _step: None,
    ) -> None:
        self._config = config
        self._source = source
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
            for name in sorted(set(names)):
                self._begin(connection, name)
            for table in self._tables:
                while table.state.phase is Phase.SNAPSHOT and not self._is_stopped:
                    try:
                        self._copy(connection, table)
                    except TableChanged as error:
                        log.warning("%s is copied again from the beginning: %s", table.name, error.message)
                        table = self._begin(connection, table.name) or table

    def _begin(self, connection: Connection, name: TableName) -> OpenTable | None:
        position = end_of_log(connection)
        definition = from_server(connection.rows).tables.get(name)
        if definition is None:
            log.warning("%s is not there any more", name)
            if name in self._tables:
                self._tables.drop(name)
            return None
        return self._tables.create(name, definition, position, Phase.SNAPSHOT)

    def _copy(self, connection: Connection, table: OpenTable) -> None:
        if not table.table.key:
            self._copy_exactly(table)
            return
        expected = estimated_rows(connection, table.table)
        copied = sum(file.rows for file in table.version.files)
        self._on_copied(table.name, copied, expected)
        done = [Chunk.from_json(text) for text in table.state.chunks_done]
        chunks = plan_chunks(connection, table.table, self._tables.settings.rows_per_chunk, done)
        with ThreadPoolExecutor(_READERS) as pool:
            for group in _grouped(pool, chunks, lambda chunk: self._read(table, chunk)):
                files = [file for _, written in group for file in written]
                copied += sum(file.rows for file in files)
                done = _joined([*done, *(chunk for chunk, _ in group)])
                table.commit(replace(table.state, chunks_done=tuple(chunk.to_json() for chunk in done)), files)
                self._on_copied(table.name, copied, max(expected, copied))
                self._checkpoint("chunk")
                if self._is_stopped:
                    return
        head = self._source.head()
        copied_state = replace(table.state, phase=Phase.CATCH_UP, chunks_done=(), consistent_from=head)
        table.commit(copied_state.moved(table.state.position))
        self._checkpoint("copied")

    def _copy_exactly(self, table: OpenTable) -> None:
        """Copy a table without a key as it is at one position: its changes cannot be applied twice."""
        with connect(self._config) as connection, exact_position(connection, table.table) as position:
            rows = read_rows(connection, table.table, COMPLETE)
            files = write_leaves(rows, table.target.directory, table.table, self._tables.settings.limits)
        copied = sum(file.rows for file in files)
        table.commit(replace(table.state, phase=Phase.CURRENT, position=position), files, table.version.files)
        self._on_copied(table.name, copied, copied)
        self._checkpoint("copied")

    def _read(self, table: OpenTable, chunk: Chunk) -> list[DataFile]:
        rows = read_chunk(self._config, table.table, chunk)
        return write_leaves(rows, table.target.directory, table.table, self._tables.settings.limits)


def _grouped(
    pool: ThreadPoolExecutor, chunks: Iterator[Chunk], read: Callable[[Chunk], list[DataFile]]
) -> Iterator[list[tuple[Chunk, list[DataFile]]]]:
    """Yield chunks with their files, some at a time, in their order; while they are committed, others are read."""
    waiting: list[tuple[Chunk, Future[list[DataFile]]]] = []

    def fill() -> None:
        waiting.extend((chunk, pool.submit(read, chunk)) for chunk in islice(chunks, _READERS * 2 - len(waiting)))

    fill()
    while waiting:
        group: list[tuple[Chunk, list[DataFile]]] = []
        for chunk, future in waiting[:_GROUP]:
            if group and not future.done():
                break
            group.append((chunk, future.result()))
        del waiting[: len(group)]
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


def definitions(config: ConnectionConfig) -> dict[TableName, TableDefinition]:
    """Return the tables that a server has."""
    with connect(config) as connection:
        found = from_server(connection.rows).tables
    return {name: definition for name, definition in found.items() if definition is not None}
