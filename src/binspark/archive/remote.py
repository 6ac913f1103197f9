"""Logs that are kept in a store: each is uploaded when it is finished, and now and then while it grows.

A store cannot append, so the log that grows is uploaded whole each time. What is there is always a log, of which the
end may be missing; the index comes after it. What could not be uploaded stays in the spool, and is tried again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from binspark.archive.directory import (
    LOCK_NAME,
    STATE_NAME,
    ArchiveFolder,
    base_of,
    disk_errors,
    is_log_name,
    replace_file,
    sync_folder,
    told_holder,
    who_i_am,
)
from binspark.archive.recovery import look_at
from binspark.archive.retention import KeptLog, Retention
from binspark.archive.writer import GrowingLog
from binspark.errors import OptionError, SourceError
from binspark.files.sources import log_order
from binspark.files.storage import NO_OPTIONS, Storage
from binspark.files.storage.filesystems import System, open_system
from binspark.files.storage.remote import store_errors
from binspark.files.storage.uri import child_uri, hide_credentials, parse_uri
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position

_CHUNK = 1 << 20
_SHOWN_WHEN_WHOLE = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss"})
"""Stores in which nobody sees a file before all of it is there. Elsewhere it is written under another name first."""


class Store:
    """What is kept under a URI. A failure is a `SourceError` that names the file, and never a secret."""

    def __init__(self, uri: str, storage: Storage | None = None) -> None:
        self.uri, user, query = hide_credentials(uri)
        self._storage = (storage or NO_OPTIONS).with_uri(user, query)
        parts = parse_uri(self.uri)
        assert parts is not None
        self._parts = parts

    def logs(self) -> dict[str, int]:
        """Return the logs that are there, and their sizes, oldest first."""
        from pyarrow.fs import FileSelector, FileType

        with self._told(""):
            found = self._files.get_file_info(FileSelector(self._path(""), allow_not_found=True))
        sizes = {info.base_name: int(info.size) for info in found if info.type == FileType.File}
        return {name: sizes[name] for name in sorted(filter(is_log_name, sizes), key=log_order)}

    def read(self, name: str, length: int | None = None, offset: int = 0) -> bytes | None:
        """Return a file, or a part of it; None if it is not there."""
        from pyarrow.fs import FileType

        with self._told(name):
            info = self._files.get_file_info(self._path(name))
            if info.type != FileType.File:
                return None
            with self._files.open_input_file(self._path(name)) as file:
                return bytes(file.read_at(info.size if length is None else length, offset))

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file from the store."""
        with (
            self._told(name),
            self._files.open_input_stream(self._path(name)) as source,
            target.open("wb") as file,
        ):
            while chunk := source.read(_CHUNK):
                file.write(chunk)

    def put(self, name: str, content: bytes) -> None:
        """Store a file, in place of what is there."""
        with self._writing(name) as file:
            file.write(content)

    def put_file(self, name: str, source: Path, size: int) -> None:
        """Store the first bytes of a file, and make sure that all of them are there."""
        with self._writing(name) as file, source.open("rb") as content:
            left = size
            while left and (chunk := content.read(min(_CHUNK, left))):
                file.write(chunk)
                left -= len(chunk)
        with self._told(name):
            stored = self._files.get_file_info(self._path(name)).size
        if stored != size:
            raise SourceError(f"{stored} bytes were stored, not {size}", Position(file=self._uri_of(name)))

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._told(name), suppress(FileNotFoundError):
            self._files.delete_file(self._path(name))

    @contextmanager
    def _writing(self, name: str) -> Iterator[Any]:
        """Write a file that takes the place of the one of its name when it is whole."""
        at_once = self._parts.scheme in _SHOWN_WHEN_WHOLE
        path = self._path(name)
        written = path if at_once else self._path(f".{name}.new")
        with self._told(name):
            if not at_once:
                self._files.create_dir(self._path(""), recursive=True)
            with self._files.open_output_stream(written) as file:
                yield file
            if not at_once:
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
    def _told(self, name: str) -> Iterator[None]:
        with store_errors(self._uri_of(name), self._storage):
            yield


_TARGET_NAME = "archive.target"


def default_spool(uri: str) -> Path:
    """Return where logs grow that go to a store: one folder for each, among what binspark keeps."""
    base = os.environ.get("BINSPARK_CACHE")
    if not base:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "binspark")
    return Path(base) / "archive" / hashlib.sha256(uri.encode()).hexdigest()[:16]


def claim(folder: ArchiveFolder, store: Store) -> None:
    """Note for which store a spool is; refuse one of another store."""
    note = folder.path / _TARGET_NAME
    with disk_errors(note):
        noted = note.read_text() if note.exists() else store.uri
    if noted != store.uri:
        raise OptionError(f"this spool is for {noted}: use another one", Position(file=str(folder.path)))
    replace_file(note, store.uri.encode())


def catch_up(folder: ArchiveFolder, store: Store) -> None:
    """Bring a spool to where the store is: an archiver on another machine may have gone on, or the spool is new."""
    stored = store.logs()
    if not folder.server and (state := store.read(STATE_NAME)) is not None:
        replace_file(folder.path / STATE_NAME, state)
    if not stored:
        return
    newest = max(stored, key=log_order)
    here = folder.logs()
    if here and log_order(here[-1]) > log_order(newest):
        return
    if here and here[-1] == newest and _sound_size(folder, newest) >= stored[newest]:
        return
    folder.remove([name for name in here if name in stored])
    unfinished = folder.path / f"{newest}.fetched"
    store.fetch(newest, unfinished)
    with disk_errors(unfinished):
        unfinished.replace(folder.path / newest)
        sync_folder(folder.path)


def _sound_size(folder: ArchiveFolder, name: str) -> int:
    found = look_at(folder.path / name)
    return 0 if found is None else found.end


_MISSED = 3


class StoreLock:
    """The word of this archiver, which it renews. `spool` tells it from others on the same machine."""

    def __init__(self, store: Store, spool: str, every_seconds: float) -> None:
        self._store = store
        self._every_seconds = every_seconds
        self._word = {**who_i_am(), "spool": spool}

    def take(self) -> None:
        """Refuse to begin while another archiver is at work; one that has not said so for a while is gone."""
        content = self._store.read(LOCK_NAME)
        if content is not None and self._is_held(content):
            message = f"another archiver writes to this folder: {told_holder(content)}"
            raise OptionError(message, Position(file=self._store.uri))
        self.renew()

    def renew(self) -> None:
        """Say that this archiver is at work."""
        word = {**self._word, "renewed": int(time.time()), "seconds": self._every_seconds}
        self._store.put(LOCK_NAME, json.dumps(word).encode() + b"\n")

    def release(self) -> None:
        """Say that it no longer is."""
        self._store.delete(LOCK_NAME)

    def _is_held(self, content: bytes) -> bool:
        """Tell whether somebody else is at work. Who had the same spool on this machine has ended: its lock is ours."""
        try:
            word: dict[str, Any] = json.loads(content)
            if (word["host"], word["spool"]) == (self._word["host"], self._word["spool"]):
                return False
            return time.time() - float(word["renewed"]) < _MISSED * float(word["seconds"])
        except (ValueError, KeyError, TypeError):
            return False


log = logging.getLogger("binspark.archive")


class StoreDepot:
    """Uploads in the background, one round after the other; the copy itself never waits for a store."""

    def __init__(self, folder: ArchiveFolder, store: Store, keep: Retention, upload_seconds: float) -> None:
        self._folder = folder
        self._store = store
        self._keep = keep
        self._upload_seconds = upload_seconds
        self._lock = StoreLock(store, str(folder.path.resolve()), upload_seconds)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="binspark-upload")
        self._round: Future[None] | None = None
        self._due = 0.0
        self._stored: dict[str, int] = {}
        self._created: dict[str, int] = {}
        self._index = b""

    def prepare(self) -> None:
        """Take the lock, and go on where the store is."""
        claim(self._folder, self._store)
        self._lock.take()
        catch_up(self._folder, self._store)
        self._stored = self._store.logs()

    def begun(self) -> None:
        """Show the new log at once: a reader of the store may wait for it."""
        self._due = 0.0

    def look(self, growing: GrowingLog | None) -> None:
        """Begin a round, if it is time to and the last one is over."""
        if self._round is not None and not self._round.done():
            return
        self._finish_round()
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._upload_seconds
            self._round = self._pool.submit(self._upload, *self._snapshot(growing))

    def finished(self) -> None:
        """Upload what is finished at once."""
        self._due = 0.0

    def close(self, growing: GrowingLog | None) -> None:
        """Upload what is left; say if that fails."""
        if self._round is not None:
            self._round.exception()
            self._finish_round()
        self._pool.shutdown()
        self._upload(*self._snapshot(growing))
        self._lock.release()

    def _finish_round(self) -> None:
        """A round that failed is told, and what it did not do is done in the next one."""
        finished, self._round = self._round, None
        if finished is None:
            return
        try:
            finished.result()
        except SourceError as error:
            log.warning("%s; it is tried again", error)
            self._due = time.monotonic() + min(self._upload_seconds, 10.0)

    def _snapshot(self, growing: GrowingLog | None) -> tuple[list[str], str | None, int]:
        """Return what there is to upload: the logs that are finished, the one that grows and its size."""
        name, size = (None, 0) if growing is None else (growing.name, growing.size)
        return [log_name for log_name in self._folder.logs() if log_name != name], name, size

    def _upload(self, finished: list[str], growing: str | None, size: int) -> None:
        """Bring the store to where the spool was when this was asked for."""
        self._lock.renew()
        for name in finished:
            length = self._folder.size(name)
            self._store.put_file(name, self._folder.path / name, length)
            self._stored[name] = length
        if growing is not None and self._stored.get(growing, 0) < size:
            self._store.put_file(growing, self._folder.path / growing, size)
            self._stored[growing] = size
        self._drop_outdated()
        self._write_index()
        self._folder.remove(finished)

    def _write_index(self) -> None:
        names = sorted(self._stored, key=log_order)
        if not names:
            return
        content = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        if content != self._index:
            if self._folder.server:
                self._store.put(STATE_NAME, (self._folder.path / STATE_NAME).read_bytes())
            self._store.put(f"{base_of(names[0])}.index", content)
            self._index = content

    def _drop_outdated(self) -> None:
        if not self._keep.limits:
            return
        names = sorted(self._stored, key=log_order)
        logs = [KeptLog(name, self._stored[name], self._made(name)) for name in names]
        gone = self._keep.outdated(logs, time.time())
        for name in gone:
            del self._stored[name]
        if gone:
            self._write_index()
        for name in gone:
            self._store.delete(name)

    def _made(self, name: str) -> int:
        """Return when the server made a log."""
        if name not in self._created:
            start = self._store.read(name, 4, FIRST_EVENT_OFFSET) or b""
            self._created[name] = int.from_bytes(start, "little")
        return self._created[name]
