"""What commands read: log files, or the log of a server, which `binspark.replication.server_input` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from binspark.errors import DecodeError, SourceError
from binspark.event import Event
from binspark.files.damage import OnDamage
from binspark.files.read import ReadOptions, source_events
from binspark.files.sources import LogSource
from binspark.position import COMPRESSED_SUFFIXES

if TYPE_CHECKING:
    from binspark.columns.reader import BatchReader, TableBatch

_DEFAULT = ReadOptions()
OnRead = Callable[[int], None]


class LogInput(Protocol):
    """Events in the order of a log.

    name    of the file or server, for messages
    start   the offset before which nothing is wanted
    """

    @property
    def name(self) -> str:
        """The file or the server."""

    @property
    def start(self) -> int:
        """The offset before which nothing is wanted."""

    def events(self, options: ReadOptions = _DEFAULT) -> Iterator[Event]:
        """Yield the events, up to where the input stops."""

    def batches(self, reader: BatchReader, on_read: OnRead | None = None) -> Iterator[TableBatch]:
        """Yield the rows as batches."""

    def size(self) -> int | None:
        """Return how many bytes there are to read; None if that is not known."""


@dataclass(frozen=True, slots=True)
class FileInput:
    """A log file, or a part of it. With `on_damage`, which is called with it, damage is skipped."""

    source: LogSource
    on_damage: OnDamage | None = None

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.source.name

    @property
    def start(self) -> int:
        """The offset before which nothing is wanted."""
        return self.source.start

    def events(self, options: ReadOptions = _DEFAULT) -> Iterator[Event]:
        """Yield the events, up to where the source stops."""
        return source_events(self.source, options, self.on_damage)

    def batches(self, reader: BatchReader, on_read: OnRead | None = None) -> Iterator[TableBatch]:
        """Yield the rows as batches."""
        from binspark.files.batches import source_batches

        return source_batches(self.source, reader, on_read, self.on_damage)

    def size(self) -> int | None:
        """Return how many bytes there are to read; None if that is not known."""
        if self.source.name.lower().endswith(COMPRESSED_SUFFIXES):
            return None
        try:
            return self.source.size()
        except (SourceError, DecodeError):
            return None
