"""An open log: read on from where it stands, or at any offset."""

from __future__ import annotations

import io
import os
from typing import BinaryIO

from binspark.errors import SourceError


class RawLog(io.RawIOBase):
    """What is beneath an open log: unbuffered input that also reads at an offset, without moving.

    size   how long the log was when it was opened
    """

    size: int

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end."""
        raise NotImplementedError


class LogFile(io.BufferedReader):
    """An open log. `read`, `readinto`, `seek` and `tell` are those of any binary file, with read-ahead."""

    def __init__(self, raw: RawLog, read_ahead: int = io.DEFAULT_BUFFER_SIZE) -> None:
        super().__init__(raw, read_ahead)
        self._raw = raw

    @property
    def size(self) -> int:
        """How long the log was when it was opened; a server may still append to it."""
        return self._raw.size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end. Where `read` goes on does not change."""
        return self._raw.read_at(offset, length)


class LocalFile(io.FileIO, RawLog):
    """A file of this machine."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.size = os.fstat(self.fileno()).st_size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end."""
        before, pieces = self.tell(), []
        self.seek(offset)
        while length > 0 and (piece := self.read(length)):
            pieces.append(piece)
            length -= len(piece)
        self.seek(before)
        return b"".join(pieces)


class StreamFile(RawLog):
    """Standard input: it is read once, and stays open when the log is closed."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer as far as bytes are there."""
        return int(self._stream.readinto(buffer))  # type: ignore[attr-defined]

    @property
    def size(self) -> int:  # type: ignore[override]
        raise SourceError("standard input does not tell its size")

    def read_at(self, offset: int, length: int) -> bytes:
        """Refuse: what was read of standard input is gone."""
        raise SourceError(f"standard input cannot be read at {offset}, for {length} bytes: it is read once")
