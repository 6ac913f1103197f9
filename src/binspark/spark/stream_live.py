"""A live server as a source: a thread on the driver follows it, and tells how far batches may go."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass

from binspark.archive.tables_then import history_at
from binspark.client.connect import connect
from binspark.client.facts import log_end
from binspark.client.follow import Follower, follow
from binspark.client.gather import connection_options
from binspark.client.group import Group, GroupKind
from binspark.client.identity import identify
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings, StreamSettings
from binspark.client.start import parse_start
from binspark.errors import BinlogError
from binspark.event import Event, Query, QueryCompressed
from binspark.schema.ddl import may_define
from binspark.schema.history import SchemaHistory
from binspark.spark.live_reader import LiveRange
from binspark.spark.options import SourceOptions
from binspark.spark.server_schema import connection_arguments
from binspark.spark.stream_limit import Limit
from binspark.spark.stream_offset import StreamOffset

_HEAD = 1024
_MOST_POINTS = 1 << 14
_HEARTBEAT_SECONDS = 1.0
_POLL_SECONDS = 0.1
_REPORT_SECONDS = 1.0
_TARGET_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class _Point:
    """A place between transactions, and what came before it since the follower began."""

    offset: StreamOffset
    bytes: int
    transactions: int


class LiveServer:
    """Follows a server from where the stream is, in a thread. A batch ends where a transaction did."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._connection = connection_options(**connection_arguments(options.server))
        self._lock = threading.Condition()
        self._points: deque[_Point] = deque()
        self._statements: list[tuple[StreamOffset, Event]] = []
        self._failure: BinlogError | None = None
        self._follower: Follower | None = None
        self._begun: StreamOffset | None = None
        self._known: SchemaHistory | None = None
        self._seen = self._base = _Point(StreamOffset("", 0), 0, 0)
        self._asked: tuple[float, StreamOffset] | None = None

    def start(self, text: str) -> StreamOffset:
        """Return the place that `startingOffsets` means."""
        with connect(self._connection) as connection:
            return StreamOffset.of_point(resolve_start(connection, parse_start(text)))

    def reported(self) -> StreamOffset:
        """Return where the server writes, as it was a moment ago at most."""
        if self._asked is None or time.monotonic() - self._asked[0] > _REPORT_SECONDS:
            self._asked = (time.monotonic(), self.head())
        head, seen = self._asked[1], self._seen.offset
        return seen if head.is_before(seen) else head

    def head(self) -> StreamOffset:
        """Return where the server writes now."""
        with connect(self._connection) as connection:
            end, identity = log_end(connection), identify(connection)
            gtids = end.gtids if identity.gtids_enabled else None
            return StreamOffset.of_point(ResumePoint(end.file, end.offset, gtids, identity.uuid))

    def latest(self, start: StreamOffset, limit: Limit, target: StreamOffset | None = None) -> StreamOffset:
        """Return how far the next batch goes, as far as the follower has come."""
        self._follow(start)
        with self._lock:
            self._wait(start, target)
            if self._failure is not None and not self._points:
                failure, self._failure = self._failure, None
                self._begun = None
                raise failure
            return self._cut(start, limit, target)

    def history(self, start: StreamOffset) -> SchemaHistory:
        """Return what is known of tables at a place: what the server says, if no statement has changed it since."""
        self._follow(start)
        assert self._known is not None
        history = SchemaHistory(self._known.catalog, lower_case_names=self._known.lower_case_names)
        with self._lock:
            statements = [event for place, event in self._statements if not start.is_before(place)]
        for event in statements:
            history.feed(event)
        return SchemaHistory(history.catalog)

    def parts(self, start: StreamOffset, end: StreamOffset) -> list[tuple[LiveRange, SchemaHistory]]:
        """Return a range as one part: transactions come over a connection one after the other."""
        return [(LiveRange(self._connection, start.point, end.point), self.history(start))]

    def stop(self) -> None:
        """End the thread."""
        if self._follower is not None:
            self._follower.stop()

    def _follow(self, start: StreamOffset) -> None:
        """Follow from a place on, unless that is what is being done."""
        with self._lock:
            if self._begun is not None and self._failure is None and not start.is_before(self._begun):
                return
        self.stop()
        with connect(self._connection) as connection:
            self._known = history_at(connection, start.point)
        with self._lock:
            self._points.clear()
            self._statements.clear()
            self._failure = None
            self._begun = start
            self._seen = self._base = _Point(start, 0, 0)
        settings = FollowSettings(stream=StreamSettings(heartbeat_seconds=_HEARTBEAT_SECONDS))
        self._follower = follow(self._connection, start.point, settings)
        threading.Thread(target=self._run, args=(self._follower,), daemon=True, name="binspark-follower").start()

    def _run(self, follower: Follower) -> None:
        try:
            for group in follower:
                self._take(follower, group)
        except BinlogError as error:
            with self._lock:
                if follower is self._follower:
                    self._failure = error
                self._lock.notify_all()

    def _take(self, follower: Follower, group: Group) -> None:
        statements = _definitions(group)
        with self._lock:
            if follower is not self._follower:
                return
            offset = StreamOffset.of_point(group.resume)
            if offset == self._seen.offset:
                return
            size = group.transaction.length if group.transaction is not None else 0
            count = self._seen.transactions + (group.kind is GroupKind.TRANSACTION)
            self._seen = _Point(offset, self._seen.bytes + size, count)
            self._points.append(self._seen)
            self._statements += [(offset, event) for event in statements]
            if len(self._points) > _MOST_POINTS:  # every other one will do
                self._points = deque(point for number, point in enumerate(self._points) if number % 2)
            self._lock.notify_all()

    def _wait(self, start: StreamOffset, target: StreamOffset | None) -> None:
        """Wait a little for something new; with a target, until there is, or the target is reached."""

        def ready() -> bool:
            self._forget_until(start)
            return (
                self._failure is not None
                or bool(self._points)
                or (target is not None and self._seen.offset.reaches(target))
            )

        self._lock.wait_for(ready, _POLL_SECONDS if target is None else _TARGET_SECONDS)

    def _forget_until(self, start: StreamOffset) -> None:
        """Drop the places that a batch has gone behind already."""
        passed = next((number for number, point in enumerate(self._points) if point.offset == start), -1)
        for _ in range(passed + 1):
            self._base = self._points.popleft()
        while self._points and self._points[0].offset.is_before(start):
            self._base = self._points.popleft()

    def _cut(self, start: StreamOffset, limit: Limit, target: StreamOffset | None) -> StreamOffset:
        """Return the last place that the limit allows: the first one behind the start, if no other."""
        found = start
        for point in self._points:
            if target is not None and target.is_before(point.offset):
                break
            size, count = point.bytes - self._base.bytes, point.transactions - self._base.transactions
            if found is not start and not limit.allows(size, count):
                break
            found = point.offset
        return found


def _definitions(group: Group) -> list[Event]:
    """Return the statements of a group that may define tables."""
    if group.transaction is None or group.transaction.ddl is None:
        return []
    return [
        event
        for event in group.events(expand_payloads=False)
        if isinstance(event.body, Query | QueryCompressed) and may_define(event.body.query[:_HEAD].decode("latin-1"))
    ]
