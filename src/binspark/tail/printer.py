"""Chunks of a log as lines: in bulk if there is much, row by row if there is little."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.changes import ChangeReader
from binspark.changes.lines import lines_of_changes
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.documents.line_style import Heading, LineStyle
from binspark.documents.lines import write_lines
from binspark.files.lines import Text
from binspark.files.windows import by_window
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.schema.history import SchemaHistory
from binspark.values.options import Undecodable

BULK_BYTES = 1 << 16
"""From this size on a chunk is read in bulk."""


class ChunkPrinter:
    """Writes the changes of one chunk after the other as lines, as `files.lines` does with logs.

    rows   how many rows were written
    """

    def __init__(self, selection: Selection, history: SchemaHistory, style: LineStyle) -> None:
        self.rows = 0
        self._selection = selection
        self._style = style
        self._heading = Heading()
        self._rows = ChangeReader(selection, history)
        self._batches: BatchReader | None = None
        self._known_changes = 0

    def lines(self, chunk: LogChunk) -> Iterator[Text]:
        """Yield the lines of a chunk, some at a time; those before damage before the error is raised."""
        yield from self._in_bulk(chunk) if self._pays_in_bulk(chunk) else self._by_row(chunk)

    def _pays_in_bulk(self, chunk: LogChunk) -> bool:
        if self._selection.where is not None:
            return True  # conditions are evaluated on columns
        is_supported = self._selection.options.undecodable is not Undecodable.BINARY
        return is_supported and len(chunk.data) >= BULK_BYTES

    def _in_bulk(self, chunk: LogChunk) -> Iterator[Text]:
        for group in by_window(read_chunks(self._reader(), [chunk])):
            self.rows += sum(found.batch.num_rows for found in group)
            yield from write_lines(group, chunk.file, self._style, self._heading)
        self._known_changes = len(self._rows.history.entries)

    def _by_row(self, chunk: LogChunk) -> Iterator[Text]:
        for event in chunk.events():
            changes = list(self._rows.feed(event))
            self.rows += len(changes)
            lines = lines_of_changes(changes, self._style, self._heading)
            if lines:
                yield lines

    def _reader(self) -> BatchReader:
        """Return the reader of batches. It does not know what the reader of rows has learned of tables meanwhile."""
        history = self._rows.history
        if self._batches is None or len(history.entries) != self._known_changes:
            self._batches = BatchReader(self._selection.with_complete_rows(), history)
        return self._batches
