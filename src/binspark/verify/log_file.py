"""A log as bytes at offsets. Its size is the one that it had when it was opened: a server may still append to it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from binspark.files.sources import STANDARD_INPUT, LogSource

_CHUNK = 1 << 16


class LogFile:
    """An open log."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, os.SEEK_END)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end of the log."""
        self._file.seek(offset)
        return self._file.read(max(0, min(length, self.size - offset)))

    def first_nonzero(self, offset: int) -> int:
        """Return where the zeros that begin at an offset end; the size of the log if they do not."""
        while chunk := self.read_at(offset, _CHUNK):
            rest = chunk.lstrip(b"\0")
            if rest:
                return offset + len(chunk) - len(rest)
            offset += len(chunk)
        return self.size


@contextmanager
def open_log(source: LogSource) -> Iterator[LogFile]:
    """Open a log; standard input is copied to a temporary file first, because damage makes verify go back."""
    with source.open() as file:
        if source.name != STANDARD_INPUT:
            yield LogFile(file)
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            yield LogFile(copy)
