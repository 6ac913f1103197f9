"""Bytes of events that follow each other in a file, kept until their transaction is complete."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Callable
from typing import IO

from binspark.frames import LogFormat
from binspark.replication.chunk import LogChunk


class TransactionBuffer:
    """Collects the bytes of events: in memory while they are few, then in a temporary file.

    file, offset  where the first of them is
    end           the offset after the last of them
    complete_end  up to this offset no transaction is in progress
    """

    def __init__(self, first: LogChunk, memory_bytes: int) -> None:
        """Begin with events; the next ones follow them in the same file."""
        self.file = first.file
        self.offset = self.end = self.complete_end = first.offset
        self._format = first.format
        self._memory_bytes = memory_bytes
        self._timestamp = 0
        self._indirect_rows = False
        self._bytes = bytearray()
        self._spilled: IO[bytes] | None = None
        self._close_spilled: Callable[[], object] = _nothing
        self.add(first)

    @property
    def is_complete(self) -> bool:
        """Whether there is something to take: a complete transaction, or events that belong to none."""
        return self.complete_end > self.offset

    def add(self, chunk: LogChunk) -> None:
        """Add events that follow in the same file."""
        if self.end == self.offset:
            self._format = chunk.format
        self.end += len(chunk.data)
        self._timestamp = chunk.timestamp
        self._indirect_rows |= chunk.indirect_rows
        if chunk.complete_end is not None:
            self.complete_end = chunk.complete_end
        if self._spilled is None and self.end - self.offset > self._memory_bytes:
            self._spilled = self._spill()
        if self._spilled is None:
            self._bytes += chunk.data
        else:
            self._spilled.write(chunk.data)

    def take(self, next_format: LogFormat, *, is_transaction: bool = False) -> LogChunk:
        """Remove what is complete and return it. What is left has `next_format`: a file's first event may change it."""
        data, length = self._view(), self.complete_end - self.offset
        taken = LogChunk(
            self.file,
            self.offset,
            self._format,
            data[:length],
            self.complete_end,
            self._timestamp,
            self._indirect_rows,
            is_transaction=is_transaction,
        )
        self.offset, self._format = self.complete_end, next_format
        self._indirect_rows = self._indirect_rows and length < len(data)
        # The chunk keeps the memory, or the mapped file; what is left is copied.
        self._bytes, self._spilled = bytearray(data[length:]), None
        self._close_spilled()
        return taken

    def _spill(self) -> IO[bytes]:
        spilled = tempfile.TemporaryFile(prefix="binspark-")  # noqa: SIM115 (closed when it is mapped, or with this object)
        self._close_spilled = weakref.finalize(self, spilled.close)
        spilled.write(self._bytes)
        self._bytes = bytearray()
        return spilled

    def _view(self) -> memoryview:
        """Return all bytes; those of a file are mapped, and stay when it is closed."""
        if self._spilled is None:
            return memoryview(self._bytes)
        self._spilled.flush()
        return memoryview(mmap.mmap(self._spilled.fileno(), 0, prot=mmap.PROT_READ))


def _nothing() -> None:
    """Nothing was spilled."""
