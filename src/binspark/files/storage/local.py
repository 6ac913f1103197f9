"""Logs on this machine: paths, `file://` URIs, standard input."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Hashable
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO
from urllib.parse import quote

from binspark.errors import SourceError
from binspark.files.storage.store import Entry, Kind, LogFile, RawLog
from binspark.files.storage.uri import child_uri, local_uri, parse_uri
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import describe_os_error, source_errors
from binspark.position import Position

UNKNOWN_SIZE = "the size of standard input is not known before its end; save the log to a file first"
_FLAGS_LENGTH = 2


class LocalFile(io.FileIO, RawLog):
    """A file of this machine: a path, or a descriptor that stays open when this is closed."""

    def __init__(self, path: str | int) -> None:
        super().__init__(path, closefd=isinstance(path, str))
        self.size = os.fstat(self.fileno()).st_size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end."""
        before, chunks = self.tell(), []
        self.seek(offset)
        while length > 0 and (chunk := self.read(length)):
            chunks.append(chunk)
            length -= len(chunk)
        self.seek(before)
        found = b"".join(chunks)
        self._read_last = (before, offset + len(found))
        return found


class StreamFile(RawLog):
    """Standard input: read once, from its beginning to its end, and not closed with the log."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._count = 0

    def readable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer as far as bytes are available."""
        count = int(self._stream.readinto(buffer))  # type: ignore[attr-defined]
        self._count += count
        return count

    def stored_position(self) -> int:
        """Return how many bytes were read."""
        return self._count

    @property
    def size(self) -> int:  # type: ignore[override]
        """Refuse: the size of standard input is not known before it ends."""
        raise SourceError(UNKNOWN_SIZE)

    def read_at(self, offset: int, length: int) -> bytes:
        """Refuse: bytes of standard input can only be read once."""
        message = f"cannot read {length} bytes at {offset} of standard input; save the log to a file first"
        raise SourceError(message)


class LocalStore:
    """Files by their paths."""

    def entry(self, name: str) -> Entry | None:
        """Return the file or directory of this name, None if there is none."""
        try:
            found = os.stat(self._path(name))
        except PermissionError as error:
            raise SourceError(describe_os_error(error), Position(file=name)) from None
        except (OSError, ValueError):
            return None
        return Entry(name, _kind(found.st_mode), found.st_size)

    def missing_root(self, name: str) -> None:
        """Return None: the root of a path always exists."""

    def entries(self, directory: str) -> list[Entry]:
        """Return the files and directories in a directory."""
        with source_errors(directory):
            names = [self.join(directory, name) for name in os.listdir(self._path(directory))]
        return [entry for name in names if (entry := self.entry(name)) is not None]

    def glob(self, pattern: str) -> list[str]:
        """Return the files that match a pattern."""
        return [self._name(path) for path in glob.glob(self._path(pattern)) if os.path.isfile(path)]

    def join(self, directory: str, base_name: str) -> str:
        """Return the name of a file in a directory."""
        return str(Path(directory) / base_name)

    def listed(self, index: str, line: str) -> str:
        """Return the name of the file that a line of an index file refers to."""
        return self._name(str(Path(self._path(index)).parent / line))

    def heads(self, names: list[str], length: int) -> list[bytes]:
        """Return the first bytes of each file, nothing for files that cannot be read."""
        return [self._head(name, length) for name in names]

    def _head(self, name: str, length: int) -> bytes:
        try:
            with LocalFile(self._path(name)) as file:
                return file.read(length)
        except OSError:
            return b""

    def open(self, name: str) -> LogFile:
        """Open a file."""
        with source_errors(name):
            raw = LocalFile(self._path(name))
        return LogFile(raw)

    def identity(self, name: str) -> str:
        """Return the inode number and the first event header.

        File systems reuse inode numbers soon, so the first header counts too (it has the time at which the server
        began the log), without its flags, which change when the log is closed. The device number does not count: a
        directory that machines share has another one on each of them.
        """
        with source_errors(name), LocalFile(self._path(name)) as file:
            first_header = file.read_at(FIRST_EVENT_OFFSET, HEADER_LENGTH)
            inode = os.fstat(file.fileno()).st_ino
        return f"{inode}-{first_header[:-_FLAGS_LENGTH].hex()}"

    def file(self, name: str) -> Hashable:
        """Return the device and the inode; the path if there is no such file."""
        path = self._path(name)
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return path
        return found.st_dev, found.st_ino

    def is_link(self, name: str) -> bool:
        """Return whether a name is that of a symbolic link."""
        return os.path.islink(self._path(name))

    def _path(self, name: str) -> str:
        return name

    def _name(self, path: str) -> str:
        return path


class FileUriStore(LocalStore):
    """The same files by their `file://` URIs."""

    def join(self, directory: str, base_name: str) -> str:
        """Return the name of a file in a directory."""
        return child_uri(directory, quote(base_name))

    def _path(self, name: str) -> str:
        uri = parse_uri(name)
        assert uri is not None
        return uri.local_path()

    def _name(self, path: str) -> str:
        return local_uri(path)


def _kind(mode: int) -> Kind:
    if S_ISDIR(mode):
        return Kind.DIRECTORY
    return Kind.FILE if S_ISREG(mode) else Kind.OTHER
