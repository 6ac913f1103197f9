"""The logs of an archive as a source has them: in their order, with the GTIDs before each, and growing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from uuid import NAMESPACE_OID, UUID, uuid5

from binspark.archive.directory import STATE_NAME, base_name, is_log_name, next_name
from binspark.errors import BinlogError, OptionError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.sources import LogSource, Paths, find_logs, log_order
from binspark.files.storage import Storage
from binspark.files.storage.options import with_default_keyring
from binspark.files.storage.store import LogFile
from binspark.files.storage.uri import parse_uri
from binspark.frames import EventCode, Family, Framer, LogFormat
from binspark.os_errors import source_errors
from binspark.position import Position, log_name
from binspark.serve.errors import missing_log
from binspark.transactions.gtids_before import FileGtids, find_gtids_before

_FIRST_EVENTS = 1 << 16
_LOCAL_SECONDS = 0.05
_REMOTE_SECONDS = 5.0

"""The GTIDs before a log."""


@dataclass(frozen=True, slots=True)
class ServedLog:
    """A log of the archive, by the name that its server gave it."""

    name: str
    source: LogSource

    @contextmanager
    def open(self) -> Iterator[tuple[LogFile, LogHead]]:
        """Open the log, and read its first event."""
        with source_errors(self.source.name), self.source.open() as file:
            yield file, read_head(file, self.source.name)

    def beside(self, name: str) -> LogSource:
        """Return another file of the directory, or of the object store."""
        folder, slash, _ = self.source.name.rpartition("/")
        return LogSource(folder + slash + name, self.source.storage)


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """Which server the logs are from, as it reported itself."""

    family: Family
    version: str
    server_id: int
    uuid: str


class ArchiveLogs:
    """The logs of one server, oldest first. All clients share one; each thread may call it."""

    def __init__(self, archive: str | Path, storage: Storage | None = None) -> None:
        self.archive: Paths = str(archive)
        self._storage = with_default_keyring(storage)  # other threads, which list logs later, do not know the default
        self._lock = threading.Lock()
        self._gtids: dict[str, FileGtids | None] = {}
        self._logs = self._list()
        self._probed = time.monotonic()
        uri = parse_uri(str(archive))
        self.poll_seconds = _LOCAL_SECONDS if uri is None or uri.is_local else _REMOTE_SECONDS
        self.identity = self._identify()

    # --- Which logs there are -----------------------------------------------------------------------------------------

    def all(self) -> tuple[ServedLog, ...]:
        """Return the logs that are there now: old ones may be gone, new ones may have come."""
        with self._lock:
            self._logs = self._list()
            return self._logs

    def last(self) -> ServedLog:
        """Return the newest log."""
        with self._lock:
            self._find_new()
            return self._logs[-1]

    def find(self, name: str) -> ServedLog | None:
        """Return a log by its name; None if there is no such log."""
        return next((log for log in self.all() if log.name == name), None)

    def after(self, log: ServedLog) -> ServedLog | None:
        """Return the log that follows another one; None if it is not there yet."""
        with self._lock:
            self._find_new()
            later = [other for other in self._logs if log_order(other.name) > log_order(log.name)]
        if later and later[0].name != next_name(log.name):
            raise missing_log(next_name(log.name))
        return later[0] if later else None

    def _find_new(self) -> None:
        """Look whether the log after the last one is there, which takes less time than listing all of them."""
        if time.monotonic() - self._probed < self.poll_seconds:
            return
        self._probed = time.monotonic()
        last = self._logs[-1]
        following = ServedLog(next_name(last.name), last.beside(next_name(last.name)))
        if following.source.exists() and _has_head(following):
            self._logs = (*self._logs, following)

    def _list(self) -> tuple[ServedLog, ...]:
        found = [ServedLog(log_name(source.name), source) for source in find_logs(self.archive, self._storage)]
        logs = sorted((log for log in found if is_log_name(log.name)), key=lambda log: log_order(log.name))
        position = Position(file=str(self.archive))
        if not logs:
            raise SourceError("no binary log here has a number, such as binlog.000001", position)
        bases = sorted({base_name(log.name) for log in logs})
        if len(bases) > 1:
            message = f"logs of several servers ({', '.join(bases)}), expected one base name: serve each by itself"
            raise OptionError(message, position)
        twice = [one.name for one, other in pairwise(logs) if one.name == other.name]
        if twice:
            raise OptionError(f"there are two logs {twice[0]}: serve one directory", position)
        return tuple(logs)

    # --- Which server they are from -----------------------------------------------------------------------------------

    def _identify(self) -> SourceIdentity:
        """Return which server the logs are from. The first and the last one must agree on its family."""
        heads = [self._head(log) for log in (self._logs[0], self._logs[-1])]
        families = {head.format.family for head in heads}
        if len(families) > 1:
            message = "the first log is of another family of servers than the last: serve each by itself"
            raise OptionError(message, Position(file=str(self.archive)))
        last = heads[-1]
        family, server_id = last.format.family, last.frame.header.server_id
        return SourceIdentity(family, last.format.server_version, server_id, self._uuid(heads[0]))

    def _head(self, log: ServedLog) -> LogHead:
        with log.open() as (file, head):
            second = next(first_events(file, head, log.name), None)
            if second is not None and second.type_code == EventCode.START_ENCRYPTION:
                problem = "is required: the log is encrypted (MariaDB's encrypt_binlog=ON)"
                raise OptionError(problem, Position(file=log.source.name), "keyring")
            if not head.format.is_v4 or head.relay:
                kind = "a relay log" if head.relay else f"a log of version {head.format.version}"
                message = f"{kind} cannot be served, expected binary logs of MySQL 5.0 or later, or MariaDB"
                raise OptionError(message, Position(file=log.source.name))
            return head

    def _uuid(self, first: LogHead) -> str:
        """Return the UUID that the archiver noted; if it noted none, one that is always the same for this archive."""
        noted = ""
        try:
            with self._logs[0].beside(STATE_NAME).open() as file:
                noted = str(json.loads(file.read())["server"])
            return str(UUID(noted))
        except (BinlogError, OSError, ValueError, KeyError, TypeError):
            mark = noted or f"{self._logs[0].name} {first.frame.header.server_id} {first.frame.header.timestamp}"
            return str(uuid5(NAMESPACE_OID, f"binspark {mark}"))

    # --- GTIDs --------------------------------------------------------------------------------------------------------

    def gtids_before(self, log: ServedLog) -> FileGtids | None:
        """Return the GTIDs before a log; None if the log does not report them."""
        with self._lock:
            if log.name in self._gtids:
                return self._gtids[log.name]
        found = read_gtids_before(log)
        with self._lock:
            if found is not None:  # an active log may get its second event later
                self._gtids[log.name] = found
        return found


def _has_head(log: ServedLog) -> bool:
    """Return whether the first event of a log is complete: an archive that is being uploaded may have less."""
    try:
        with log.open():
            return True
    except BinlogError:
        return False


def read_gtids_before(log: ServedLog) -> FileGtids | None:
    """Read the event of a log that reports the GTIDs before it: one of the first, before any transaction."""
    with log.open() as (file, head):
        return find_gtids_before(first_events(file, head, log.name))


def first_events(file: LogFile, head: LogHead, name: str) -> Iterator[Event]:
    """Yield the events of a log after its format description."""
    log_format: LogFormat = head.format
    offset = head.frame.end_offset
    framer, decoder = Framer(log_format, offset), EventDecoder(name)
    while chunk := file.read_at(offset, _FIRST_EVENTS):
        offset += len(chunk)
        for frame in framer.feed(chunk):
            yield decoder.decode(frame)
