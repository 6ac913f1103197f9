"""Continuing a stream over another connection: at which position, and only if the logs are the same."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from binspark.errors import Authentication, ConnectionLost, Purged
from binspark.files.sources import log_order
from binspark.frames.codes import EventCode
from binspark.frames.format import Family
from binspark.gtid import GtidSet
from binspark.replication.dump import file_created, open_stream
from binspark.replication.gtids import Gtids, gtids_of_family
from binspark.replication.position import BinlogPosition
from binspark.replication.progress import Written
from binspark.replication.settings import StreamSettings
from binspark.replication.stream import BinlogStream, StreamEvent
from binspark.server.connection import Connection, connect
from binspark.server.info import (
    ServerInfo,
    mariadb_gtid_state,
    mariadb_gtids,
    mysql_executed_gtids,
    server_info,
    server_logs,
    write_coordinates,
)

log = logging.getLogger("binspark.replication")


@dataclass(frozen=True, slots=True)
class ResumedStream:
    """A stream that continues at a position: by file and offset, or by GTIDs.

    written  what the server had written before the stream was requested; None if it did not say, or by file
    """

    stream: BinlogStream
    server: ServerInfo
    position: BinlogPosition
    by_file: bool
    written: Written | None = None

    def __iter__(self) -> Iterator[StreamEvent]:
        """Yield the events, and refuse those of another log of the same name."""
        for event in self.stream:
            if self.by_file and event.type_code == EventCode.FORMAT_DESCRIPTION:
                self._refuse_other_file(event)
            yield event

    def _refuse_other_file(self, event: StreamEvent) -> None:
        """Refuse a log that has the name of the one at the position and was created at another time."""
        if event.file == self.position.file and self.position.created:
            _compare_created(event.frame.header.timestamp, self.position, self.stream.position.source)


def resume_stream(
    connection: Connection, position: BinlogPosition, settings: StreamSettings, *, until_end: bool = False
) -> ResumedStream:
    """Open a stream at a position."""
    server = server_info(connection)
    start = choose_start(connection, server, position)
    written = None
    if not start.by_file:
        assert start.gtids is not None
        if position.server == server.uuid:
            _refuse_other_history(connection, position)
        else:
            _check_lag(connection, start.gtids)
        written = _written(connection, server.family)
    stream = open_stream(connection, start, settings, until_end=until_end)
    return ResumedStream(stream, server, position, start.by_file, written)


def choose_start(connection: Connection, server: ServerInfo, position: BinlogPosition) -> BinlogPosition:
    """Return the position by file, or by GTIDs: at another server, or if the file was purged."""
    by_file = replace(position, by_file=True)
    is_same_server = position.server in ("", server.uuid)
    is_enough = is_same_server and position.by_file
    if is_enough and (position.gtids is None or not _is_purged(connection, position.file)):
        return by_file
    if position.gtids is not None and (server.gtids_enabled or not position.by_file):
        return replace(position, gtids=gtids_of_family(position.gtids, server.family), by_file=False)
    if is_same_server:
        return by_file
    message = (
        f"the position {position.describe()} is one of server {position.server}, but this is server {server.uuid}, and "
        "the GTIDs before the position are not known: only the first server can continue"
    )
    raise ConnectionLost(message, connection.position)


def _written(connection: Connection, family: Family) -> Written | None:
    """Return GTIDs, then a position after them: in this order, because the server writes meanwhile.

    A user without the privilege to see the position does without it.
    """
    gtids = mysql_executed_gtids(connection) if family is Family.MYSQL else mariadb_gtid_state(connection)
    try:
        return Written(gtids, BinlogPosition(*write_coordinates(connection)))
    except Authentication:
        return None


# --- The same logs ----------------------------------------------------------------------------------------------------


def _refuse_other_history(connection: Connection, position: BinlogPosition) -> None:
    """By GTIDs a server that was reset may not notice it: look at the file that was read last."""
    if not position.file or not position.created or _is_purged(connection, position.file):
        return
    try:
        created = file_created(connection.config, position.file)
    except Purged as error:
        message = f"{position.file} is gone, but older logs are there: the logs were reset. {error.message}"
        raise Purged(message, replace(position.error_position, source=str(connection.address))) from None
    _compare_created(created, position, str(connection.address))


def _compare_created(created: int, position: BinlogPosition, source: str | None) -> None:
    if created != position.created:
        message = (
            f"{position.file} was created at {_time(created)}, the file that was read at {_time(position.created)}: "
            "the logs were reset. What was delivered is no longer the server's history; start again from earliest"
        )
        raise Purged(message, replace(position.error_position, source=source))


def _is_purged(connection: Connection, file: str) -> bool:
    """Whether a log is older than the oldest; if the user may not list them, it counts as there."""
    try:
        logs = server_logs(connection)
    except Authentication:
        return False
    return bool(logs) and log_order(file) < log_order(logs[0].name)


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _check_lag(connection: Connection, gtids: Gtids) -> None:
    """Check whether a server has all transactions that were delivered from another.

    MySQL continues without them, and skips them once it has them; if they were lost with the other server, they will
    never come, and somebody should know. MariaDB cannot begin after a GTID that it does not have: it is tried again.
    """
    if isinstance(gtids, GtidSet):
        if missing := gtids - mysql_executed_gtids(connection):
            message = "%s lacks transactions that were delivered; it lags, or they are lost: %s"
            log.warning(message, connection.address, missing)
        return
    if missing_from := gtids - mariadb_gtids(connection):
        message = f"the server has not reached {missing_from} yet, which was delivered; it lags, or has lost it"
        raise ConnectionLost(message, connection.position)


class ResetDetector:
    """Compares from time to time, while nothing comes, where the server writes with where its dump is.

    After RESET a server begins its logs anew, but a dump continues to wait, with heartbeats, at the end of a file that
    is no longer there. Only a second connection sees it.
    """

    def __init__(self, connection: Connection, every_seconds: float) -> None:
        self._config = connection.config
        self._every_seconds = every_seconds
        self._last_check = time.monotonic()
        self._lagged_at: tuple[str, int] | None = None

    def heartbeat(self, stream: BinlogStream) -> None:
        """Check, if it is time to: `Purged` if the logs were reset, `ConnectionLost` if the dump does not continue."""
        now = time.monotonic()
        if now - self._last_check < self._every_seconds:
            return
        self._last_check = now
        try:
            with connect(self._config) as connection:
                file, offset = write_coordinates(connection)
        except (ConnectionLost, Authentication):
            return  # the stream's own connection reports the first; without the privilege, reading works all the same
        self._compare(BinlogPosition(file, offset), stream)

    def _compare(self, written: BinlogPosition, stream: BinlogStream) -> None:
        read = BinlogPosition(stream.file, stream.offset)
        here = (read.file, read.offset)
        if written.is_before(read):
            message = (
                f"the server writes at {written.describe()}, which is before this position: its logs were reset. What "
                "was delivered is no longer the server's history; start again from earliest"
            )
            raise Purged(message, stream.position)
        if written == read:
            self._lagged_at = None
        elif self._lagged_at == here:
            message = f"the server has written up to {written.describe()}, but its dump does not continue"
            raise ConnectionLost(message, stream.position)
        else:
            self._lagged_at = here
