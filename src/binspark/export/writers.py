"""The files that are open at a time: one a table at most, and few in all."""

from __future__ import annotations

from collections import OrderedDict

import pyarrow as pa

from binspark.columns.reader import TableBatch
from binspark.export.folder import OutputFolder
from binspark.export.part import PartWriter, plain

MOST_OPEN = 64
_MOST_PENDING = 128 << 20


class Writers:
    """Writes batches to the file of their table. A new shape, or enough rows, begin another file.

    Where too many tables are open, the one that was not written to for the longest is closed; its next rows begin
    another file. What waits for a row group is bounded over all files together.
    """

    def __init__(self, folder: OutputFolder, rows_per_file: int | None = None, most_open: int = MOST_OPEN) -> None:
        self._folder = folder
        self._rows_per_file = rows_per_file
        self._most_open = most_open
        self._open: OrderedDict[str, PartWriter] = OrderedDict()

    def write(self, item: TableBatch) -> None:
        """Write a batch, to as many files as its rows ask for."""
        batch = plain(item.batch)
        while batch.num_rows:
            part = self._part(item, batch.schema)
            room = batch.num_rows if self._rows_per_file is None else self._rows_per_file - part.rows
            part.write(batch.slice(0, room))
            batch = batch.slice(room)
            if part.rows == self._rows_per_file:
                self._close(item.table.name)
        self._bound_pending()

    def close(self) -> None:
        """Complete every file."""
        for name in list(self._open):
            self._close(name)

    def abandon(self) -> None:
        """Let go of every file that is open."""
        for part in self._open.values():
            part.abandon()
        self._open.clear()

    def _part(self, item: TableBatch, schema: pa.Schema) -> PartWriter:
        name = item.table.name
        part = self._open.get(name)
        if part is not None and part.schema != schema:
            self._close(name)
            part = None
        if part is None:
            if len(self._open) >= self._most_open:
                self._close(next(iter(self._open)))
            path = self._folder.new_part(item.table.schema, item.table.table)
            part = self._open[name] = PartWriter(path, schema)
        self._open.move_to_end(name)
        return part

    def _close(self, name: str) -> None:
        self._open.pop(name).close()

    def _bound_pending(self) -> None:
        waiting = {name: part.pending_bytes for name, part in self._open.items()}
        if sum(waiting.values()) > _MOST_PENDING:
            self._open[max(waiting, key=lambda name: waiting[name])].flush()
