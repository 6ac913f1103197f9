"""The log of a server between two positions, as chunks, events or rows: what commands read instead of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from binspark.event import Event
from binspark.files.progress import begin_job, is_watched
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
from binspark.schema.history import SchemaHistory
from binspark.schema.notices import SchemaNotice
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.info import bytes_after, server_logs
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
        self._bytes = 0
        start = parse_start(settings.start, settings.zone)
        until = None if settings.until is None else parse_stop(settings.until, settings.zone)
        with ExitStack() as on_failure:
            self._connection = on_failure.enter_context(connect(config))
            self._position = find_start(self._connection, start)
            self._stop = NEVER if until is None else find_stop(self._connection, until)
            on_failure.pop_all()
        follow_settings = FollowSettings(stream=settings.stream, retry=settings.retry)
        self._follower = Follower(config, self._position, follow_settings, stop=self._stop, connection=self._connection)

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
            self._announce()
            for chunk in self._follower:
                if chunk.data:
                    self._bytes += len(chunk.data)
                    yield chunk

    def _announce(self) -> None:
        """Announce how much will be read, if somebody shows progress and there is an end."""
        if not is_watched() or self._stop == NEVER:
            return
        stop, total = self._stop.position, None
        if stop is not None and stop.file and self._position.file:
            logs = server_logs(self._connection)
            start = bytes_after(logs, self._position.file, self._position.offset)
            total = max(0, start - bytes_after(logs, stop.file, stop.offset))
        begin_job("reading", lambda: self._bytes, total)

    def events(self, options: ReadOptions = _DEFAULT) -> Iterator[Event]:
        """Yield the events."""
        for chunk in self.chunks():
            yield from chunk.events(expand_payloads=options.expand_payloads)

    def batches(self, reader: BatchReader) -> Iterator[TableBatch]:
        """Yield the rows as batches."""
        return read_chunks(reader, self.chunks())

    def stop(self) -> None:
        """End reading in order, from a signal or any thread."""
        self._follower.stop()
