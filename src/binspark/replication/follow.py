"""A server's transactions without end: over lost connections, restarts, and to other servers of the same topology.

Every transaction is delivered once, complete and in the order of the log; none is missing. A consumer may rely on this
if it stores the position after a chunk together with what it made of the chunk, and starts from there the next time.

- Events of a transaction are kept back until it is complete, in memory or in a temporary file. What a broken connection
  cut off was never delivered, so nothing has to be taken back.
- After a lost connection to the same server the stream continues at the offset in its file where the last complete
  transaction ended. A file that is another one of the same name is recognized by its creation time.
- At another server, or if that file was purged, it continues with the GTIDs that were not delivered yet. This needs
  GTIDs (gtid_mode=ON, MariaDB) and several hosts. If they are not known, only the same server will do. Once all that
  was delivered has been passed, file and offset are enough again.
- A server that crashed may have lost the last transactions that it had sent (sync_binlog=1 and
  innodb_flush_log_at_trx_commit=1 prevent that). This is recognized and reported as an error.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Self

from binspark.errors import BinlogError, ConnectionLost, Server
from binspark.files.sources import log_order
from binspark.replication.activity import Activity
from binspark.replication.chunk import LogChunk
from binspark.replication.find import find_start, find_stop
from binspark.replication.gtids import Gtids, gtids_of_family, includes
from binspark.replication.position import BinlogPosition
from binspark.replication.progress import FollowProgress
from binspark.replication.resume import ResetDetector, ResumedStream, resume_stream
from binspark.replication.settings import FollowSettings
from binspark.replication.sources import BulkSource, CompleteSource, EventSource
from binspark.replication.start import Start, parse_start
from binspark.replication.stop import NEVER, StopCondition, parse_stop
from binspark.replication.stream import BinlogStream
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect
from binspark.server.info import ServerInfo, require_row_format
from binspark.server.retry import Reconnector

_MAX_WITHOUT_DATA = 10_000
"""As many artificial events in a row are not bytes of a log that is there: a server sends one in seconds."""

log = logging.getLogger("binspark.replication")


def follow(
    server: ConnectionConfig | Connection,
    start: Start | str = "latest",
    settings: FollowSettings | None = None,
    *,
    until: str | None = None,
) -> Follower:
    """Follow a server's transactions from a position on, over lost connections.

    >>> with follow(connection_config(host="db1,db2")) as follower:  # doctest: +SKIP
    ...     for chunk in follower:
    ...         for event in chunk.events():
    ...             print(event.type, event.body)
    ...         store(str(follower.position))

    A text that was stored is a start, too. `until` is where to stop, see `parse_stop`. A connection that is given is
    used for the first stream, and closed with it.
    """
    connection = server if isinstance(server, Connection) else None
    config = server.config if isinstance(server, Connection) else server
    stop = None if until is None else parse_stop(until)
    if stop is None:
        return Follower(config, start, settings, connection=connection)
    with ExitStack() as on_failure:
        connection = on_failure.enter_context(connection or connect(config))
        found = find_stop(connection, stop)
        on_failure.pop_all()
    return Follower(config, start, settings, stop=found, connection=connection)


class Follower:
    """The chunks of a server's logs, as an iterator that outlives its connections.

    By default they are chunks of complete transactions, as large as what has come. A heartbeat or a rotation is a chunk
    without bytes. `position` is where to continue after the last chunk. `activity` counts what is read; before
    the first chunk it may be replaced by one that continues another's counts.

    stop                   where the iteration ends
    complete_transactions  if False, bytes are delivered as they come, for a copy of the files: a lost connection
                           continues after the last event, in the same file of the same server, never by GTIDs. An empty
                           chunk comes at the latest after `settings.tick_seconds`
    one_per_chunk          deliver transactions one by one: needed for servers that do not begin each with a GTID event
    connection             one that is open, for the first stream

    By GTIDs a server is read event by event, and transactions are delivered one by one. As soon as file and offset are
    enough, another connection continues in bulk. It has to be another one, because a stream by GTIDs does not consist
    of the bytes of the log: MySQL clears the creation time in the first event of each file, even if it skips nothing
    any more, and leaves that event the checksum it had if the log has no others.
    """

    def __init__(
        self,
        config: ConnectionConfig,
        start: Start | str = "latest",
        settings: FollowSettings | None = None,
        *,
        stop: StopCondition = NEVER,
        complete_transactions: bool = True,
        one_per_chunk: bool = False,
        connection: Connection | None = None,
    ) -> None:
        self.activity = Activity()
        self._settings = settings or FollowSettings()
        self._start = parse_start(start) if isinstance(start, str) else start
        self._position: BinlogPosition | None = None
        self._stop = stop
        self._complete_transactions = complete_transactions
        waits_for_answers = self._settings.stream.semi_sync
        self._one_per_chunk = one_per_chunk or waits_for_answers or stop.needs_gtids
        self._reconnector = Reconnector(config, self._settings.retry, connection)
        self._stream: BinlogStream | None = None
        self._delivered: Gtids | None = None
        self._first_server = ""
        self._heartbeats = self._without_data = 0
        self._may_switch = self._switches_to_bulk = False
        self._chunks = self._follow()
        self._watching = ExitStack()

    @property
    def position(self) -> BinlogPosition | None:
        """Where to continue after the last chunk; None before a connection has found the start."""
        return self._position

    def __iter__(self) -> Iterator[LogChunk]:
        return self

    def __next__(self) -> LogChunk:
        return next(self._chunks)

    def stop(self) -> None:
        """End the iteration, from any thread: a wait for the server or for the next attempt ends at once."""
        self._reconnector.stop()
        if self._stream is not None:
            self._stream.abort()

    def close(self) -> None:
        """End the iteration and its connection, from the thread that iterates."""
        self._reconnector.stop()
        self._chunks.close()
        self._watching.close()

    def watch_with(self, watcher: AbstractContextManager[None]) -> None:
        """Enter what watches the follower, such as metrics; it is left when the follower is closed."""
        self._watching.enter_context(watcher)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _follow(self) -> Generator[LogChunk, None, None]:
        while not self._reconnector.stopped:
            try:
                with self._reconnector.connect() as connection:
                    yield from self._read_and_switch(connection)
                return
            except ConnectionLost as error:
                if not self._reconnector.stopped:
                    self.activity.lost(error)
                    self._reconnector.failed(error)
            except BinlogError as error:
                self.activity.failed(error)
                raise

    def _read_and_switch(self, connection: Connection) -> Iterator[LogChunk]:
        """Read from one connection. Once file and offset are enough after GTIDs, continue over another in bulk.

        The other one may reach another server, if an address is that of several. It is used as it is then.
        """
        self._may_switch, self._switches_to_bulk = True, False
        yield from self._read(connection)
        if self._switches_to_bulk and not self._reconnector.stopped:
            self._may_switch = False
            connection.close()
            with self._reconnector.connect() as another:
                yield from self._read(another)

    def _read(self, connection: Connection) -> Iterator[LogChunk]:
        if self._settings.require_rows:
            require_row_format(connection)
        position = self._find_start(connection)
        resumed = resume_stream(connection, position, self._settings.stream, until_end=self._stop.end_of_log)
        self._stream = resumed.stream
        self.activity.address, self.activity.is_connected = str(connection.address), True
        if self._reconnector.stopped or self._stop.is_reached(position):
            return iter(())
        log.info("reading from %s at %s", connection.address, position.describe())
        return self._deliver(resumed, ResetDetector(connection, self._settings.check_seconds))

    def _find_start(self, connection: Connection) -> BinlogPosition:
        """Find the start, once: what a later connection finds there would be another position."""
        if self._position is None:
            self._position = find_start(connection, self._start)
            self._first_server = self._position.server
        return self._position

    def _deliver(self, resumed: ResumedStream, detector: ResetDetector) -> Iterator[LogChunk]:
        """Yield the chunks of one stream, and move the position after each before it is yielded."""
        progress = FollowProgress(
            resumed.position,
            resumed.server,
            by_file=resumed.by_file,
            written=resumed.written,
            with_gtids=self._complete_transactions,
        )
        source, is_bulk = self._source(resumed)
        for chunk in source:
            if chunk.is_heartbeat:
                detector.heartbeat(resumed.stream)
            if chunk.is_transaction and 0 < self._stop.seconds <= chunk.first_timestamp:
                return
            delivered = progress.deliver(chunk)
            if chunk.data or chunk.is_heartbeat:
                self._reconnector.progressed()
                self.activity.heard(0 if chunk.is_heartbeat else chunk.timestamp)
            self._position = progress.position
            self._refuse_idling(chunk, resumed)
            yield delivered
            if self._is_last(delivered, resumed):
                return
            if not is_bulk and progress.position.by_file and self._may_switch and self._may_be_bulk(resumed.server):
                self._switches_to_bulk = True
                return

    def _source(self, resumed: ResumedStream) -> tuple[Iterable[LogChunk], bool]:
        """Return what reads a stream, and whether it reads in bulk."""
        settings = self._settings
        if not self._complete_transactions:
            return _until_stopped(BulkSource(resumed, settings.tick_seconds, self._stop, self.activity)), True
        if resumed.by_file and self._may_be_bulk(resumed.server):
            source = BulkSource(resumed, settings.tick_seconds, self._stop, self.activity)
            return CompleteSource(source, settings.memory_bytes), True
        return EventSource(resumed, settings.memory_bytes, self.activity), False

    def _may_be_bulk(self, server: ServerInfo) -> bool:
        """Return whether bulk is wanted, and ends where it should: a file to stop in is one of the first server."""
        return not self._one_per_chunk and (not self._stop.file or self._first_server in ("", server.uuid))

    def _is_last(self, chunk: LogChunk, resumed: ResumedStream) -> bool:
        """Return whether the iteration ends after a chunk."""
        stop = self._stop
        # By GTIDs, MySQL also sends a heartbeat before each event that follows skipped ones.
        self._heartbeats = self._heartbeats + 1 if chunk.is_heartbeat else 0
        is_idle = self._heartbeats >= (1 if resumed.by_file else 2)
        if self._complete_transactions and stop.is_reached(chunk.end_position):
            return True
        if is_idle and stop.is_time_over():
            return True
        if chunk.is_rotation and stop.file and self._may_be_bulk(resumed.server):
            return log_order(chunk.file) > log_order(stop.file)
        return stop.needs_gtids and self._has_delivered_all(chunk, resumed.server)

    def _refuse_idling(self, chunk: LogChunk, resumed: ResumedStream) -> None:
        """Refuse a server that does not send what it has written, but heartbeats or names of files without an end."""
        self._without_data = 0 if chunk.data else self._without_data + (chunk.event is not None)
        if self._without_data > _MAX_WITHOUT_DATA and (self._stop.end_of_log or self._stop.is_written):
            message = f"the server sends heartbeats, {self._without_data:,} until now, instead of the rest of its log"
            raise Server(message, resumed.stream.position)

    def _has_delivered_all(self, chunk: LogChunk, server: ServerInfo) -> bool:
        """Return whether all GTIDs to stop at have been delivered."""
        wanted = self._stop.position.gtids if self._stop.position is not None else None
        if wanted is None:
            return False
        if self._delivered is None:
            self._delivered = gtids_of_family(type(wanted)(), server.family)
        if chunk.is_transaction:
            self._delivered = chunk.transactions.gtids_after(self._delivered, 1) or self._delivered
        return includes(self._delivered, wanted)


def _until_stopped(source: BulkSource) -> Iterator[LogChunk]:
    for chunk in source:
        yield chunk
        if source.is_stopped:
            return
