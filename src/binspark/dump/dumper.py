"""What dumps the logs of one family of servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from binspark.files.sources import LogSource

Warn = Callable[[str], None]
"""Takes a warning for people; what is dumped does not contain it."""


class Dumper(Protocol):
    """Writes logs as text to its output. What one log leaves in force (database, time zone) applies to the next."""

    def begin(self) -> None:
        """Write what comes before the first log."""

    def dump(self, source: LogSource) -> bool:
        """Write one log, from `source.start` up to `source.stop`; return whether the next one is wanted.

        What precedes damage is written before a `DecodeError` is raised.
        """

    def end(self) -> None:
        """Write what comes after the last log."""
