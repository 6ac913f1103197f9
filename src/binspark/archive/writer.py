"""Writing the logs of an archive: chunks into the active log, in the background, and from one log to the next."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Self

from binspark.archive.directory import ArchiveFolder, checked_name, write_all
from binspark.archive.progress import ProgressMeter
from binspark.archive.recovery import RecoveredLog
from binspark.archive.settings import ArchiveSettings
from binspark.archive.target import ArchiveTarget
from binspark.background import BackgroundWorker
from binspark.errors import Malformed, Purged
from binspark.frames import EventCode, Family, HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET, MAGIC
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.private_files import create_file, open_file, sync_folder
from binspark.replication.chunk import LogChunk

_FLAGS_OFFSET = FIRST_EVENT_OFFSET + 17
_LARGE = 1 << 17
"""From this size on, writing takes longer than letting another thread do it."""

_LAST_EVENTS = frozenset({EventCode.ROTATE, EventCode.STOP})

log = logging.getLogger("binspark.archive")


class ActiveLog:
    """The log that is being copied. What is on disk is always a log, of which the end may be missing.

    A server sends the first event as it is in a finished log. While a log is active, its first event says that it is in
    use, so that readers know; `mark` changes that, as the server does.
    """

    def __init__(self, path: Path, file: int, size: int) -> None:
        self.path = path
        self.name = path.name
        self.size = size
        self._file = file
        self._has_invalid_end = False

    @classmethod
    def create(cls, path: Path, first_event: memoryview) -> Self:
        """Begin a log with its first event: in one write, so that nobody ever sees less of it."""
        with source_errors(path):
            file = create_file(path)
            start = bytearray(MAGIC + first_event)
            start[_FLAGS_OFFSET] |= HeaderFlag.BINLOG_IN_USE
            write_all(file, start)
            sync_folder(path.parent)
        return cls(path, file, len(start))

    @classmethod
    def reopen(cls, found: RecoveredLog) -> Self:
        """Continue a log. What comes after its valid part stays until something else is written there."""
        with source_errors(found.path):
            file = open_file(found.path, os.O_RDWR)
        active = cls(found.path, file, found.end)
        active._has_invalid_end = found.size > found.end
        if not found.is_finished:
            active.mark(in_use=True)
        return active

    def append(self, offset: int, data: memoryview) -> int:
        """Write events at their offset; return how many bytes are new. What is there already must be the same."""
        known = min(self.size - offset, len(data))
        if known < 0:
            raise Malformed(f"events begin at {offset}, but the copy ends at {self.size}", Position(self.name, offset))
        if known:
            self._compare(offset, data[:known])
        new = data[known:]
        if new:
            with source_errors(self.path):
                if self._has_invalid_end:
                    os.ftruncate(self._file, self.size)
                    self._has_invalid_end = False
                os.lseek(self._file, self.size, os.SEEK_SET)
                write_all(self._file, new)
            self.size += len(new)
        return len(new)

    def mark(self, *, in_use: bool) -> None:
        """Write into the first event whether the log is in use."""
        with source_errors(self.path):
            flags = os.pread(self._file, 1, _FLAGS_OFFSET)[0]
            wanted = flags | HeaderFlag.BINLOG_IN_USE if in_use else flags & ~HeaderFlag.BINLOG_IN_USE
            if wanted != flags:
                os.pwrite(self._file, bytes((wanted,)), _FLAGS_OFFSET)

    def sync(self) -> None:
        """Wait until everything that was written is on disk."""
        with source_errors(self.path):
            os.fdatasync(self._file)

    def close(self) -> None:
        """Close the file, once."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _compare(self, offset: int, data: memoryview) -> None:
        """Refuse a server whose log is not the one that was copied."""
        with source_errors(self.path):
            copied = bytearray(os.pread(self._file, len(data), offset))
        if offset == FIRST_EVENT_OFFSET:
            copied[_FLAGS_OFFSET - offset] &= ~HeaderFlag.BINLOG_IN_USE
        if copied != data:
            message = (
                "the server's log differs from its copy here: the server lost transactions that it had sent, or its "
                "logs were reset. Keep this folder, and begin another one"
            )
            raise Purged(message, Position(self.name, offset))


OnWritten = Callable[[LogChunk, int], None]
"""Is called with a chunk that was written, and how many bytes of it were new."""


class Appender:
    """Writes one chunk after the other, large ones in the background. `on_written` is called before the next one."""

    def __init__(self, on_written: OnWritten) -> None:
        self._on_written = on_written
        self._worker: BackgroundWorker[int] = BackgroundWorker("write")
        self._chunk: LogChunk | None = None

    def append(self, active: ActiveLog, chunk: LogChunk) -> None:
        """Write a chunk, at the latest before the next one; raise what went wrong with the one before."""
        self.wait()
        if len(chunk.data) < _LARGE:
            self._on_written(chunk, active.append(chunk.offset, chunk.data))
        else:
            self._chunk = chunk
            self._worker.start(lambda: active.append(chunk.offset, chunk.data))

    def attend(self) -> None:
        """Report what is written by now."""
        if not self._worker.is_running:
            self.wait()

    def wait(self) -> None:
        """Wait until everything is written."""
        chunk, self._chunk = self._chunk, None
        if chunk is not None:
            self._on_written(chunk, self._worker.result())

    def close(self) -> None:
        """Wait for what is being written, and end the thread."""
        self._worker.close()


class Syncer:
    """Syncs the active log in the background: at most every few seconds, or once many bytes are not on disk yet."""

    def __init__(self, every_seconds: float, every_bytes: int) -> None:
        self._every_seconds = every_seconds
        self._every_bytes = every_bytes
        self._worker: BackgroundWorker[None] = BackgroundWorker("sync")
        self._last = time.monotonic()
        self._bytes = 0
        self._is_due = False

    @property
    def is_running(self) -> bool:
        """Whether the log is being synced now."""
        return self._worker.is_running

    def written(self, count: int, *, ends_transaction: bool) -> None:
        """Count bytes that were written, and note whether a transaction has ended with them."""
        self._bytes += count
        self._is_due = self._is_due or ends_transaction or self._bytes >= self._every_bytes

    def attend(self, active: ActiveLog) -> None:
        """Begin to sync, if it is time to; raise what went wrong the last time."""
        if self.is_running:
            return
        self.wait()
        waited = time.monotonic() - self._last
        if self._is_due and (waited >= self._every_seconds or self._bytes >= self._every_bytes):
            self._bytes, self._is_due = 0, False
            self._worker.start(active.sync)

    def sync(self, active: ActiveLog) -> None:
        """Wait until everything is on disk."""
        self.wait()
        active.sync()
        self._bytes, self._is_due = 0, False
        self._last = time.monotonic()

    def wait(self) -> None:
        """Wait for a sync that was begun; raise what went wrong."""
        if self._worker.is_started:
            self._worker.result()
            self._last = time.monotonic()

    def close(self) -> None:
        """Wait for a sync that was begun, and end the thread."""
        self._worker.close()


class ArchiveWriter:
    """Writes the chunks of a stream to the logs of a folder.

    addresses  the addresses of the server: one that has no UUID goes by its address, which may change
    """

    def __init__(
        self,
        folder: ArchiveFolder,
        target: ArchiveTarget,
        meter: ProgressMeter,
        settings: ArchiveSettings,
        addresses: Collection[str] = (),
    ) -> None:
        self._folder = folder
        self._target = target
        self._meter = meter
        self._addresses = addresses
        self._appender = Appender(self._written)
        self._syncer = Syncer(settings.sync_seconds, settings.sync_bytes)
        self._family = Family.MYSQL
        self._is_finished = False
        self.active: ActiveLog | None = None

    def resume(self, found: RecoveredLog) -> None:
        """Continue a log."""
        self._family, self._is_finished = found.family, found.is_finished
        self.active = ActiveLog.reopen(found)
        self._meter.copied(found.name, found.end, 0, 0)

    def take(self, chunk: LogChunk) -> None:
        """Write a chunk; begin, finish and change logs as its event says."""
        event = chunk.event
        if chunk.data:
            self._write(chunk)
        elif event is not None and event.is_rotation:
            self._change_to(checked_name(event.file))
        if event is not None and event.in_file and event.type_code in _LAST_EVENTS:
            self._finish()

    def attend(self) -> None:
        """Take time for what happens in the background."""
        self._appender.attend()
        if self.active is not None:
            self._syncer.attend(self.active)
        self._target.attend(self.active)

    def sync(self) -> None:
        """Wait until everything that came is on disk."""
        self._appender.wait()
        if self.active is not None:
            self._syncer.sync(self.active)

    def close(self) -> None:
        """Close the active log, and end the threads."""
        self._appender.close()
        self._syncer.close()
        if self.active is not None:
            self.active.close()

    def _write(self, chunk: LogChunk) -> None:
        if chunk.event is not None and chunk.event.type_code == EventCode.START_ENCRYPTION:
            log.warning("%s: the server encrypts its logs; their copy is not encrypted", chunk.file)
        if self.active is None:
            self.active = self._begin(chunk)
            self._written(chunk, self.active.size)
        elif self.active.name != chunk.file:
            message = f"the server continues in another log than {self.active.name} without a rotation"
            raise Malformed(message, Position(chunk.file, chunk.offset))
        else:
            self._appender.append(self.active, chunk)

    def _written(self, chunk: LogChunk, new_bytes: int) -> None:
        self._syncer.written(new_bytes, ends_transaction=chunk.complete_end is not None)
        self._meter.copied(chunk.file, chunk.end, new_bytes, chunk.timestamp)

    def _begin(self, chunk: LogChunk) -> ActiveLog:
        event = chunk.event
        if event is None or event.type_code != EventCode.FORMAT_DESCRIPTION or chunk.offset != FIRST_EVENT_OFFSET:
            message = f"the server begins a log at {chunk.offset}, expected its format description first"
            raise Malformed(message, Position(chunk.file, chunk.offset))
        active = ActiveLog.create(self._folder.path / checked_name(chunk.file), chunk.data)
        self._family, self._is_finished = event.frame.format.family, False
        if chunk.origin.server not in self._addresses:
            self._folder.note_server(chunk.origin.server)
        self._target.begun()
        return active

    def _finish(self) -> None:
        """Close the copy in order, as the server has closed the log."""
        if self.active is not None:
            self.sync()
            self.active.mark(in_use=False)
            self._is_finished = True

    def _change_to(self, file: str) -> None:
        """Finish the log if the stream continues in another one.

        One that no ROTATE or STOP ends was cut short by a crash. MySQL closes it when it starts again, MariaDB leaves
        it as it is.
        """
        active = self.active
        if active is None or active.name == file:
            return
        self._appender.wait()
        active.mark(in_use=not self._is_finished and self._family is Family.MARIADB)
        self._syncer.sync(active)
        active.close()
        self.active = None
        self._target.finished()
