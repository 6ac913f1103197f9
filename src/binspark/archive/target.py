"""Where logs are kept once they are copied: in the folder that they are copied to, or elsewhere."""

from __future__ import annotations

import time
from typing import Protocol

from binspark.archive.directory import ArchiveFolder
from binspark.archive.retention import KeptLog, Retention
from binspark.files.log_head import read_head
from binspark.files.storage.local import LocalFile
from binspark.files.storage.store import LogFile


class CopiedLog(Protocol):
    """What a target needs to know of the active log."""

    @property
    def name(self) -> str:
        """The name of the file."""
        ...

    @property
    def size(self) -> int:
        """How many bytes of it are copied."""
        ...


class ArchiveTarget(Protocol):
    """Keeps the logs of an archive. It is called for each step of a log."""

    def prepare(self) -> None:
        """Prepare the folder: what is kept elsewhere and has to be continued is there again."""

    def begun(self) -> None:
        """Note that a log was begun."""

    def attend(self, active: CopiedLog | None) -> None:
        """Take the time to attend to the active log."""

    def finished(self) -> None:
        """Note that the active log is finished and on disk."""

    def close(self, active: CopiedLog | None) -> None:
        """End for now: everything is on disk."""


class LocalTarget:
    """The folder itself: an index of the logs, and the oldest are removed when there are too many."""

    def __init__(self, folder: ArchiveFolder, keep: Retention) -> None:
        self._folder = folder
        self._keep = keep

    def prepare(self) -> None:
        """Do nothing: nothing is kept elsewhere."""

    def begun(self) -> None:
        """List the logs."""
        self._folder.write_index(self._folder.logs())

    def attend(self, active: CopiedLog | None) -> None:
        """Do nothing: the log is where it has to be."""

    def finished(self) -> None:
        """Remove logs that are too old or too many."""
        if self._keep.has_limits:
            self._folder.remove(self._keep.outdated(self._kept(), time.time()))

    def close(self, active: CopiedLog | None) -> None:
        """Do nothing: everything is where it has to be."""

    def _kept(self) -> list[KeptLog]:
        return [_kept_log(self._folder, name) for name in self._folder.logs()]


def _kept_log(folder: ArchiveFolder, name: str) -> KeptLog:
    with LogFile(LocalFile(str(folder.path / name))) as file:
        return KeptLog(name, file.size, read_head(file, name).frame.header.timestamp)
