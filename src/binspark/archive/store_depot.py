"""Logs that are kept in a store: each is uploaded when it is finished, and now and then while it grows.

A store cannot append, so the log that grows is uploaded whole each time. What is there is always a log, of which the
end may be missing; the index comes after it. What could not be uploaded stays in the spool, and is tried again.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor

from binspark.archive.folder import STATE_NAME, ArchiveFolder
from binspark.archive.growing_log import GrowingLog
from binspark.archive.names import base_of
from binspark.archive.retention import KeptLog, Retention
from binspark.archive.spool import catch_up, claim
from binspark.archive.store import Store
from binspark.archive.store_lock import StoreLock
from binspark.errors import SourceError
from binspark.files.sources import log_order
from binspark.frames.magic import FIRST_EVENT_OFFSET

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
