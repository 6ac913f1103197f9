"""Pieces of a log as lines: in bulk where there is much, row by row where there is little or something unusual."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from binspark.changes import Change, ChangeReader
from binspark.client.bulk.chunk_reader import ChunkReader
from binspark.client.bulk.pieces import BytesPiece, Piece
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.documents.json_lines import in_order, lines_of, selection_of_lines
from binspark.errors import BinlogError, SchemaError
from binspark.schema.history import SchemaHistory

Bytes = npt.NDArray[np.uint8]


class Rooms:
    """Memory for one piece after the other. What was taken for a piece is taken again for the next but one."""

    def __init__(self) -> None:
        self._rooms: list[Bytes] = []
        self._others: list[Bytes] = []
        self._taken = 0

    def turn(self) -> None:
        """Begin another piece."""
        self._rooms, self._others = self._others, self._rooms
        self._taken = 0

    def take(self, size: int) -> Bytes:
        """Return at least so many bytes, of any content."""
        if self._taken == len(self._rooms):
            self._rooms.append(np.empty(size, dtype=np.uint8))
        elif len(self._rooms[self._taken]) < size:
            self._rooms[self._taken] = np.empty(size, dtype=np.uint8)
        self._taken += 1
        return self._rooms[self._taken - 1]


BULK_BYTES = 1 << 16
"""From this size on a piece is read in bulk."""

Text = bytes | memoryview


class ChangePrinter:
    """Writes the changes of one piece after the other as lines; `form` writes one change.

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
        self._rooms = Rooms()

    def lines(self, piece: Piece) -> Iterator[Text]:
        """Yield the lines of a piece, some at a time. What comes before damage comes before the error is raised.

        They stay as they are until those of the next piece but one are asked for.
        """
        if self._is_json and isinstance(piece, BytesPiece) and not piece.is_odd and len(piece.data) >= BULK_BYTES:
            found = self._in_bulk(piece)
            if found is not None:
                yield from found
                return
        yield from self._by_row(piece)

    def _in_bulk(self, piece: BytesPiece) -> list[Text] | None:
        """Return all lines of a piece; None if there is something that only the reader of single rows can tell."""
        reader, take = self._reader(), self._rooms.take
        self._rooms.turn()
        chunks = ChunkReader(iter([piece]))
        try:
            found = [
                lines_of(batch, piece.file, piece.data, piece.offset, take)
                for batch in reader.read(chunks.read_into, piece.file, chunks.next_span())
            ]
        except BinlogError:
            self._go_back(piece)
            return None
        self._known_changes = len(self._rows.history.entries)
        return list(in_order(found, take))

    def _by_row(self, piece: Piece) -> Iterator[Text]:
        stop = self._selection.stop_position
        for event in piece.events():
            if stop is not None and event.offset >= stop:
                return
            lines = [self._form(change) for change in self._rows.feed(event)]
            if lines:
                yield ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")

    def _reader(self) -> BatchReader:
        """Return the reader of batches. It knows nothing of tables that others were told about meanwhile."""
        history = self._rows.history
        if self._batches is None or self._batches.history is not history or len(history.entries) != self._known_changes:
            self._batches = BatchReader(selection_of_lines(self._selection), history)
        return self._batches

    def _go_back(self, piece: BytesPiece) -> None:
        """Forget what was learned from a piece, which is read once more."""
        self._batches = None
        try:
            self._rows.history = self._rows.history.until(piece.file, piece.offset)
        except SchemaError:
            return  # nothing of this file was seen
