"""Which logs a path means: a file, a glob, a directory, an index file, standard input; here or in a store."""

from __future__ import annotations

import glob
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from binspark.errors import OptionError, SourceError
from binspark.files.storage import NO_OPTIONS, Storage
from binspark.files.storage.file import LogFile, StreamFile
from binspark.files.storage.local import FileUriPlace, LocalPlace
from binspark.files.storage.location import Kind, Place, base_name
from binspark.files.storage.uri import hide, parse_uri
from binspark.frames.magic import ENCRYPTED_MAGIC, MAGIC
from binspark.position import Position

STANDARD_INPUT = "-"
_NUMBERED = re.compile(r"(.*?)\.(\d+)$")


@dataclass(frozen=True, slots=True)
class LogSource:
    """One log that can be opened, here or wherever this value is sent.

    name      how the caller called it: a path, or a URI (user and query of it are kept in `storage`)
    storage   how the store of a URI is reached
    """

    name: str
    storage: Storage = NO_OPTIONS

    def __post_init__(self) -> None:
        name, user, query = hide(self.name)
        if user or query:
            object.__setattr__(self, "name", name)
            object.__setattr__(self, "storage", self.storage.with_uri(user, query))

    @contextmanager
    def open(self) -> Iterator[LogFile]:
        """Open the log for reading."""
        if self.name == STANDARD_INPUT:
            stream = StreamFile(sys.stdin.buffer)
            yield LogFile(stream)
            return
        with self._place.open(self.name) as file:
            yield file

    def size(self) -> int:
        """Return how many bytes the log has now."""
        if self.name == STANDARD_INPUT:
            raise SourceError("it does not tell its size", Position(file=self.name))
        entry = self._place.entry(self.name)
        if entry is None:
            raise SourceError("no such file", Position(file=self.name))
        return entry.size

    def exists(self) -> bool:
        """Tell whether there is such a log."""
        return self.name == STANDARD_INPUT or self._place.entry(self.name) is not None

    def identity(self) -> str:
        """Return what changes when another log takes the name of this one, and stays when the log only grows.

        A store replaces what grows, so there it changes then too.
        """
        return self.name if self.name == STANDARD_INPUT else self._place.identity(self.name)

    @property
    def _place(self) -> Place:
        return _place_of(self.name, self.storage)


OnePath = str | Path | LogSource
Paths = OnePath | Iterable[OnePath]
"""What takes paths of logs takes one or more: texts, `Path`s, URIs, or logs that were found before."""


def find_logs(paths: Paths, storage: Storage | None = None) -> list[LogSource]:
    """Return the logs that paths mean, in the order of the paths; within a glob or directory by number.

    A path may be a URI of anything that pyarrow or fsspec reads: `s3://bucket/logs/`, `gs://…`, `hdfs://…`. `storage`
    says how it is reached, where the URI and the environment do not.
    """
    if isinstance(paths, str | Path | LogSource):
        paths = [paths]
    found = [log for path in paths for log in _logs(path, storage or NO_OPTIONS)]
    if not found:
        raise OptionError("no log was named")
    return found


def log_order(name: str) -> tuple[str, int]:
    """Order logs as their server wrote them: `binlog.1000000` comes after `binlog.999999`."""
    match = _NUMBERED.match(name)
    return (match[1], int(match[2])) if match else (name, -1)


def files_in(path: OnePath, storage: Storage | None = None) -> list[LogSource]:
    """Return all files of a directory, logs or not, by number; none where a path is no directory."""
    directory = path if isinstance(path, LogSource) else LogSource(str(path), storage or NO_OPTIONS)
    place = _place_of(directory.name, directory.storage)
    entry = place.entry(directory.name)
    if entry is None or entry.kind is not Kind.DIRECTORY:
        return []
    names = [entry.name for entry in place.entries(directory.name) if entry.kind is Kind.FILE]
    return [LogSource(name, directory.storage) for name in sorted(names, key=log_order)]


def index_entries(index: LogSource) -> list[LogSource]:
    """Return the logs that an index file lists. A log that was moved together with its index is found beside it."""
    place = _place_of(index.name, index.storage)
    with index.open() as file:
        lines = file.read().decode("utf-8", "surrogateescape").splitlines()
    return [LogSource(_beside(place, index.name, line.strip()), index.storage) for line in lines if line.strip()]


def _logs(path: OnePath, storage: Storage) -> list[LogSource]:
    if isinstance(path, LogSource):
        return [path]
    asked = LogSource(str(path), storage)
    if asked.name == STANDARD_INPUT:
        return [asked]
    place = _place_of(asked.name, asked.storage)
    entry = place.entry(asked.name)
    if entry is None:
        names = _matching(place, asked.name)
    elif entry.kind is Kind.DIRECTORY:
        names = _logs_in(place, asked.name)
    elif entry.kind is Kind.FILE and asked.name.endswith(".index"):
        return index_entries(asked)
    else:
        names = [asked.name]
    return [LogSource(name, asked.storage) for name in names]


def _matching(place: Place, pattern: str) -> list[str]:
    is_pattern = glob.has_magic(pattern)
    names = [name for name in place.glob(pattern) if not name.endswith(".index")] if is_pattern else []
    if not names:
        reason = "no file matches" if is_pattern else "no such file"
        root = place.missing_root(pattern)
        raise SourceError(f"{reason}: there is no {root}" if root else reason, Position(file=pattern))
    return sorted(names, key=log_order)


def _logs_in(place: Place, directory: str) -> list[str]:
    """Return the files of a directory that begin like a binary log."""
    files = [entry.name for entry in place.entries(directory) if entry.kind is Kind.FILE and entry.size >= len(MAGIC)]
    heads = place.heads(files, len(MAGIC))
    names = [name for name, head in zip(files, heads, strict=True) if head in (MAGIC, ENCRYPTED_MAGIC)]
    if not names:
        raise SourceError("the directory holds no binary log", Position(file=directory))
    return sorted(names, key=log_order)


def _beside(place: Place, index: str, line: str) -> str:
    if parse_uri(line):
        return line
    listed = place.listed(index, line)
    moved = place.listed(index, base_name(line))
    is_moved = listed != moved and place.entry(listed) is None and place.entry(moved) is not None
    return moved if is_moved else listed


def _place_of(name: str, storage: Storage) -> Place:
    """Return the place of a name. What speaks to stores is loaded only where a name has a scheme."""
    uri = parse_uri(name)
    if uri is None:
        return _LOCAL
    if uri.is_local:
        return _FILE_URIS
    from binspark.files.storage.remote import RemotePlace

    return RemotePlace(uri, storage)


_LOCAL: Place = LocalPlace()
_FILE_URIS: Place = FileUriPlace()
