"""Which logs a path refers to: a file, a glob, a directory, an index file or standard input; local or remote."""

from __future__ import annotations

import glob
import re
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

from binspark.errors import BinlogError, BinlogWarning, OptionError, SourceError
from binspark.files.progress import ExpectedLog, expect, is_watched, watched
from binspark.files.standard_input import STANDARD_INPUT, open_standard_input
from binspark.files.storage.compressed import HEAD_LENGTH, CompressedFile, Decompressed, codec_of
from binspark.files.storage.local import UNKNOWN_SIZE, FileUriStore, LocalStore, StreamFile
from binspark.files.storage.options import NO_OPTIONS, Storage, with_default_keyring
from binspark.files.storage.store import FileStore, Kind, LogFile, base_name
from binspark.files.storage.uri import hide_credentials, parse_uri
from binspark.frames.magic import ENCRYPTED_MAGIC, MAGIC
from binspark.options.arguments import wrong_argument
from binspark.options.option import frames_to_caller
from binspark.os_errors import source_errors
from binspark.position import COMPRESSED_SUFFIXES, Position, log_name

_NUMBERED = re.compile(r"(.*?)\.(\d+)$")
_MAX_NAMED = 5


class RepeatedLogWarning(BinlogWarning):
    """Paths name a log more than once. It is read once."""


@dataclass(frozen=True, slots=True)
class LogSource:
    """A log that can be opened, by this process or by any to which this value is sent.

    name      a path or a URI, as the caller gave it; user and query of a URI are moved to `storage`
    storage   how the storage of a URI is reached
    start     rows and events before this offset are not wanted
    stop      the log is read up to this offset; None for its end
    """

    name: str
    storage: Storage = NO_OPTIONS
    start: int = 0
    stop: int | None = None

    def __post_init__(self) -> None:
        name, user, query = hide_credentials(self.name)
        if user or query:
            object.__setattr__(self, "name", name)
            object.__setattr__(self, "storage", self.storage.with_uri(user, query))

    @contextmanager
    def open(self) -> Iterator[LogFile]:
        """Open the log for reading."""
        with self._opened() as stored:
            file = self._in_clear(stored)
            with watched(self.name, file.stored_position):
                yield file

    @contextmanager
    def _opened(self) -> Iterator[LogFile]:
        """Open the log, decompressed if it is compressed."""
        with self._open_stored() as stored:
            codec = codec_of(stored.peek(HEAD_LENGTH)) if self._may_be_compressed else None
            if codec is None:
                yield stored
                return
            if not stored.seekable():  # standard input, or a pipe
                yield LogFile(StreamFile(cast("BinaryIO", Decompressed(stored, codec, self.name))))
                return
        with LogFile(CompressedFile(self._open_stored, codec, self.name)) as file:
            yield file

    def _in_clear(self, stored: LogFile) -> LogFile:
        """Return a log decrypted, if it is encrypted. Without a keyring nobody looks: that would cost a request."""
        if self.storage.keyring is None:
            return stored
        from binspark.files.storage.encrypted import in_clear

        return in_clear(stored, self.storage.keyring, self.name)

    def _open_stored(self) -> LogFile:
        if self.name == STANDARD_INPUT:
            return open_standard_input()
        return self._store.open(self.name)

    @property
    def _may_be_compressed(self) -> bool:
        """Whether to look at the content. In remote storage that is a request, so the name has to suggest it."""
        uri = parse_uri(self.name)
        return uri is None or uri.is_local or self.name.lower().endswith(COMPRESSED_SUFFIXES)

    def size(self) -> int:
        """Return how many bytes the log has now; those of the file, if it is compressed."""
        stored = self.stored_size()
        if self.storage.keyring is None:
            return stored
        with source_errors(self.name), self.open() as file:  # an encrypted log is smaller than its file
            return stored if file.is_compressed else file.size

    def stored_size(self) -> int:
        """Return how many bytes the file has now."""
        if self.name == STANDARD_INPUT:
            raise SourceError(UNKNOWN_SIZE, Position(file=self.name))
        entry = self._store.entry(self.name)
        if entry is None:
            raise SourceError("no such file", Position(file=self.name))
        return entry.size

    def end(self) -> int | None:
        """Return up to where the file is read; None if that is not known."""
        try:
            size = self.stored_size()
        except SourceError:
            return None
        return size if self.stop is None else min(size, self.stop)

    def exists(self) -> bool:
        """Return whether there is such a log."""
        return self.name == STANDARD_INPUT or self._store.entry(self.name) is not None

    def identity(self) -> str:
        """Return a value that changes when another log takes this name, and stays the same while the log grows.

        In object stores it also changes when the log grows, because they replace a file to append to it.
        """
        return self.name if self.name == STANDARD_INPUT else self._store.identity(self.name)

    def part(self) -> Hashable:
        """Return a value that is the same for all names of a file, links too, if the same part of it is wanted."""
        file = self.name if self.name == STANDARD_INPUT else self._store.file(self.name)
        return file, self.start, self.stop

    def is_link(self) -> bool:
        """Return whether the name is that of a symbolic link."""
        return self.name != STANDARD_INPUT and self._store.is_link(self.name)

    @property
    def _store(self) -> FileStore:
        return _store_of(self.name, self.storage)


OnePath = str | Path | LogSource
Paths = OnePath | Iterable[OnePath]
"""One or more logs: text, `Path`s, URIs, or sources that `find_logs` returned."""


def find_logs(paths: Paths, storage: Storage | None = None) -> list[LogSource]:
    """Return the logs that paths refer to, in the order of the paths; of a glob or directory, ordered by number.

    Each log is returned once, also if paths name it again: see `each_once`.

    A path may be a URI of anything that pyarrow or fsspec reads: `s3://bucket/logs/`, `gs://…`, `hdfs://…`. `storage`
    has the options to reach it, where the URI and the environment do not, and the keyring for logs that are encrypted.
    """
    if isinstance(paths, str | Path | LogSource):
        paths = [paths]
    if not isinstance(paths, Iterable):
        raise wrong_argument("paths", "a file, a directory, a glob or an index file, or several", paths)
    storage = with_default_keyring(storage)
    return each_once(_logs(path, storage) for path in paths)


def each_once(groups: Iterable[list[LogSource]]) -> list[LogSource]:
    """Return each log of groups once, under its first name, and warn of the names that are left out.

    Names of the same log are those of one file, by its device and inode, or by its URI, and that of a compressed copy
    beside it. A group knows the order of its logs, also of logs that earlier groups have named.
    """
    known: dict[Hashable, LogSource] = {}
    left_out: list[str] = []
    for group in groups:
        found: dict[Hashable, LogSource] = {}
        for part, source in _links_last(group):
            first = found.get(part) or known.get(part)
            if first is not None:
                left_out.append(_same_as(source, first, "the same file as"))
            found.setdefault(part, first or source)
        _merge(known, found)
    if not known:
        raise OptionError("no log given: name a file, a directory, a glob or an index file")
    logs = _without_copies(known.values(), left_out)
    if left_out:
        more = len(left_out) - _MAX_NAMED
        names = ", ".join(left_out[:_MAX_NAMED]) + f" and {more} more" * (more > 0)
        message = f"each log is read once; named again and left out: {names}"
        warnings.warn(message, RepeatedLogWarning, stacklevel=frames_to_caller())
    return logs


def _links_last(group: list[LogSource]) -> list[tuple[Hashable, LogSource]]:
    """Return logs with their parts. A symbolic link to another log of the group comes after all logs."""
    named = [(source.part(), source) for source in group]
    counts = Counter(part for part, _ in named)
    links = {source for part, source in named if counts[part] > 1 and source.is_link()}
    logs = {part for part, source in named if source not in links}
    return sorted(named, key=lambda each: each[1] in links and each[0] in logs)


def _merge(known: dict[Hashable, LogSource], group: dict[Hashable, LogSource]) -> None:
    """Add a group, all of it where the first of its logs is that is known."""
    if len(group) > 1 and not known.keys().isdisjoint(group):
        parts = list(known)
        begin = next(number for number, part in enumerate(parts) if part in group)
        group |= {part: known.pop(part) for part in parts[begin:]}
    known.update(group)


def _without_copies(sources: Iterable[LogSource], left_out: list[str]) -> list[LogSource]:
    """Return logs without the compressed copies of logs in the same directory, whose names are left out."""
    kept: dict[Hashable, LogSource] = {}
    for source in sources:
        key = (_plain(source.name), source.start, source.stop)
        other = kept.setdefault(key, source)
        if other is not source:
            kept[key], copy = (source, other) if source.name == _plain(source.name) else (other, source)
            left_out.append(_same_as(copy, kept[key], "a copy of"))
    return list(kept.values())


def _same_as(source: LogSource, other: LogSource, what: str) -> str:
    return source.name if source.name == other.name else f"{source.name} ({what} {other.name})"


def _plain(name: str) -> str:
    """Return the name of a log without the suffix of a compressed copy."""
    return name[: len(name) - len(base_name(name))] + log_name(name)


def refuse_standard_input(sources: Iterable[LogSource], done: str) -> None:
    """Refuse standard input, which can be read only once, where logs are read more often."""
    if any(source.name == STANDARD_INPUT for source in sources):
        raise OptionError(f"standard input cannot be {done}, because logs are read twice; store it in a file")


def expect_logs(sources: Iterable[LogSource], passes: int = 1) -> None:
    """Announce logs that will be read, and how often, for progress bars."""
    if is_watched():
        expect((ExpectedLog(source.name, source.end) for source in sources), passes)


@lru_cache(maxsize=256)
def log_order(name: str) -> tuple[str, int]:
    """Return a sort key for the order in which a server writes logs: `binlog.1000000` after `binlog.999999`.

    A compressed copy has the order of its log.
    """
    match = _NUMBERED.match(_plain(name))
    return (match[1], int(match[2])) if match else (name, -1)


def files_in(path: OnePath, storage: Storage | None = None) -> list[LogSource]:
    """Return all files in a directory, logs or not, ordered by number; none if the path is not a directory."""
    directory = path if isinstance(path, LogSource) else LogSource(str(path), with_default_keyring(storage))
    store = _store_of(directory.name, directory.storage)
    entry = store.entry(directory.name)
    if entry is None or entry.kind is not Kind.DIRECTORY:
        return []
    names = [entry.name for entry in store.entries(directory.name) if entry.kind is Kind.FILE]
    return [LogSource(name, directory.storage) for name in sorted(names, key=log_order)]


def index_entries(index: LogSource) -> list[LogSource]:
    """Return the logs that an index file lists. Logs that were moved together with the index are found beside it."""
    store = _store_of(index.name, index.storage)
    with index.open() as file:
        lines = file.read().decode("utf-8", "surrogateescape").splitlines()
    return [LogSource(_listed(store, index.name, line.strip()), index.storage) for line in lines if line.strip()]


def _logs(path: OnePath, storage: Storage) -> list[LogSource]:
    if isinstance(path, LogSource):
        return [path]
    given = LogSource(str(path), storage)
    if given.name == STANDARD_INPUT:
        return [given]
    store = _store_of(given.name, given.storage)
    entry = store.entry(given.name)
    if entry is None:
        names = _matching(store, given.name)
    elif entry.kind is Kind.DIRECTORY:
        names = _logs_in(store, given.name, given.storage)
    elif entry.kind is Kind.FILE and given.name.endswith(".index"):
        return index_entries(given)
    else:
        names = [given.name]
    return [LogSource(name, given.storage) for name in names]


def _matching(store: FileStore, pattern: str) -> list[str]:
    is_pattern = glob.has_magic(pattern)
    names = [name for name in store.glob(pattern) if not name.endswith(".index")] if is_pattern else []
    if not names:
        reason = "no file matches" if is_pattern else "no such file"
        root = store.missing_root(pattern)
        raise SourceError(f"{reason}: there is no {root}" if root else reason, Position(file=pattern))
    return sorted(names, key=log_order)


def _logs_in(store: FileStore, directory: str, storage: Storage) -> list[str]:
    """Return the files in a directory that begin like a binary log, compressed or not."""
    files = [entry.name for entry in store.entries(directory) if entry.kind is Kind.FILE and entry.size >= len(MAGIC)]
    heads = zip(files, store.heads(files, HEAD_LENGTH), strict=True)
    names = [name for name, head in heads if _begins_like_log(name, storage, head)]
    if not names:
        raise SourceError("no binary log in this directory", Position(file=directory))
    return sorted(names, key=log_order)


def _begins_like_log(name: str, storage: Storage, head: bytes) -> bool:
    """Return whether a file that begins with some bytes is a log, or a log that was compressed."""
    if codec_of(head) is None:
        return head[: len(MAGIC)] in (MAGIC, ENCRYPTED_MAGIC)
    try:
        with LogSource(name, storage).open() as file:
            return file.read(len(MAGIC)) in (MAGIC, ENCRYPTED_MAGIC)
    except (BinlogError, OSError):
        return False


def _listed(store: FileStore, index: str, line: str) -> str:
    """Return the log that a line of an index file refers to.

    If it was moved or copied with the index, it is beside it; the line may still name the place that it came from.
    """
    if parse_uri(line):
        return line
    listed = store.listed(index, line)
    moved = store.listed(index, base_name(line))
    candidates = [name + suffix for name in (moved, listed) for suffix in ("", *COMPRESSED_SUFFIXES)]
    return next((name for name in dict.fromkeys(candidates) if store.entry(name) is not None), listed)


def _store_of(name: str, storage: Storage) -> FileStore:
    """Return the store of a name. The module for remote storage is imported only for names with a scheme."""
    uri = parse_uri(name)
    if uri is None:
        return _LOCAL
    if uri.is_local:
        return _FILE_URIS
    from binspark.files.storage.remote import RemoteStore

    return RemoteStore(uri, storage)


_LOCAL: FileStore = LocalStore()
_FILE_URIS: FileStore = FileUriStore()
