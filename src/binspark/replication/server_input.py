"""The log of a server between two positions, as chunks, events or rows: what commands read instead of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from binspark.event import Event
from binspark.files.read import ReadOptions
from binspark.replication.activity import Activity
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.replication.find import find_start, find_stop
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.schema_at import history_at
from binspark.replication.settings import FollowSettings, StreamSettings
from binspark.replication.start import parse_start
from binspark.replication.stop import NEVER, parse_stop
from binspark.schema.history import SchemaHistory, SchemaNotice
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.retry import Retry

if TYPE_CHECKING:
    from binspark.columns.reader import BatchReader, TableBatch

_DEFAULT = ReadOptions()


@dataclass(frozen=True, slots=True)
class ServerInputSettings:
    """What is read of a server's log, and how.

    start    where to start: latest, earliest, a file and offset, GTIDs, timestamp:…
    until    where to stop: end, a file and offset, GTIDs, a time; None for never
    zone     the time zone of times in `start` and `until` that have none
    stream   how the stream is requested
    retry    how often to connect again once a connection was lost
    """

    start: str = "latest"
    until: str | None = None
    zone: tzinfo = UTC
    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = field(default_factory=lambda: Retry(limit=None))


class ServerInput:
    """The log of a server from a start to a stop, in complete transactions. It can be read once.

    It is one of the inputs that commands read; a `binspark.files.inputs.FileInput` is the other.
    """

    start = 0

    def __init__(self, config: ConnectionConfig, settings: ServerInputSettings) -> None:
        """Connect and find both positions."""
        start = parse_start(settings.start, settings.zone)
        until = None if settings.until is None else parse_stop(settings.until, settings.zone)
        with ExitStack() as on_failure:
            self._connection = on_failure.enter_context(connect(config))
            self._position = find_start(self._connection, start)
            stop = NEVER if until is None else find_stop(self._connection, until)
            on_failure.pop_all()
        follow_settings = FollowSettings(stream=settings.stream, retry=settings.retry)
        self._follower = Follower(config, self._position, follow_settings, stop=stop, connection=self._connection)

    @property
    def position(self) -> BinlogPosition:
        """Where reading starts."""
        return self._position

    @property
    def activity(self) -> Activity:
        """Counts what is read."""
        return self._follower.activity

    @property
    def name(self) -> str:
        """The address of the server."""
        return str(self._connection.address)

    def history(self, on_notice: Callable[[SchemaNotice], None] | None = None) -> SchemaHistory:
        """Ask the server for its tables, as far as they were the same at the start. To be called before reading."""
        return history_at(self._connection, self._position, on_notice)

    def chunks(self) -> Iterator[LogChunk]:
        """Yield the log as chunks of complete transactions."""
        with self._connection, self._follower:
            for chunk in self._follower:
                if chunk.data:
                    yield chunk

    def events(self, options: ReadOptions = _DEFAULT) -> Iterator[Event]:
        """Yield the events."""
        for chunk in self.chunks():
            yield from chunk.events(expand_payloads=options.expand_payloads)

    def batches(self, reader: BatchReader, on_read: Callable[[int], None] | None = None) -> Iterator[TableBatch]:
        """Yield the rows as batches; `on_read` is called with the number of bytes of each chunk."""
        return read_chunks(reader, self._counted(on_read))

    def _counted(self, on_read: Callable[[int], None] | None) -> Iterator[LogChunk]:
        for chunk in self.chunks():
            if on_read is not None:
                on_read(len(chunk.data))
            yield chunk

    def stop(self) -> None:
        """End reading in order, from a signal or any thread."""
        self._follower.stop()

    def size(self) -> None:
        """Return None: how many bytes will come is not known."""
        return
