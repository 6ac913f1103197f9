"""Where logs are kept once they are copied: here, in the folder that they are copied to."""

from __future__ import annotations

import time
from typing import Protocol

from binspark.archive.directory import ArchiveFolder
from binspark.archive.retention import KeptLog, Retention
from binspark.archive.writer import GrowingLog
from binspark.files.log_head import read_head
from binspark.files.storage.local import LocalFile
from binspark.files.storage.store import LogFile


class Depot(Protocol):
    """What is told of each log."""

    def prepare(self) -> None:
        """Make the folder ready: what is kept elsewhere and has to go on is there again."""

    def begun(self) -> None:
        """A log was begun."""

    def look(self, log: GrowingLog | None) -> None:
        """There is time to look after the log that grows."""

    def finished(self) -> None:
        """The log that grew is finished and on disk."""

    def close(self, log: GrowingLog | None) -> None:
        """The copy ends for now; all is on disk."""


class LocalDepot:
    """The folder itself: an index beside the logs, and the oldest go when there are too many."""

    def __init__(self, folder: ArchiveFolder, keep: Retention) -> None:
        self._folder = folder
        self._keep = keep

    def prepare(self) -> None:
        """Nothing is kept elsewhere."""

    def begun(self) -> None:
        """List the logs."""
        self._folder.write_index(self._folder.logs())

    def look(self, log: GrowingLog | None) -> None:
        """The log is where it has to be."""

    def finished(self) -> None:
        """Drop logs that are too old or too many."""
        if self._keep.limits:
            self._folder.remove(self._keep.outdated(self._kept(), time.time()))

    def close(self, log: GrowingLog | None) -> None:
        """All is where it has to be."""

    def _kept(self) -> list[KeptLog]:
        return [kept_log(self._folder, name) for name in self._folder.logs()]


def kept_log(folder: ArchiveFolder, name: str) -> KeptLog:
    """Return what counts for how long a log is kept."""
    with LogFile(LocalFile(str(folder.path / name))) as file:
        return KeptLog(name, file.size, read_head(file, name).frame.header.timestamp)
