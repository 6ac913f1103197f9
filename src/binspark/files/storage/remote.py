"""A store as a place of logs, through pyarrow's view of file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from glob import has_magic
from typing import Any

from binspark.errors import BinlogError, SourceError
from binspark.files.storage import Storage
from binspark.files.storage.file import LogFile, RawLog
from binspark.files.storage.location import Entry, Kind, base_name
from binspark.files.storage.systems import System, open_system
from binspark.files.storage.uri import Uri, child_uri, parse_uri
from binspark.position import Position

_LONGEST = 240
_AWS = re.compile(r"AWS Error (\w+) during \w+ operation: (.*)")
_GOOGLE = re.compile(r"google::cloud::Status\((\w+): (.*)")
# What a person cannot use: numbers of requests, of curl, and what no answer says.
_NOISE = re.compile(
    r"\s*\(Request ID: .*\)$|curlCode: .*?Details: | error_info=.*|.*with a last message of |No response body\.$"
)


def reason_of(error: Exception, storage: Storage) -> str:
    """Return the reason of an error."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    if named := _AWS.search(text) or _GOOGLE.search(text):
        kind, details = named[1].lower().replace("_", " "), _NOISE.sub("", named[2])
        text = f"{kind}: {details}" if details else kind
    return storage.redact(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


FIRST_AHEAD = 1 << 16
MOST_AHEAD = 1 << 23


class RemoteFile(RawLog):
    """An open file of a store.

    A look at the first bytes asks for little. Each read that goes on asks for twice as much as the one before, up to
    `MOST_AHEAD`; going far away begins anew.
    """

    def __init__(self, file: Any, name: str, storage: Storage) -> None:
        self._file = file
        self.size = int(file.size())
        self._name = name
        self._storage = storage
        self._offset = 0
        self._ahead = FIRST_AHEAD

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go on reading elsewhere."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self.size}[whence]
        target = max(0, base + offset)
        if abs(target - self._offset) > self._ahead:
            self._ahead = FIRST_AHEAD
        self._offset = target
        return target

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the beginning of a buffer; return how much, 0 at the end."""
        length = min(len(buffer), self._ahead, self.size - self._offset)
        if length <= 0:
            return 0
        try:
            self._file.seek(self._offset)
            count = int(self._file.readinto(memoryview(buffer)[:length]))
        except Exception as error:
            raise self._failed(error, self._offset) from None
        self._offset += count
        self._ahead = min(2 * self._ahead, MOST_AHEAD)
        return count

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end."""
        length = min(length, self.size - offset)
        try:
            return bytes(self._file.read_at(length, offset)) if length > 0 else b""
        except Exception as error:
            raise self._failed(error, offset) from None

    def close(self) -> None:
        """Close the file, once."""
        if not self.closed:
            self._file.close()
        super().close()

    def _failed(self, error: Exception, offset: int) -> SourceError:
        return SourceError(reason_of(error, self._storage), Position(self._name, offset))


_SIDE_BY_SIDE = 16
_STAMPS = ("etag", "e_tag", "generation", "last-modified", "lastmodified", "modified", "mtime", "created")
"""What stores call it, the surest first."""


class RemotePlace:
    """The files of one host of a scheme."""

    def __init__(self, uri: Uri, storage: Storage) -> None:
        self._uri = uri
        self._storage = storage

    def entry(self, name: str) -> Entry | None:
        """Return what a name means, None if nothing."""
        with self._told(name):
            return _entry(name, self._files.get_file_info(self._path(name)))

    def missing_root(self, name: str) -> str | None:
        """Return the bucket of a name if there is no such bucket, as far as one may ask for it."""
        root = name.removesuffix(_uri(name).path)
        try:
            return None if self.entry(root) else root
        except SourceError:
            return None

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
        return child_uri(directory, base_name)

    def listed(self, index: str, line: str) -> str:
        """Name the file that a line of an index means. A path of the server's machine is none of the store."""
        directory = index.rpartition("/")[0]
        parts = [base_name(line)] if line.startswith("/") else [part for part in line.split("/") if part != "."]
        return self.join(directory, "/".join(parts))

    def heads(self, names: list[str], length: int) -> list[bytes]:
        """Return the first bytes of many files, asked for side by side."""
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            return list(pool.map(lambda name: self._head(name, length), names))

    def _head(self, name: str, length: int) -> bytes:
        with self.open(name) as file:
            return file.read_at(0, length)

    def open(self, name: str) -> LogFile:
        """Open a file."""
        with self._told(name):
            raw = RemoteFile(self._files.open_input_file(self._path(name)), name, self._storage)
        return LogFile(raw, min(MOST_AHEAD, max(raw.size, FIRST_AHEAD)))

    def identity(self, name: str) -> str:
        """Return what the store says of which object this is: a tag of it, or when it was written."""
        with self._told(name):
            known = {key.lower(): value for key, value in self._metadata(self._path(name)).items()}
        stamps = (f"{key}={_text(known[key])}" for key in _STAMPS if known.get(key) is not None)
        return next(stamps, "")

    def _metadata(self, path: str) -> dict[str, Any]:
        """Return all that is known of a file; pyarrow tells nothing beyond times of what fsspec opens."""
        handler = getattr(self._files, "handler", None)
        if handler is not None:
            return dict(handler.fs.info(path))
        with self._files.open_input_file(path) as file:
            told = file.metadata() or {}
        return {"mtime": self._files.get_file_info(path).mtime_ns, **told}

    @property
    def _system(self) -> System:
        return open_system(self._uri.scheme, self._uri.host, self._storage)

    @property
    def _files(self) -> Any:
        """The file system as it is now: what fsspec remembers of directories may be outdated."""
        files = self._system.files
        if handler := getattr(files, "handler", None):
            handler.fs.invalidate_cache()
        return files

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


def _text(stamp: object) -> str:
    return stamp.decode("latin-1") if isinstance(stamp, bytes) else str(stamp)


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _entry(name: str, info: Any) -> Entry | None:
    from pyarrow.fs import FileType

    if info.type == FileType.NotFound:
        return None
    kinds = {FileType.File: Kind.FILE, FileType.Directory: Kind.DIRECTORY}
    return Entry(name, kinds.get(info.type, Kind.OTHER), info.size or 0)
