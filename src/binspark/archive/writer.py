"""Bringing what was written to disk: in the background, not too often, and surely before a log is finished."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from binspark.archive.directory import disk_errors, sync_folder, write_all
from binspark.archive.recovery import FoundLog
from binspark.client.bulk.runs import Run
from binspark.errors import Malformed, Purged
from binspark.frames import HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET, MAGIC
from binspark.position import Position

_FLAGS = FIRST_EVENT_OFFSET + 17


class GrowingLog:
    """A log that is being copied. What is on disk is always a log, of which the end may be missing.

    A server sends the first event as it is in a finished log. While a log grows, its first event says that it is in
    use, so that readers know; `mark` changes that, as the server does.
    """

    def __init__(self, path: Path, file: int, size: int) -> None:
        self.path = path
        self.name = path.name
        self.size = size
        self.file = file
        self._cut = False

    @classmethod
    def create(cls, path: Path, first_event: memoryview) -> Self:
        """Begin a log with its first event: in one piece, so that nobody ever sees less of it."""
        with disk_errors(path):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            start = bytearray(MAGIC + first_event)
            start[_FLAGS] |= HeaderFlag.BINLOG_IN_USE
            write_all(file, start)
            sync_folder(path.parent)
        return cls(path, file, len(start))

    @classmethod
    def reopen(cls, found: FoundLog) -> Self:
        """Go on with a log. What is behind its sound part stays until something else takes its place."""
        with disk_errors(found.path):
            file = os.open(found.path, os.O_RDWR | os.O_CLOEXEC)
        log = cls(found.path, file, found.end)
        log._cut = found.size > found.end
        if not found.is_ended:
            log.mark(in_use=True)
        return log

    def append(self, offset: int, data: memoryview) -> None:
        """Write events at their offset. What is there already must be the same."""
        known = min(self.size - offset, len(data))
        if known < 0:
            raise Malformed(f"events begin at {offset}, and the copy ends at {self.size}", Position(self.name, offset))
        if known:
            self._compare(offset, data[:known])
            data = data[known:]
        if not data:
            return
        with disk_errors(self.path):
            if self._cut:
                os.ftruncate(self.file, self.size)
                self._cut = False
            os.lseek(self.file, self.size, os.SEEK_SET)
            write_all(self.file, data)
        self.size += len(data)

    def mark(self, *, in_use: bool) -> None:
        """Say in the first event whether the log is in use."""
        with disk_errors(self.path):
            flags = os.pread(self.file, 1, _FLAGS)[0]
            wanted = flags | HeaderFlag.BINLOG_IN_USE if in_use else flags & ~HeaderFlag.BINLOG_IN_USE
            if wanted != flags:
                os.pwrite(self.file, bytes((wanted,)), _FLAGS)

    def sync(self) -> None:
        """Wait until all that was written is on disk."""
        with disk_errors(self.path):
            os.fdatasync(self.file)

    def close(self) -> None:
        """Close the file, once."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1

    def _compare(self, offset: int, data: memoryview) -> None:
        """Refuse a server whose log is not the one that was copied."""
        with disk_errors(self.path):
            here = bytearray(os.pread(self.file, len(data), offset))
        if offset == FIRST_EVENT_OFFSET:
            here[_FLAGS - offset] &= ~HeaderFlag.BINLOG_IN_USE
        if here != data:
            message = (
                "the server's log is not the one that was copied: it differs here. The server lost transactions that "
                "it had sent, or its logs were reset. Keep this folder, and begin another one"
            )
            raise Purged(message, Position(self.name, offset))


_LARGE = 1 << 17
"""From so many bytes on, writing takes longer than telling another thread to do it."""

OnWritten = Callable[[Run, int], None]
"""Is told of a run that was written, and how many bytes of it were new."""


class Appender:
    """Writes one run after the other. What was written is told with the next one, or when somebody looks."""

    def __init__(self, on_written: OnWritten) -> None:
        self._on_written = on_written
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="binspark-write")
        self._running: tuple[Run, Future[int]] | None = None

    def append(self, log: GrowingLog, run: Run) -> None:
        """Write a run, at the latest before the next one; raise what went wrong with the one before."""
        self.settle()
        if len(run.data) < _LARGE:
            self._on_written(run, _written(log, run))
        else:
            self._running = run, self._pool.submit(_written, log, run)

    def look(self) -> None:
        """Tell of what is written by now."""
        if self._running is not None and self._running[1].done():
            self.settle()

    def settle(self) -> None:
        """Wait until all is written."""
        running, self._running = self._running, None
        if running is not None:
            run, writing = running
            self._on_written(run, writing.result())

    def close(self) -> None:
        """Wait for what is under way, and end the thread."""
        self._pool.shutdown()


def _written(log: GrowingLog, run: Run) -> int:
    before = log.size
    log.append(run.offset, run.data)
    return log.size - before


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
