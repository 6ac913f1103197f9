"""A store as a place of logs, through pyarrow's view of file systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from glob import has_magic
from typing import Any

from binspark.errors import BinlogError, SourceError
from binspark.files.storage import Storage
from binspark.files.storage_file import LogFile
from binspark.files.storage_place import Entry, Kind, base_name
from binspark.files.storage_reading import MOST_AHEAD, RemoteFile
from binspark.files.storage_reasons import reason_of
from binspark.files.storage_systems import System, open_system
from binspark.files.storage_uri import Uri, parse_uri
from binspark.position import Position

_STAMPS = ("etag", "generation", "ino", "created", "mtime", "modified", "last-modified", "lastmodified")


class RemotePlace:
    """The files of one host of a scheme."""

    def __init__(self, uri: Uri, storage: Storage) -> None:
        self._uri = uri
        self._storage = storage

    def entry(self, name: str) -> Entry | None:
        """Return what a name means, None if nothing."""
        with self._told(name):
            return _entry(name, self._files.get_file_info(self._path(name)))

    def entries(self, directory: str) -> list[Entry]:
        """Return what a directory holds; nothing, where there is no such directory."""
        from pyarrow.fs import FileSelector

        with self._told(directory):
            found = self._files.get_file_info(FileSelector(self._path(directory), allow_not_found=True))
        named = (_entry(self.join(directory, base_name(info.path.rstrip("/"))), info) for info in found)
        return [entry for entry in named if entry is not None]

    def glob(self, pattern: str) -> list[str]:
        """Return the files that a pattern matches, part by part of its path."""
        path = _uri(pattern).path
        *folders, last = path.strip("/").split("/")
        directories = [pattern.removesuffix(path)]
        for folder in folders:
            directories = self._matches(directories, folder, Kind.DIRECTORY)
        return self._matches(directories, last, Kind.FILE)

    def _matches(self, directories: list[str], pattern: str, kind: Kind) -> list[str]:
        if not has_magic(pattern):
            names = [self.join(directory, pattern) for directory in directories]
            return [name for name in names if kind is Kind.DIRECTORY or self._is_file(name)]
        found = (entry for directory in directories for entry in self.entries(directory) if entry.kind is kind)
        return [entry.name for entry in found if _fits(base_name(entry.name), pattern)]

    def _is_file(self, name: str) -> bool:
        entry = self.entry(name)
        return entry is not None and entry.kind is Kind.FILE

    def join(self, directory: str, base_name: str) -> str:
        """Name a file of a directory."""
        return f"{directory.rstrip('/')}/{base_name}"

    def listed(self, index: str, line: str) -> str:
        """Name the file that a line of an index means. A path of the server's machine is none of the store."""
        directory = index.rpartition("/")[0]
        if parse_uri(line):
            return line
        parts = [base_name(line)] if line.startswith("/") else [part for part in line.split("/") if part != "."]
        return self.join(directory, "/".join(parts))

    def open(self, name: str) -> LogFile:
        """Open a file."""
        with self._told(name):
            opened = self._files.open_input_file(self._path(name))
            raw = RemoteFile(opened, name, self._storage)
        return LogFile(raw, MOST_AHEAD)

    def identity(self, name: str) -> str:
        """Return what the store says of which object this is: a tag, or when it was written."""
        with self._told(name):
            return ",".join(f"{key}={value}" for key, value in self._stamps(self._path(name)))

    def _stamps(self, path: str) -> list[tuple[str, Any]]:
        handler = getattr(self._files, "handler", None)
        if handler is not None:
            known = handler.fs.info(path)
        else:
            with self._files.open_input_file(path) as file:
                known = file.metadata()
        lowered = {str(key).lower(): value for key, value in known.items()}
        if "etag" in lowered:
            return [("etag", lowered["etag"])]
        return [(key, lowered[key]) for key in _STAMPS if lowered.get(key) is not None]

    @property
    def _system(self) -> System:
        return open_system(self._uri.scheme, self._uri.host, self._storage)

    @property
    def _files(self) -> Any:
        return self._system.files

    def _path(self, name: str) -> str:
        return self._system.path(_uri(name).path)

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Turn whatever a file system raises into the error that names the path."""
        try:
            yield
        except BinlogError as error:
            raise error.at(Position(file=name)) from None
        except Exception as error:
            raise SourceError(reason_of(error, self._storage), Position(file=name)) from None


def _uri(name: str) -> Uri:
    uri = parse_uri(name)
    assert uri is not None
    return uri


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _entry(name: str, info: Any) -> Entry | None:
    from pyarrow.fs import FileType

    if info.type == FileType.NotFound:
        return None
    kinds = {FileType.File: Kind.FILE, FileType.Directory: Kind.DIRECTORY}
    return Entry(name, kinds.get(info.type, Kind.OTHER), info.size or 0)
