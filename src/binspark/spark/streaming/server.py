"""A live server as a source: a thread on the driver follows it, and tells how far batches may go."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import replace

from binspark.client.asking import Asking
from binspark.client.bulk.follow_pieces import PieceFollower
from binspark.client.bulk.outline import statements
from binspark.client.bulk.pieces import BytesPiece, Piece
from binspark.client.connect import Connection
from binspark.client.facts import log_end, purged_gtids, server_family, server_logs
from binspark.client.gather import connection_options
from binspark.client.identity import identify
from binspark.client.probe import file_created
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.schema_at import history_at
from binspark.client.settings import FollowSettings, Retry, StreamSettings
from binspark.client.start import Earliest, parse_start
from binspark.columns.starts import names_every_transaction
from binspark.errors import BinlogError, ConnectionLost, Purged
from binspark.event import Event
from binspark.files.sources import log_order
from binspark.gtid import GtidSet
from binspark.options.server import connection_arguments
from binspark.schema.history import SchemaHistory, may_define_tables
from binspark.spark.options import SourceOptions
from binspark.spark.streaming.backlog import LiveLog
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.offset import StreamOffset
from binspark.spark.streaming.range_reader import LiveRange

log = logging.getLogger("binspark.spark")


def surviving(connection: Connection, place: StreamOffset) -> StreamOffset:
    """Return a place of a server's log, or where to go on if what follows it is gone.

    Where logs were purged, that is behind them. Where they were reset, it is the beginning of the new ones, and `lost`
    says that no order holds across it. A place of another server is left to that server.
    """
    if not place.by_file:
        return _behind_purged(connection, place)
    if identify(connection).uuid != place.server:
        return place
    if _is_there(connection, place):
        return place
    oldest = StreamOffset.of_point(resolve_start(connection, Earliest()), place.lost)
    if log_order(oldest.file) > log_order(place.file):
        log.warning("%s is gone before it was read; going on with %s", place.file, oldest.file)
        return oldest
    log.warning("the logs were reset behind %s; going on with the new ones, from %s", place.position, oldest.file)
    return replace(oldest, lost=place.lost + 1)


def _is_there(connection: Connection, place: StreamOffset) -> bool:
    """Tell whether a log is the one that was read, and as long as that."""
    sizes = {listed.name: listed.size for listed in server_logs(connection)}
    if sizes.get(place.file, 0) < place.pos:
        return False
    return not place.created or file_created(connection.options, place.file) == place.created


def _behind_purged(connection: Connection, place: StreamOffset) -> StreamOffset:
    """Return a place that GTIDs tell, behind those that were purged too."""
    gtids, purged = place.point.gtids, purged_gtids(connection)
    if not isinstance(gtids, GtidSet) or purged <= gtids:
        return place
    log.warning("transactions are gone before they were read: %s", purged - gtids)
    return replace(place, gtid=str(gtids | purged))


_HEARTBEAT_SECONDS = 1.0
_POLL_SECONDS = 0.25
_REPORT_SECONDS = 1.0
_TARGET_SECONDS = 120.0


class LiveServer:
    """Follows a server from where the stream is, in a thread. A batch ends where a transaction did."""

    def __init__(self, options: SourceOptions) -> None:
        self._connection = connection_options(**connection_arguments(options.server))
        self._may_lose = not options.fail_on_data_loss
        self._asking = Asking(self._connection)
        self._glancing = Asking(self._connection, Retry(limit=0))
        self._log: LiveLog | None = None
        self._follower: PieceFollower | None = None
        self._known = SchemaHistory()
        self._told: SchemaHistory | None = None
        self._statements: deque[tuple[StreamOffset, Event]] = deque()
        self._reported: tuple[float, StreamOffset | None] = (0.0, None)

    def start(self, text: str) -> StreamOffset:
        """Return the place that `startingOffsets` means."""
        start = parse_start(text)
        return StreamOffset.of_point(self._asking.ask(lambda connection: resolve_start(connection, start)))

    def reported(self) -> StreamOffset | None:
        """Return where the server writes, as it was a moment ago at most; where it was last, if it does not answer."""
        if time.monotonic() - self._reported[0] > _REPORT_SECONDS:
            self._reported = (time.monotonic(), self._glance())
        head, seen = self._reported[1], None if self._log is None else self._log.end
        return seen if head is None or (seen is not None and head.is_before(seen)) else head

    def _glance(self) -> StreamOffset | None:
        """Ask where the server writes. If that is before what it has sent, its logs were reset: a dump never tells."""
        live = self._log
        seen = None if live is None else live.end
        try:
            head = self._glancing.ask(_head)
        except ConnectionLost:
            return None
        if live is None or seen is None:
            return head
        head = replace(head, lost=seen.lost)
        if head.is_before(seen):
            live.fail(_reset(head, seen))
        return head

    def head(self) -> StreamOffset:
        """Return where the server writes now."""
        return self._asking.ask(_head)

    def latest(self, start: StreamOffset, limit: Limit, target: StreamOffset | None = None) -> StreamOffset:
        """Return how far the next batch goes, as far as the follower has come."""
        try:
            return self._next_end(start, limit, target and replace(target, lost=start.lost))
        except Purged:
            place = self._surviving(start)
            if place == start:
                raise
            return start if place.lost == start.lost else place

    def _next_end(self, start: StreamOffset, limit: Limit, target: StreamOffset | None) -> StreamOffset:
        if target is not None and target.is_before(start):
            raise _reset(target, start)
        live = self._follow(start)
        live.wait(start, _POLL_SECONDS if target is None else _TARGET_SECONDS, target)
        try:
            end = live.next_end(start, limit, target)
        except BinlogError:
            self._log = None
            live.close()
            raise
        if target is not None and end == start and not live.end.reaches(target):
            message = f"the server had written up to {target.position}, and has sent nothing more"
            raise ConnectionLost(f"{message} for {_TARGET_SECONDS:.0f} s", start.position)
        return end

    def history(self, start: StreamOffset) -> SchemaHistory:
        """Return what is known of tables at a place: what the server says, if no statement has changed it since."""
        self._follow(start)
        while self._statements and not start.is_before(self._statements[0][0]):
            self._known.feed(self._statements.popleft()[1])
            self._told = None
        if self._told is None:
            self._told = SchemaHistory(self._known.catalog)
        return self._told

    def parts(self, start: StreamOffset, end: StreamOffset) -> list[tuple[LiveRange, SchemaHistory]]:
        """Return a range as one part: transactions come over a connection one after the other. None, if it is lost."""
        live = self._followed_from(start)
        carried = None if live is None else live.carried(start, end)
        if start.lost != end.lost or (carried is None and self._surviving(end) != end):
            return []
        begin = start if carried is not None else self._surviving(start)
        return [(LiveRange(self._connection, begin.point, end.point, carried), self.history(start))]

    def stop(self) -> None:
        """End the thread."""
        if self._log is not None:
            self._log.close()
        if self._follower is not None:
            self._follower.stop()
        self._asking.close()
        self._glancing.close()

    def _follow(self, start: StreamOffset) -> LiveLog:
        """Follow from a place on, unless that is what is being done."""
        live = self._followed_from(start)
        if live is not None:
            return live
        self.stop()
        begin = self._begin(start).point
        self._known = self._asking.ask(lambda connection: history_at(connection, begin))
        in_bulk = self._asking.ask(lambda asked: names_every_transaction(server_family(asked), asked.server_version))
        self._statements, self._told = deque(), None
        self._log = LiveLog(start)
        settings = FollowSettings(stream=StreamSettings(heartbeat_seconds=_HEARTBEAT_SECONDS))
        self._follower = PieceFollower(self._connection, begin, settings, in_bulk=in_bulk)
        arguments = (self._follower, self._log, self._statements)
        threading.Thread(target=_run, args=arguments, daemon=True, name="binspark-follower").start()
        return self._log

    def _followed_from(self, start: StreamOffset) -> LiveLog | None:
        live = self._log
        return None if live is None or live.begin.lost != start.lost or start.is_before(live.begin) else live

    def _begin(self, start: StreamOffset) -> StreamOffset:
        """Return where to follow from for what comes behind a place."""
        place = self._surviving(start)
        if place.lost != start.lost:
            raise Purged("what follows this place is gone: the logs were reset", start.position)
        return place

    def _surviving(self, place: StreamOffset) -> StreamOffset:
        """Return a place, or where to go on if its log is gone and data may be lost."""
        if not self._may_lose:
            return place
        return self._asking.ask(lambda connection: surviving(connection, place))


def _run(follower: PieceFollower, live: LiveLog, found: deque[tuple[StreamOffset, Event]]) -> None:
    """Bring what a follower reads. Statements are there before the place behind them is."""
    try:
        for piece in follower:
            found.extend((_behind(event, piece.resume), event) for event in _definitions(piece))
            live.add(piece)
    except BinlogError as error:
        live.fail(error)


def _behind(event: Event, resume: ResumePoint) -> StreamOffset:
    return StreamOffset(event.file, event.end_offset, None, resume.server, resume.created, resume.by_file)


def _reset(head: StreamOffset, seen: StreamOffset) -> Purged:
    """Return what to say where a server writes before a place that it has sent."""
    return Purged(f"the server writes at {head.position} now: its logs were reset", seen.position)


def _head(connection: Connection) -> StreamOffset:
    """Ask where a server writes."""
    end, identity = log_end(connection), identify(connection)
    gtids = end.gtids if identity.gtids_enabled else None
    return StreamOffset.of_point(ResumePoint(end.file, end.offset, gtids, identity.uuid))


def _definitions(piece: Piece) -> list[Event]:
    """Return the statements of a piece that may define tables."""
    if isinstance(piece, BytesPiece):
        return [event for event in statements(piece) if may_define_tables(event.body)]
    transaction = piece.group.transaction
    if transaction is None or transaction.ddl is None:
        return []
    return [event for event in piece.group.events(expand_payloads=False) if may_define_tables(event.body)]
