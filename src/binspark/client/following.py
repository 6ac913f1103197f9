"""What every follower does: find the start once, then open a stream again and again behind the last item."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

from binspark.client.checks import refuse_statements
from binspark.client.connect import Connection
from binspark.client.options import ConnectionOptions
from binspark.client.reconnect import Reconnector
from binspark.client.reopen import Reopened, reopen
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings
from binspark.client.start import StartFrom, parse_start
from binspark.client.stream import BinlogStream, OnHeartbeat
from binspark.client.watch import ResetWatch
from binspark.errors import ConnectionLost

Item = TypeVar("Item")
Start = StartFrom | ResumePoint | str
"""Where to begin: a start, its text, or the resume point of an earlier run."""

log = logging.getLogger("binspark.client")


class Following(ABC, Generic[Item]):
    """An iterator that outlives its connections. What it yields, and when its resume point moves, its kinds say."""

    def __init__(
        self,
        options: ConnectionOptions,
        start: Start,
        settings: FollowSettings,
        on_heartbeat: OnHeartbeat | None,
    ) -> None:
        self._start = parse_start(start) if isinstance(start, str) else start
        self._point = self._start if isinstance(self._start, ResumePoint) else None
        self._settings = settings
        self._on_heartbeat = on_heartbeat
        self._reconnector = Reconnector(options, settings.retry)
        self._stream: BinlogStream | None = None
        self._items = self._run()

    @property
    def resume(self) -> ResumePoint | None:
        """Where to go on behind the last item; None before a connection has found the start."""
        return self._point

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        return next(self._items)

    def stop(self) -> None:
        """End the iteration, from any thread: a wait for the server or for the next attempt ends at once."""
        self._reconnector.stop()
        if self._stream is not None:
            self._stream.abort()

    def close(self) -> None:
        """End the iteration and its connection, from the thread that iterates."""
        self._reconnector.stop()
        self._items.close()

    @abstractmethod
    def _read(self, reopened: Reopened, watch: ResetWatch) -> Iterator[Item]:
        """Yield the items of one stream, and move `_point` behind each before it is yielded."""

    def _run(self) -> Generator[Item, None, None]:
        while not self._reconnector.stopped:
            try:
                with self._reconnector.connect() as connection:
                    yield from self._read_connection(connection)
                return
            except ConnectionLost as error:
                if not self._reconnector.stopped:
                    self._reconnector.failed(error)

    def _read_connection(self, connection: Connection) -> Iterator[Item]:
        if self._settings.require_rows:
            refuse_statements(connection)
        point = self._found(connection)
        reopened = reopen(connection, point, self._settings.stream, self._on_heartbeat)
        self._stream = reopened.stream
        if self._reconnector.stopped:
            return iter(())
        log.info("reading from %s at %s", connection.address, point)
        return self._read(reopened, ResetWatch(connection, self._settings.check_seconds))

    def _found(self, connection: Connection) -> ResumePoint:
        """Find the start, once: what a later connection finds there would be another place."""
        if self._point is None:
            assert not isinstance(self._start, ResumePoint)
            self._point = resolve_start(connection, self._start)
        return self._point
