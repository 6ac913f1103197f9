"""This machine as a place of logs: paths, and `file://` URIs."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from urllib.parse import quote

from binspark.errors import SourceError
from binspark.files.storage.file import LocalFile, LogFile
from binspark.files.storage.location import Entry, Kind
from binspark.files.storage.uri import child_uri, local_uri, parse_uri
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import describe_os_error, source_errors
from binspark.position import Position

_FLAGS_LENGTH = 2


class LocalPlace:
    """Files by their paths."""

    def entry(self, name: str) -> Entry | None:
        """Return what a path means, None if nothing."""
        try:
            found = os.stat(self._path(name))
        except PermissionError as error:
            raise SourceError(describe_os_error(error), Position(file=name)) from None
        except (OSError, ValueError):
            return None
        return Entry(name, _kind(found.st_mode), found.st_size)

    def missing_root(self, name: str) -> None:
        """Return nothing: a path begins where there is always something."""

    def entries(self, directory: str) -> list[Entry]:
        """Return what a directory holds."""
        with source_errors(directory):
            names = [self.join(directory, name) for name in os.listdir(self._path(directory))]
        return [entry for name in names if (entry := self.entry(name)) is not None]

    def glob(self, pattern: str) -> list[str]:
        """Return the files that a pattern matches."""
        return [self._name(path) for path in glob.glob(self._path(pattern)) if os.path.isfile(path)]

    def join(self, directory: str, base_name: str) -> str:
        """Name a file of a directory."""
        return str(Path(directory) / base_name)

    def listed(self, index: str, line: str) -> str:
        """Name the file that a line of an index means."""
        return self._name(str(Path(self._path(index)).parent / line))

    def heads(self, names: list[str], length: int) -> list[bytes]:
        """Return the first bytes of many files, none of those that cannot be read."""
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
        """Return inode and first header.

        An inode is soon used again, so what the server wrote first counts too: its time, without the flag that says
        whether the log is in use. The device does not: a folder that machines share has another one on each of them.
        """
        with source_errors(name), LocalFile(self._path(name)) as file:
            first_header = file.read_at(FIRST_EVENT_OFFSET, HEADER_LENGTH)
            inode = os.fstat(file.fileno()).st_ino
        return f"{inode}-{first_header[:-_FLAGS_LENGTH].hex()}"

    def _path(self, name: str) -> str:
        return name

    def _name(self, path: str) -> str:
        return path


class FileUriPlace(LocalPlace):
    """The same files by their URIs."""

    def join(self, directory: str, base_name: str) -> str:
        """Name a file of a directory."""
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
