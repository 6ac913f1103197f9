"""Bringing what was written to disk: in the background, not too often, and surely before a log is finished."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from binspark.archive.growing_log import GrowingLog


class Syncer:
    """Syncs a log at most every so many seconds, or once so many bytes are not on disk yet."""

    def __init__(self, every_seconds: float, every_bytes: int) -> None:
        self._every_seconds = every_seconds
        self._every_bytes = every_bytes
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="binspark-sync")
        self._running: Future[None] | None = None
        self._last = time.monotonic()
        self._bytes = 0
        self._due = False

    def written(self, count: int, *, ends_transaction: bool) -> None:
        """Say that bytes were written, and whether a transaction has ended with them."""
        self._bytes += count
        self._due = self._due or ends_transaction or self._bytes >= self._every_bytes

    def look(self, log: GrowingLog) -> None:
        """Begin to sync, if it is time to; raise what went wrong the last time."""
        if self._running is not None:
            if not self._running.done():
                return
            self._finish()
        waited = time.monotonic() - self._last
        if self._due and (waited >= self._every_seconds or self._bytes >= self._every_bytes):
            self._bytes, self._due = 0, False
            self._running = self._pool.submit(log.sync)

    def sync(self, log: GrowingLog) -> None:
        """Wait until all is on disk."""
        self._finish()
        log.sync()
        self._bytes, self._due = 0, False
        self._last = time.monotonic()

    def close(self) -> None:
        """Wait for what is under way, and end the thread."""
        self._pool.shutdown()

    def _finish(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.result()
            self._last = time.monotonic()
