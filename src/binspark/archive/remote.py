"""Logs that are kept in a remote store: each is uploaded when it is finished, and regularly while it is active.

A store cannot append, so all of the active log is uploaded each time. What is there is always a log, of which the end
may be missing; the index is written after it. What could not be uploaded stays in the spool, and is tried again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from binspark.archive.directory import (
    LOCK_NAME,
    STATE_NAME,
    ArchiveFolder,
    base_name,
    describe_holder,
    index_content,
    is_log_name,
    lock_holder,
)
from binspark.archive.recovery import recover_log
from binspark.archive.retention import KeptLog, Retention
from binspark.archive.target import CopiedLog
from binspark.background import BackgroundWorker
from binspark.errors import OptionError, SourceError
from binspark.files.sources import log_order
from binspark.files.storage import NO_OPTIONS, Storage
from binspark.files.storage.filesystems import System, open_system
from binspark.files.storage.remote import store_errors
from binspark.files.storage.uri import child_uri, hide_credentials, parse_uri
from binspark.folders import cache_folder, state_folder
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.private_files import create_again, sync_folder

_CHUNK = 1 << 20
_VISIBLE_WHEN_COMPLETE = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss"})
"""Stores in which a file is not visible before it is complete. Elsewhere it is written under another name first."""

_TARGET_NAME = "archive.target"
_MISSED_RENEWALS = 3
_MAX_RETRY_SECONDS = 10.0

log = logging.getLogger("binspark.archive")


class RemoteStore:
    """The files under a URI. A failure is a `SourceError` that names the file, and never a secret."""

    def __init__(self, uri: str, storage: Storage | None = None) -> None:
        self.uri, user, query = hide_credentials(uri)
        self._storage = (storage or NO_OPTIONS).with_uri(user, query)
        parts = parse_uri(self.uri)
        assert parts is not None
        self._parts = parts

    def logs(self) -> dict[str, int]:
        """Return the names of the logs and their sizes, oldest first."""
        from pyarrow.fs import FileSelector, FileType

        with self._errors(""):
            found = self._files.get_file_info(FileSelector(self._path(""), allow_not_found=True))
        sizes = {info.base_name: int(info.size) for info in found if info.type == FileType.File}
        return {name: sizes[name] for name in sorted(filter(is_log_name, sizes), key=log_order)}

    def read(self, name: str, length: int | None = None, offset: int = 0) -> bytes | None:
        """Return a file, or a part of it; None if it is not there."""
        from pyarrow.fs import FileType

        with self._errors(name):
            info = self._files.get_file_info(self._path(name))
            if info.type != FileType.File:
                return None
            with self._files.open_input_file(self._path(name)) as file:
                return bytes(file.read_at(info.size if length is None else length, offset))

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file from the store."""
        with (
            self._errors(name),
            self._files.open_input_stream(self._path(name)) as source,
            create_again(target) as file,
        ):
            while chunk := source.read(_CHUNK):
                file.write(chunk)

    def put(self, name: str, content: bytes) -> None:
        """Store a file, and replace one of the same name."""
        with self._writing(name) as file:
            file.write(content)

    def put_file(self, name: str, source: Path, size: int) -> None:
        """Store the first `size` bytes of a file, and make sure that all of them are there."""
        with self._writing(name) as file, source.open("rb") as content:
            left = size
            while left and (chunk := content.read(min(_CHUNK, left))):
                file.write(chunk)
                left -= len(chunk)
        with self._errors(name):
            stored = self._files.get_file_info(self._path(name)).size
        if stored != size:
            raise SourceError(f"{stored} bytes were stored, expected {size}", Position(file=self._uri_of(name)))

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._errors(name), suppress(FileNotFoundError):
            self._files.delete_file(self._path(name))

    @contextmanager
    def _writing(self, name: str) -> Iterator[Any]:
        """Write a file that replaces the one of its name when it is complete."""
        in_place = self._parts.scheme in _VISIBLE_WHEN_COMPLETE
        path = self._path(name)
        written = path if in_place else self._path(f".{name}.new")
        with self._errors(name):
            if not in_place:
                self._files.create_dir(self._path(""), recursive=True)
            with self._files.open_output_stream(written) as file:
                yield file
            if not in_place:
                with suppress(FileNotFoundError):
                    self._files.delete_file(path)
                self._files.move(written, path)

    @property
    def _system(self) -> System:
        return open_system(self._parts.scheme, self._parts.host, self._storage)

    @property
    def _files(self) -> Any:
        return self._system.fresh_files

    def _path(self, name: str) -> str:
        return self._system.path(self._parts.path.rstrip("/") + (f"/{name}" if name else ""))

    def _uri_of(self, name: str) -> str:
        return child_uri(self.uri, name) if name else self.uri

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        with store_errors(self._uri_of(name), self._storage):
            yield


# --- Spool ------------------------------------------------------------------------------------------------------------


def default_spool(uri: str) -> Path:
    """Return the folder for logs that are not in a store yet: one for each store, among what binspark must not lose.

    Earlier versions had it in the cache folder: one that is there is continued.
    """
    name = Path("archive") / hashlib.sha256(uri.encode()).hexdigest()[:16]
    earlier = cache_folder() / name
    return earlier if earlier.is_dir() else state_folder() / name


def claim(folder: ArchiveFolder, store: RemoteStore) -> None:
    """Note for which store a spool is; refuse one of another store."""
    note = folder.path / _TARGET_NAME
    with source_errors(note):
        noted = note.read_text() if note.exists() else store.uri
    if noted != store.uri:
        message = f"this spool is for {noted}, not for {store.uri}: use another one"
        raise OptionError(message, Position(file=str(folder.path)))
    folder.write(_TARGET_NAME, store.uri.encode())


def catch_up(folder: ArchiveFolder, store: RemoteStore) -> None:
    """Bring a spool to the state of the store: an archiver on another machine may have continued, or it is new."""
    stored = store.logs()
    if not folder.server and (state := store.read(STATE_NAME)) is not None:
        folder.write(STATE_NAME, state)
    if not stored:
        return
    newest = max(stored, key=log_order)
    spooled = folder.logs()
    if spooled and log_order(spooled[-1]) > log_order(newest):
        return
    if spooled and spooled[-1] == newest and _valid_size(folder, newest) >= stored[newest]:
        return
    folder.remove([name for name in spooled if name in stored])
    unfinished = folder.path / f"{newest}.fetched"
    store.fetch(newest, unfinished)
    with source_errors(unfinished):
        unfinished.replace(folder.path / newest)
        sync_folder(folder.path)


def _valid_size(folder: ArchiveFolder, name: str) -> int:
    found = recover_log(folder.path / name)
    return 0 if found is None else found.end


# --- Target -----------------------------------------------------------------------------------------------------------


class RemoteLock:
    """A file in the store that this archiver renews. `spool` distinguishes it from others on the same machine."""

    def __init__(self, store: RemoteStore, spool: str, every_seconds: float) -> None:
        self._store = store
        self._every_seconds = every_seconds
        self._holder = {**lock_holder(), "spool": spool}

    def take(self) -> None:
        """Refuse to begin while another archiver is running; one that has not renewed its lock for a while is not."""
        content = self._store.read(LOCK_NAME)
        if content is not None and self._is_held(content):
            message = f"another archiver writes to this folder: {describe_holder(content)}. Stop it first"
            raise OptionError(message, Position(file=self._store.uri))
        self.renew()

    def renew(self) -> None:
        """Note that this archiver is running."""
        holder = {**self._holder, "renewed": int(time.time()), "seconds": self._every_seconds}
        self._store.put(LOCK_NAME, json.dumps(holder).encode() + b"\n")

    def release(self) -> None:
        """Remove the lock."""
        self._store.delete(LOCK_NAME)

    def _is_held(self, content: bytes) -> bool:
        """Return whether another archiver is running. One with the same spool on this machine has ended."""
        try:
            holder: dict[str, Any] = json.loads(content)
            if (holder["host"], holder["spool"]) == (self._holder["host"], self._holder["spool"]):
                return False
            return time.time() - float(holder["renewed"]) < _MISSED_RENEWALS * float(holder["seconds"])
        except (ValueError, KeyError, TypeError):
            return False


class RemoteTarget:
    """Uploads in the background, one round after the other; the copy itself never waits for a store."""

    def __init__(self, folder: ArchiveFolder, store: RemoteStore, keep: Retention, upload_seconds: float) -> None:
        self._folder = folder
        self._store = store
        self._keep = keep
        self._upload_seconds = upload_seconds
        self._lock = RemoteLock(store, str(folder.path.resolve()), upload_seconds)
        self._worker: BackgroundWorker[None] = BackgroundWorker("upload")
        self._due = 0.0
        self._stored: dict[str, int] = {}
        self._created: dict[str, int] = {}
        self._index = b""

    def prepare(self) -> None:
        """Take the lock, and continue with what the store has."""
        claim(self._folder, self._store)
        self._lock.take()
        catch_up(self._folder, self._store)
        self._stored = self._store.logs()

    def begun(self) -> None:
        """Upload the new log at once: a reader of the store may wait for it."""
        self._due = 0.0

    def attend(self, active: CopiedLog | None) -> None:
        """Begin a round, if it is time to and the last one is over."""
        if self._worker.is_running:
            return
        self._finish_round()
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._upload_seconds
            finished, name, size = self._snapshot(active)
            self._worker.start(lambda: self._upload(finished, name, size))

    def finished(self) -> None:
        """Upload what is finished at once."""
        self._due = 0.0

    def close(self, active: CopiedLog | None) -> None:
        """Upload what is left; raise if that fails."""
        self._finish_round()
        self._worker.close()
        self._upload(*self._snapshot(active))
        self._lock.release()

    def _finish_round(self) -> None:
        """Wait for a round. If it failed, what it did not do is done in the next one."""
        if not self._worker.is_started:
            return
        try:
            self._worker.result()
        except SourceError as error:
            log.warning("%s; the upload is tried again", error)
            self._due = time.monotonic() + min(self._upload_seconds, _MAX_RETRY_SECONDS)

    def _snapshot(self, active: CopiedLog | None) -> tuple[list[str], str | None, int]:
        """Return what there is to upload: the logs that are finished, the active one and its size."""
        name, size = (None, 0) if active is None else (active.name, active.size)
        return [log_name for log_name in self._folder.logs() if log_name != name], name, size

    def _upload(self, finished: list[str], active: str | None, size: int) -> None:
        """Bring the store to the state of the spool at the time of the snapshot."""
        self._lock.renew()
        for name in finished:
            length = self._folder.size(name)
            self._store.put_file(name, self._folder.path / name, length)
            self._stored[name] = length
        if active is not None and self._stored.get(active, 0) < size:
            self._store.put_file(active, self._folder.path / active, size)
            self._stored[active] = size
        self._remove_outdated()
        self._write_index()
        self._folder.remove(finished)

    def _write_index(self) -> None:
        names = sorted(self._stored, key=log_order)
        if not names:
            return
        content = index_content(names)
        if content != self._index:
            if self._folder.server:
                self._store.put(STATE_NAME, (self._folder.path / STATE_NAME).read_bytes())
            self._store.put(f"{base_name(names[0])}.index", content)
            self._index = content

    def _remove_outdated(self) -> None:
        if not self._keep.has_limits:
            return
        names = sorted(self._stored, key=log_order)
        logs = [KeptLog(name, self._stored[name], self._log_created(name)) for name in names]
        removed = self._keep.outdated(logs, time.time())
        for name in removed:
            del self._stored[name]
        if removed:
            self._write_index()
        for name in removed:
            self._store.delete(name)

    def _log_created(self, name: str) -> int:
        """Return when the server created a log."""
        if name not in self._created:
            start = self._store.read(name, 4, FIRST_EVENT_OFFSET) or b""
            self._created[name] = int.from_bytes(start, "little")
        return self._created[name]
