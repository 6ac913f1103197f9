"""What commands read: log files, or the log of a server, which `binspark.replication.server_input` reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from binspark.event import Event
from binspark.files.damage import OnDamage
from binspark.files.read import ReadOptions, source_events
from binspark.files.sources import LogSource

if TYPE_CHECKING:
    from binspark.columns.reader import BatchReader, TableBatch

_DEFAULT = ReadOptions()


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

    def batches(self, reader: BatchReader) -> Iterator[TableBatch]:
        """Yield the rows as batches."""


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

    def batches(self, reader: BatchReader) -> Iterator[TableBatch]:
        """Yield the rows as batches."""
        from binspark.files.batches import source_batches

        return source_batches(self.source, reader, self.on_damage)
