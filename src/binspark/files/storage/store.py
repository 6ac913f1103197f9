"""The interface of a store: finding files by name, and opening them as logs."""

from __future__ import annotations

import io
from collections.abc import Hashable
from enum import Enum
from typing import NamedTuple, Protocol


class RawLog(io.RawIOBase):
    """The unbuffered file below an open log, which can also be read at an offset.

    size   how many bytes the log had when it was opened
    """

    size: int
    is_compressed = False
    _read_last = (-1, 0)
    """The position of the file at the last `read_at`, and where that ended."""

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end."""
        raise NotImplementedError

    def stored_position(self) -> int:
        """Return where the last read of the stored file ended."""
        position, (before, end) = self.tell(), self._read_last
        return end if position == before else position


class LogFile(io.BufferedReader):
    """An open log. `read`, `readinto`, `seek` and `tell` are those of any binary file, with read-ahead."""

    def __init__(self, raw: RawLog, read_ahead: int = io.DEFAULT_BUFFER_SIZE) -> None:
        super().__init__(raw, read_ahead)
        self._raw = raw

    @property
    def is_compressed(self) -> bool:
        """Whether the log is decompressed while it is read: it can only be read from its beginning to its end."""
        return self._raw.is_compressed

    @property
    def size(self) -> int:
        """How many bytes the log had when it was opened; a server may still append to it."""
        return self._raw.size

    def stored_position(self) -> int:
        """Return how far the file below is read; any thread may ask."""
        return self._raw.stored_position()

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end. The file position does not change."""
        return self._raw.read_at(offset, length)


class Kind(Enum):
    """What a name refers to. `OTHER` may be a pipe, which can be read."""

    FILE = "file"
    DIRECTORY = "directory"
    OTHER = "other"


class Entry(NamedTuple):
    """A file or directory, under the name by which a caller can open it."""

    name: str
    kind: Kind
    size: int


class FileStore(Protocol):
    """A store of files. Names are those that callers use; a failure is a `SourceError` with the name."""

    def entry(self, name: str) -> Entry | None:
        """Return the file or directory of this name, None if there is none."""

    def missing_root(self, name: str) -> str | None:
        """Return the bucket in a name if there is no such bucket."""

    def entries(self, directory: str) -> list[Entry]:
        """Return the files and directories in a directory."""

    def glob(self, pattern: str) -> list[str]:
        """Return the files that match a pattern."""

    def join(self, directory: str, base_name: str) -> str:
        """Return the name of a file in a directory."""

    def listed(self, index: str, line: str) -> str:
        """Return the name of the file that a line of an index file refers to."""

    def heads(self, names: list[str], length: int) -> list[bytes]:
        """Return the first bytes of each file."""

    def open(self, name: str) -> LogFile:
        """Open a file."""

    def identity(self, name: str) -> str:
        """Return a value that changes when another file takes this name."""

    def file(self, name: str) -> Hashable:
        """Return a value that all names of the same file share now."""

    def is_link(self, name: str) -> bool:
        """Return whether a name is that of a symbolic link."""


def base_name(name: str) -> str:
    """Return the last part of a name."""
    return name.rpartition("/")[2]
