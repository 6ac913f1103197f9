"""Chunks of a log as lines: in bulk if there is much, row by row if there is little or something unusual."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from binspark.changes import Change, ChangeReader
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.documents.json_lines import in_order, lines_of, selection_of_lines
from binspark.errors import BinlogError, SchemaError
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.schema.history import SchemaHistory

Bytes = npt.NDArray[np.uint8]


class MemoryPool:
    """Memory for the lines of one chunk after the other. That of a chunk is used again for the next but one."""

    def __init__(self) -> None:
        self._areas: list[Bytes] = []
        self._other_areas: list[Bytes] = []
        self._taken = 0

    def begin_chunk(self) -> None:
        """Begin another chunk."""
        self._areas, self._other_areas = self._other_areas, self._areas
        self._taken = 0

    def take(self, size: int) -> Bytes:
        """Return at least this number of bytes, of any content."""
        if self._taken == len(self._areas):
            self._areas.append(np.empty(size, dtype=np.uint8))
        elif len(self._areas[self._taken]) < size:
            self._areas[self._taken] = np.empty(size, dtype=np.uint8)
        self._taken += 1
        return self._areas[self._taken - 1]


BULK_BYTES = 1 << 16
"""From this size on a chunk is read in bulk."""

Text = bytes | memoryview


class ChangePrinter:
    """Writes the changes of one chunk after the other as lines; `form` writes one change.

    With `is_json` what `form` writes is the JSON of `change_json`, which kernels write too.
    """

    def __init__(
        self, selection: Selection, history: SchemaHistory, form: Callable[[Change], str], *, is_json: bool
    ) -> None:
        self._selection = selection
        self._form = form
        self._is_json = is_json
        self._rows = ChangeReader(selection, history)
        self._batches: BatchReader | None = None
        self._known_changes = 0
        self._memory = MemoryPool()

    def lines(self, chunk: LogChunk) -> Iterator[Text]:
        """Yield the lines of a chunk, some at a time. What comes before damage is yielded before the error is raised.

        They stay as they are until those of the next chunk but one are requested.
        """
        if self._is_json and not chunk.indirect_rows and len(chunk.data) >= BULK_BYTES:
            found = self._in_bulk(chunk)
            if found is not None:
                yield from found
                return
        yield from self._by_row(chunk)

    def _in_bulk(self, chunk: LogChunk) -> list[Text] | None:
        """Return all lines of a chunk; None if something in it needs the reader of single rows."""
        reader, take = self._reader(), self._memory.take
        self._memory.begin_chunk()
        try:
            found = [
                lines_of(batch, chunk.file, chunk.array, chunk.offset, take) for batch in read_chunks(reader, [chunk])
            ]
        except BinlogError:
            self._go_back(chunk)
            return None
        self._known_changes = len(self._rows.history.entries)
        return list(in_order(found, take))

    def _by_row(self, chunk: LogChunk) -> Iterator[Text]:
        for event in chunk.events():
            lines = [self._form(change) for change in self._rows.feed(event)]
            if lines:
                yield ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")

    def _reader(self) -> BatchReader:
        """Return the reader of batches. It does not know what the reader of rows has learned of tables meanwhile."""
        history = self._rows.history
        if self._batches is None or self._batches.history is not history or len(history.entries) != self._known_changes:
            self._batches = BatchReader(selection_of_lines(self._selection), history)
        return self._batches

    def _go_back(self, chunk: LogChunk) -> None:
        """Forget what was learned from a chunk, which is read once more."""
        self._batches = None
        try:
            self._rows.history = self._rows.history.until(chunk.file, chunk.offset)
        except SchemaError:
            return  # nothing of this file was seen
