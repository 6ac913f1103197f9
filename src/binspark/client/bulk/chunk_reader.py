"""Chunks as a reader of files wants them."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.client.bulk.outline import Chunk
from binspark.columns.reader import Span


class ChunkReader:
    """Chunks as stretches of bytes that follow each other in one file, as a reader of files wants them."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self._chunk = next(chunks, None)
        self._taken = 0
        self._due: tuple[str, int] = ("", 0)
        self.file = ""

    def next_span(self) -> Span | None:
        """Begin the next stretch; None when there is none."""
        if self._chunk is None:
            return None
        self.file = self._chunk.file
        self._due = (self._chunk.file, self._chunk.offset)
        return Span(self._chunk.format, self._chunk.offset, None, lambda _offset: False)

    def read_into(self, buffer: memoryview) -> int:
        """Fill a buffer with bytes of the stretch, 0 at its end."""
        filled = 0
        while filled < len(buffer) and self._chunk is not None and self._goes_on(self._chunk):
            count = min(len(self._chunk.data) - self._taken, len(buffer) - filled)
            buffer[filled : filled + count] = self._chunk.data[self._taken : self._taken + count].data
            self._taken += count
            filled += count
            if self._taken == len(self._chunk.data):
                self._due = (self._chunk.file, self._chunk.end)
                self._chunk, self._taken = next(self._chunks, None), 0
        return filled

    def _goes_on(self, chunk: Chunk) -> bool:
        return self._taken > 0 or (chunk.file, chunk.offset) == self._due
