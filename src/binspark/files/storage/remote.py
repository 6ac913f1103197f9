"""Logs in remote storage, through pyarrow's file systems."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from glob import has_magic
from typing import Any

from binspark.errors import BinlogError, SourceError
from binspark.files.storage.filesystems import System, open_system
from binspark.files.storage.options import Storage
from binspark.files.storage.store import Entry, Kind, LogFile, RawLog, base_name
from binspark.files.storage.uri import Uri, child_uri, parse_uri
from binspark.position import Position

_MAX_REASON = 240
_AWS = re.compile(r"AWS Error (\w+) during \w+ operation: (.*)")
_GOOGLE = re.compile(r"google::cloud::Status\((\w+): (.*)")
# Details that help nobody: request ids, curl codes, and that there was no response body.
_NOISE = re.compile(
    r"\s*\(Request ID: .*\)$|curlCode: .*?Details: | error_info=.*|.*with a last message of |No response body\.$"
)
MIN_READ_AHEAD = 1 << 16
MAX_READ_AHEAD = 1 << 23
_PARALLEL_READS = 16
# The names under which file systems report the version of a file, most reliable first.
_VERSION_KEYS = ("etag", "e_tag", "generation", "last-modified", "lastmodified", "modified", "mtime", "created")


def describe_store_error(error: Exception, storage: Storage) -> str:
    """Return the reason of an error that a file system raised: one line, without secrets."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    if named := _AWS.search(text) or _GOOGLE.search(text):
        kind, details = named[1].lower().replace("_", " "), _NOISE.sub("", named[2])
        text = f"{kind}: {details}" if details else kind
    return storage.redact(text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…")


@contextmanager
def store_errors(name: str, storage: Storage) -> Iterator[None]:
    """Turn whatever a file system raises in the block into a `SourceError` that names the file."""
    try:
        yield
    except BinlogError as error:
        raise error.at(Position(file=name)) from None
    except Exception as error:
        raise SourceError(describe_store_error(error, storage), Position(file=name)) from None


class RemoteFile(RawLog):
    """An open file in remote storage.

    The first read requests little, in case only the first bytes are needed. Each sequential read requests twice as much
    as the one before, up to a limit; a seek beyond what the last read requested starts again with little.
    """

    def __init__(self, file: Any, name: str, storage: Storage) -> None:
        self._file = file
        self.size = int(file.size())
        self._name = name
        self._storage = storage
        self._offset = 0
        self._read_ahead = MIN_READ_AHEAD

    def readable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def seekable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def tell(self) -> int:
        """Return the offset of the next read."""
        return self._offset

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Continue to read at another offset."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self.size}[whence]
        target = max(0, base + offset)
        if abs(target - self._offset) > self._read_ahead:
            self._read_ahead = MIN_READ_AHEAD
        self._offset = target
        return target

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        length = min(len(buffer), self._read_ahead, self.size - self._offset)
        if length <= 0:
            return 0
        try:
            self._file.seek(self._offset)
            count = int(self._file.readinto(memoryview(buffer)[:length]))
        except Exception as error:
            raise self._failed(error, self._offset) from None
        self._offset += count
        self._read_ahead = min(2 * self._read_ahead, MAX_READ_AHEAD)
        return count

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end."""
        length = min(length, self.size - offset)
        self._read_last = (self._offset, offset + length)
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
        return SourceError(describe_store_error(error, self._storage), Position(self._name, offset))


class RemoteStore:
    """The files of one scheme and host."""

    def __init__(self, uri: Uri, storage: Storage) -> None:
        self._uri = uri
        self._storage = storage

    def entry(self, name: str) -> Entry | None:
        """Return the file or directory of this name, None if there is none."""
        with store_errors(name, self._storage):
            return _entry(name, self._files.get_file_info(self._path(name)))

    def missing_root(self, name: str) -> str | None:
        """Return the bucket in a name if there is no such bucket; None, too, where it may not be looked up."""
        root = name.removesuffix(_uri(name).path)
        try:
            return None if self.entry(root) else root
        except SourceError:
            return None

    def entries(self, directory: str) -> list[Entry]:
        """Return the files and directories in a directory; none if there is no such directory."""
        from pyarrow.fs import FileSelector

        with store_errors(directory, self._storage):
            found = self._files.get_file_info(FileSelector(self._path(directory), allow_not_found=True))
        named = (_entry(self.join(directory, base_name(info.path.rstrip("/"))), info) for info in found)
        return [entry for entry in named if entry is not None]

    def glob(self, pattern: str) -> list[str]:
        """Return the files that match a pattern, which is matched directory by directory."""
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
        return [entry.name for entry in found if _matches_part(base_name(entry.name), pattern)]

    def _is_file(self, name: str) -> bool:
        entry = self.entry(name)
        return entry is not None and entry.kind is Kind.FILE

    def join(self, directory: str, base_name: str) -> str:
        """Return the name of a file in a directory."""
        return child_uri(directory, base_name)

    def listed(self, index: str, line: str) -> str:
        """Return the name of the file that a line of an index file refers to.

        An absolute path is one of the server's machine; the file itself is beside the index.
        """
        directory = index.rpartition("/")[0]
        parts = [base_name(line)] if line.startswith("/") else [part for part in line.split("/") if part != "."]
        return self.join(directory, "/".join(parts))

    def heads(self, names: list[str], length: int) -> list[bytes]:
        """Return the first bytes of each file, requested in parallel."""
        with ThreadPoolExecutor(_PARALLEL_READS) as pool:
            return list(pool.map(lambda name: self._head(name, length), names))

    def _head(self, name: str, length: int) -> bytes:
        with self.open(name) as file:
            return file.read_at(0, length)

    def open(self, name: str) -> LogFile:
        """Open a file."""
        with store_errors(name, self._storage):
            raw = RemoteFile(self._files.open_input_file(self._path(name)), name, self._storage)
        return LogFile(raw, min(MAX_READ_AHEAD, max(raw.size, MIN_READ_AHEAD)))

    def identity(self, name: str) -> str:
        """Return the version that the storage reports for a file: its ETag, its generation, or when it was written."""
        with store_errors(name, self._storage):
            known = {key.lower(): value for key, value in self._metadata(self._path(name)).items()}
        versions = (f"{key}={_text(known[key])}" for key in _VERSION_KEYS if known.get(key) is not None)
        return next(versions, "")

    def file(self, name: str) -> Hashable:
        """Return the URI, with a query: it may name another endpoint."""
        uri = _uri(name)
        return uri.scheme, uri.host, uri.path, self._storage.query

    def is_link(self, _name: str) -> bool:
        """Return False: stores of objects have no links."""
        return False

    def _metadata(self, path: str) -> dict[str, Any]:
        """Return all metadata of a file. pyarrow passes on only times from fsspec, so fsspec is asked directly."""
        handler = getattr(self._files, "handler", None)
        if handler is not None:
            return dict(handler.fs.info(path))
        with self._files.open_input_file(path) as file:
            metadata = file.metadata() or {}
        return {"mtime": self._files.get_file_info(path).mtime_ns, **metadata}

    @property
    def _system(self) -> System:
        return open_system(self._uri.scheme, self._uri.host, self._storage)

    @property
    def _files(self) -> Any:
        return self._system.fresh_files

    def _path(self, name: str) -> str:
        return self._system.path(_uri(name).path)


def _uri(name: str) -> Uri:
    uri = parse_uri(name)
    assert uri is not None
    return uri


def _text(version: object) -> str:
    return version.decode("latin-1") if isinstance(version, bytes) else str(version)


def _matches_part(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _entry(name: str, info: Any) -> Entry | None:
    from pyarrow.fs import FileType

    if info.type == FileType.NotFound:
        return None
    kinds = {FileType.File: Kind.FILE, FileType.Directory: Kind.DIRECTORY}
    return Entry(name, kinds.get(info.type, Kind.OTHER), info.size or 0)
