"""A live server as a source: a thread on the driver follows it, and decides how far batches may go."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import replace
from typing import NamedTuple

from binspark.errors import BinlogError, ConnectionLost, OptionError, Purged
from binspark.files.sources import log_order
from binspark.frames.format import names_every_transaction
from binspark.gtid import GtidSet
from binspark.options.server import connection_arguments
from binspark.replication.activity import Activity
from binspark.replication.dump import file_created
from binspark.replication.find import end_of_log, find_start
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.schema_at import history_at, statements_after
from binspark.replication.settings import FollowSettings, StreamSettings
from binspark.replication.start import Earliest, parse_start
from binspark.schema.history import SchemaHistory
from binspark.server.config import ConnectionConfig, connection_config
from binspark.server.connection import Connection
from binspark.server.info import ServerLog, bytes_after, purged_gtids, server_info, server_logs, server_variables
from binspark.server.retry import Retry, RetryingConnection
from binspark.spark.options import SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.streaming.backlog import Backlog
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.range_reader import ServerRange
from binspark.spark.streaming.reported import Reported
from binspark.spark.streaming.statements import Definition, DefinitionParser, EndsBatch, Statement, ends_at_changes_of
from binspark.spark.table_schemas import with_lineage
from binspark.spark.unmatched import warn_of_statements_on, warn_of_unmatched_on

log = logging.getLogger("binspark.spark")

_HEARTBEAT_SECONDS = 1.0
_POLL_SECONDS = 0.25
_REPORT_SECONDS = 1.0
_TARGET_SECONDS = 120.0


class ServerSource:
    """Follows a server from where the stream is, in a thread. A batch ends where a transaction did.

    `ends_batch` says after which statements a batch must end; the default are those about the table of a typed stream.
    Who gives it knows the schemas of tables: then the server is not asked for them. `activity` counts what is read.
    """

    def __init__(
        self, options: SourceOptions, ends_batch: EndsBatch | None = None, config: ConnectionConfig | None = None
    ) -> None:
        self._config = config or connection_config(**connection_arguments(options.server))
        self._may_lose = not options.fail_on_data_loss
        self._selection = options.selection
        self._is_typed = options.table is not None
        self._ends_batch = ends_batch or ends_at_changes_of(options.table)
        self._asks_schemas = ends_batch is None
        self._ahead = SchemaHistory()
        self._connection = RetryingConnection(self._config)
        self._status_connection = RetryingConnection(self._config, Retry(limit=0))
        self.activity = Activity()
        self._backlog: Backlog | None = None
        self._follower: Follower | None = None
        self._known = SchemaHistory()
        self._shared: SchemaHistory | None = None
        self._definitions: deque[Definition] = deque()
        self._reported: tuple[float, _ServerStatus | None] = (0.0, None)

    def start(self, text: str) -> BinlogPosition:
        """Return the position that `startingOffsets` means."""
        try:
            start = parse_start(text)
            return self._connection.run(lambda connection: find_start(connection, start))
        except OptionError as error:
            raise error.spelled("startingOffsets") if error.option == "start" else error from None

    def reported(self, ended: BinlogPosition | None) -> Reported | None:
        """Return where the server writes, as of a moment ago at most; where it was last, if it does not answer.

        `ended` is the position from which on nothing has been read.
        """
        if time.monotonic() - self._reported[0] > _REPORT_SECONDS:
            self._reported = (time.monotonic(), self._status())
        status, seen = self._reported[1], None if self._backlog is None else self._backlog.end
        if status is None:
            return None if seen is None else Reported(seen)
        head = seen if seen is not None and status.head.is_before(seen) else status.head
        if ended is None or not ended.is_ordered_with(replace(head, resets=ended.resets)):
            return Reported(head)
        unread = 0 if ended.order >= head.order else bytes_after(status.logs, ended.file, ended.offset)
        return Reported(head, unread, self._age(status, ended) if unread else 0.0)

    def _age(self, status: _ServerStatus, ended: BinlogPosition) -> float | None:
        """Return how old the first transaction is that has not been read, by the server's clock."""
        began = None if self._backlog is None else self._backlog.time_after(ended)
        return None if began is None else max(0.0, status.clock_now - began)

    def _status(self) -> _ServerStatus | None:
        """Ask where the server writes. If that is before what it has sent, its logs were reset: a dump does not say."""
        backlog = self._backlog
        seen = None if backlog is None else backlog.end
        try:
            status = self._status_connection.run(_ask_status)
        except ConnectionLost:
            return None
        if backlog is None or seen is None:
            return status
        head = replace(status.head, resets=seen.resets)
        if head.is_before(seen):
            backlog.fail(_reset(head, seen))
        return status._replace(head=head)

    def head(self) -> BinlogPosition:
        """Return where the server writes now."""
        return self._connection.run(end_of_log)

    def latest(self, start: BinlogPosition, limit: Limit, target: BinlogPosition | None = None) -> BinlogPosition:
        """Return how far the next batch goes, as far as the follower has come."""
        try:
            return self._next_end(start, limit, target and replace(target, resets=start.resets))
        except Purged:
            position = self._surviving(start)
            if position == start:
                raise
            return start if position.resets == start.resets else position

    def _next_end(self, start: BinlogPosition, limit: Limit, target: BinlogPosition | None) -> BinlogPosition:
        if target is not None and target.is_before(start):
            raise _reset(target, start)
        backlog = self._follow(start)
        backlog.wait(start, _POLL_SECONDS if target is None else _TARGET_SECONDS, target, limit)
        try:
            end = self._end_at_change(backlog, start, backlog.next_end(start, limit, target))
        except BinlogError:
            self._backlog = None
            backlog.close()
            raise
        if target is not None and end == start and not backlog.end.reaches(target):
            message = f"the server had written up to {target.describe()}, but has sent nothing more"
            raise ConnectionLost(f"{message} for {_TARGET_SECONDS:.0f} s", start.error_position)
        return end

    def _end_at_change(self, backlog: Backlog, start: BinlogPosition, end: BinlogPosition) -> BinlogPosition:
        """Return where a batch ends: after the first statement about the table of a typed stream, if there is one."""
        for definition in self._definitions.copy():
            changed = definition.position
            if not definition.is_relevant or _has_passed(start, changed):
                continue
            if not _has_passed(end, changed) or end.coordinates == changed.coordinates:
                return end
            if not changed.is_ordered_with(start):
                return changed
            cut = backlog.next_end(start, Limit(), changed)
            # A statement may be inside a transaction, as that of CREATE TABLE … SELECT is: that becomes a batch.
            return backlog.next_end(start, Limit(transactions=1), None) if cut == start else cut
        return end

    def version(self, version: SchemaVersion | None) -> SchemaVersion | None:
        """Return the schema version of the query with how its columns came about, from where the stream follows.

        Its position becomes that of the last statement about the table: rows after it have this version.
        """
        if version is None or not self._is_typed or self._backlog is None:
            return version
        return with_lineage(version, self._ahead, self._begin_position)

    def history(self, start: BinlogPosition) -> SchemaHistory:
        """Return what is known of tables at a position: what the server reports, if no statement changed it since."""
        self._follow(start)
        while self._definitions and _has_passed(start, self._definitions[0].position):
            self._known.feed(self._definitions.popleft().event)
            self._shared = None
        if self._shared is None:
            self._shared = SchemaHistory(self._known.catalog)
        return self._shared

    def statements(self, start: BinlogPosition, end: BinlogPosition) -> list[Statement]:
        """Return the statements of a range that `latest` has found, for a caller who knows the schemas before it."""
        found: list[Statement] = []
        while self._definitions and _has_passed(start, self._definitions[0].position):
            self._definitions.popleft()
        for definition in self._definitions.copy():
            if not _has_passed(end, definition.position):
                break
            found += definition.statements
        return found

    def parts(self, start: BinlogPosition, end: BinlogPosition) -> list[tuple[ServerRange, SchemaHistory]]:
        """Return a range as one part: transactions come over a connection one after the other. None, if it is lost."""
        return [(part, self.history(start)) for part in self.ranges(start, end)]

    def ranges(self, start: BinlogPosition, end: BinlogPosition) -> list[ServerRange]:
        """Return the same without schemas."""
        backlog = self._followed_from(start)
        carried = None if backlog is None else backlog.carried(start, end)
        if start.resets != end.resets or (carried is None and self._surviving(end) != end):
            return []
        begin = start if carried is not None else self._surviving(start)
        return [ServerRange(self._config, begin, end, carried)]

    def bytes_between(self, start: BinlogPosition, end: BinlogPosition) -> int | None:
        """Return how many bytes of the logs are in a range, over all their files; None if that is not known."""
        if start.server != end.server:
            return None
        if start.file == end.file:
            return end.offset - start.offset
        logs = self._connection.run(server_logs)
        return bytes_after(logs, start.file, start.offset) - bytes_after(logs, end.file, end.offset)

    def stop(self) -> None:
        """End the thread."""
        if self._backlog is not None:
            self._backlog.close()
        if self._follower is not None:
            self._follower.stop()
        self._connection.close()
        self._status_connection.close()

    def _follow(self, start: BinlogPosition) -> Backlog:
        """Follow from a position on, unless that is what is being done."""
        backlog = self._followed_from(start)
        if backlog is not None:
            return backlog
        self.stop()
        begin = self._begin(start)
        self._connection.run(lambda connection: warn_of_unmatched_on(connection, self._selection))
        self._begin_position = begin.error_position
        if self._asks_schemas:
            self._connection.run(warn_of_statements_on)
            self._ask_schemas(begin)
        server = self._connection.run(server_info)
        self._definitions, self._shared = deque(), None
        self._backlog = Backlog(start)
        stream = StreamSettings(heartbeat_seconds=_HEARTBEAT_SECONDS)
        settings = FollowSettings(stream=stream, require_rows=not self._asks_schemas)
        one_per_chunk = not names_every_transaction(server.family, server.version)
        self._follower = Follower(self._config, begin, settings, one_per_chunk=one_per_chunk)
        self._follower.activity = self.activity
        parse = DefinitionParser(
            self._ends_batch,
            lower_case_names=self._connection.run(_has_lower_case_names),
            with_logged_statements=not self._asks_schemas,
        )
        arguments = (self._follower, self._backlog, self._definitions, parse)
        threading.Thread(target=_run, args=arguments, daemon=True, name="binspark-follower").start()
        return self._backlog

    def _ask_schemas(self, begin: BinlogPosition) -> None:
        ahead = None
        if self._is_typed:
            ahead = self._ahead = self._connection.run(lambda connection: statements_after(connection, begin))
        self._known = self._connection.run(lambda connection: history_at(connection, begin, since=ahead))

    def _followed_from(self, start: BinlogPosition) -> Backlog | None:
        backlog = self._backlog
        if backlog is None or backlog.begin.resets != start.resets or start.is_before(backlog.begin):
            return None
        return backlog

    def _begin(self, start: BinlogPosition) -> BinlogPosition:
        """Return where to follow from for what comes after a position."""
        position = self._surviving(start)
        if position.resets != start.resets:
            raise Purged("what follows this position is gone: the logs were reset", start.error_position)
        return position

    def _surviving(self, position: BinlogPosition) -> BinlogPosition:
        """Return a position, or where to continue if its log is gone and data may be lost."""
        if not self._may_lose:
            return position
        return self._connection.run(lambda connection: surviving_position(connection, position))


class _ServerStatus(NamedTuple):
    """Where a server writes, the sizes of its logs, and the time by its clock."""

    head: BinlogPosition
    logs: tuple[ServerLog, ...]
    server_time: float
    asked: float

    @property
    def clock_now(self) -> float:
        """The time by the server's clock now."""
        return self.server_time + time.monotonic() - self.asked


def _ask_status(connection: Connection) -> _ServerStatus:
    head, logs = end_of_log(connection), server_logs(connection)
    server_time = float(connection.rows("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0])
    return _ServerStatus(head, logs, server_time, time.monotonic())


def _run(follower: Follower, backlog: Backlog, definitions: deque[Definition], parser: DefinitionParser) -> None:
    """Bring what a follower reads. Statements are there before the position after them is."""
    try:
        for chunk in follower:
            definitions.extend(parser.definitions(chunk))
            backlog.add(chunk)
    except BinlogError as error:
        backlog.fail(error)


def _has_lower_case_names(connection: Connection) -> bool:
    return server_variables(connection).get("lower_case_table_names") == "1"


def _has_passed(position: BinlogPosition, statement: BinlogPosition) -> bool:
    """Return whether a position is after a statement. Where neither files nor GTIDs say it, it is."""
    is_known = position.is_ordered_with(statement) or None not in (position.gtids, statement.gtids)
    return position.reaches(statement) if is_known else True


def _reset(head: BinlogPosition, seen: BinlogPosition) -> Purged:
    """Return the error of a server that writes before a position that it has sent."""
    return Purged(f"the server writes at {head.describe()} now: its logs were reset", seen.error_position)


# --- Data that was lost -----------------------------------------------------------------------------------------------


def surviving_position(connection: Connection, position: BinlogPosition) -> BinlogPosition:
    """Return a position of a server's logs, or where to continue if what follows it is gone.

    If logs were purged, that is after them. If they were reset, it is the beginning of the new ones, and `resets` says
    that there is no order across it. A position of another server is left to that server.
    """
    if not position.by_file:
        return _after_purged(connection, position)
    if server_info(connection).uuid != position.server:
        return position
    if _is_there(connection, position):
        return position
    oldest = replace(find_start(connection, Earliest()), resets=position.resets, epoch=position.epoch)
    if log_order(oldest.file) > log_order(position.file):
        log.warning("%s is gone before it was read; continuing with %s", position.file, oldest.file)
        return oldest
    log.warning("the logs were reset after %s; continuing with the new ones, %s", position.describe(), oldest.file)
    return replace(oldest, resets=position.resets + 1, epoch=position.epoch + 1)


def _is_there(connection: Connection, position: BinlogPosition) -> bool:
    """Return whether a log is the one that was read, and as long as that."""
    sizes = {listed.name: listed.size for listed in server_logs(connection)}
    if sizes.get(position.file, 0) < position.offset:
        return False
    return not position.created or file_created(connection.config, position.file) == position.created


def _after_purged(connection: Connection, position: BinlogPosition) -> BinlogPosition:
    """Return a position by GTIDs, after those that were purged too."""
    gtids, purged = position.gtids, purged_gtids(connection)
    if not isinstance(gtids, GtidSet) or purged <= gtids:
        return position
    log.warning("transactions are gone before they were read: %s", purged - gtids)
    return replace(position, gtids=gtids | purged)
