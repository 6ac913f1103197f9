"""Where a start or a stop is on a server: its file and offset, and the GTIDs before it if they can be known."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from dataclasses import replace
from functools import cache

from binspark.errors import Authentication, OptionError, Purged, Server
from binspark.files.sources import log_order
from binspark.frames.format import Family
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.dump import file_created
from binspark.replication.gtids import Gtids, gtids_of_family
from binspark.replication.position import BinlogPosition
from binspark.replication.progress import FollowProgress
from binspark.replication.resume import resume_stream
from binspark.replication.settings import FollowSettings
from binspark.replication.sources import BulkSource, CompleteSource
from binspark.replication.start import AtTime, Earliest, Latest, Start
from binspark.replication.stop import Stop, StopCondition
from binspark.server.connection import Connection, connect
from binspark.server.info import (
    NO_BINARY_LOG,
    ServerInfo,
    ServerLog,
    mariadb_gtid_state,
    mariadb_gtids,
    mariadb_gtids_at,
    mysql_executed_gtids,
    mysql_gtids_before,
    mysql_log_status,
    server_family,
    server_info,
    server_logs,
    write_coordinates,
)

_ATTEMPTS = 5


def find_start(connection: Connection, start: Start) -> BinlogPosition:
    """Find a start on a server.

    A position by GTIDs has no file yet: the server finds it. A position that names its server is returned as it is.
    """
    server = server_info(connection)
    match start:
        case Earliest():
            return _in_file(connection, server, BinlogPosition(_logs(connection)[0].name, FIRST_EVENT_OFFSET))
        case Latest():
            return end_of_log(connection)
        case AtTime():
            return _at_time(connection, server, start)
        case BinlogPosition():
            if start.server:
                return start
            found = _in_file(connection, server, start)
            _check_exists(connection, found)
            return found


def find_stop(connection: Connection, stop: Stop) -> StopCondition:
    """Find a stop on a server."""
    if isinstance(stop, Latest):
        return StopCondition(end_of_log(connection), is_written=True)
    if isinstance(stop, AtTime):
        now = float(connection.rows("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0])
        return StopCondition(seconds=stop.seconds, clock_ahead=now - time.time())
    server = server_info(connection)
    gtids = None if stop.gtids is None else gtids_of_family(stop.gtids, server.family, "until")
    return StopCondition(replace(stop, gtids=gtids, server=stop.server or server.uuid))


def end_of_log(connection: Connection) -> BinlogPosition:
    """Return the position at which the server writes next."""
    server = server_info(connection)
    if server.family is Family.MARIADB:
        return _mariadb_end(connection, server)
    file, offset, gtids = mysql_log_status(connection)
    return BinlogPosition(file, offset, gtids if server.gtids_enabled else None, server.uuid)


def gtids_before(connection: Connection, file: str) -> Gtids:
    """Return the GTIDs of all transactions before one of the server's logs."""
    if server_family(connection) is Family.MARIADB:
        return mariadb_gtids_at(connection, file, FIRST_EVENT_OFFSET)
    return mysql_gtids_before(connection, file)


def log_of_time(connection: Connection, start: AtTime) -> str:
    """Return the last log that was created before a time; times are whole seconds, of which one may be in two logs."""
    logs = _logs(connection)
    older = bisect_left(logs, start.seconds, key=lambda log: file_created(connection.config, log.name))
    return logs[max(older - 1, 0)].name


def _mariadb_end(connection: Connection, server: ServerInfo) -> BinlogPosition:
    """MariaDB reports position and GTIDs apart: they belong together if nothing was written in between."""
    written = write_coordinates(connection)
    for _ in range(_ATTEMPTS):
        gtids = mariadb_gtids(connection)
        before, written = written, write_coordinates(connection)
        if before == written:
            return BinlogPosition(*written, gtids, server.uuid)
    return BinlogPosition(*written, mariadb_gtids_at(connection, *written), server.uuid)


def _in_file(connection: Connection, server: ServerInfo, start: BinlogPosition) -> BinlogPosition:
    """MySQL does not report the GTIDs before a position; the stream learns them where the next file begins."""
    gtids = start.gtids
    if gtids is not None:
        gtids = gtids_of_family(gtids, server.family)
    elif server.family is Family.MARIADB:
        gtids = _mariadb_gtids(connection, start)
    return replace(start, gtids=gtids, server=server.uuid)


def _check_exists(connection: Connection, start: BinlogPosition) -> None:
    """Refuse a start that the server does not have. A log that was purged is left to the dump, which says so."""
    if start.file:
        _check_file(connection, start)
        return
    missing: Gtids | None = None
    if isinstance(start.gtids, GtidSet):
        missing = start.gtids - mysql_executed_gtids(connection)
    elif isinstance(start.gtids, MariadbPosition):
        missing = start.gtids - mariadb_gtids(connection)
        if missing:  # without gtid_strict_mode, numbers may decrease: the state has the largest of each server
            state = mariadb_gtid_state(connection)
            missing = MariadbPosition.of(gtid for gtid in missing if gtid not in state)
    if missing:
        problem = f"is after transactions that the server does not have: {missing}"
        raise OptionError(problem, connection.position, "start")


def _check_file(connection: Connection, start: BinlogPosition) -> None:
    try:
        logs = server_logs(connection)
    except Authentication:
        return  # without the privilege, the dump finds out
    sizes = {log.name: log.size for log in logs}
    if logs and start.file not in sizes and log_order(start.file) > log_order(logs[0].name):
        problem = f"names {start.file}, which the server does not have; it has {logs[0].name} to {logs[-1].name}"
        raise OptionError(problem, connection.position, "start")
    if start.offset > sizes.get(start.file, start.offset):
        problem = f"({start.describe()}) is after the end of that log, which has {sizes[start.file]:,} bytes"
        raise OptionError(problem, connection.position, "start")


def _mariadb_gtids(connection: Connection, start: BinlogPosition) -> MariadbPosition | None:
    """Leave a position that the server does not know to the dump, which says what is wrong with it."""
    try:
        return mariadb_gtids_at(connection, start.file, start.offset)
    except Server:
        return None


def _logs(connection: Connection) -> tuple[ServerLog, ...]:
    logs = server_logs(connection)
    if not logs:
        raise Server(NO_BINARY_LOG, connection.position)
    return logs


def _at_time(connection: Connection, server: ServerInfo, start: AtTime) -> BinlogPosition:
    """Find the first transaction of a time or later: bisect the files by when they were created, then read one."""
    now = int(connection.rows("SELECT UNIX_TIMESTAMP()")[0][0])
    if start.seconds > now:
        raise OptionError(f"is in the future of the server: {start}", connection.position, "start")
    logs = _logs(connection)

    @cache
    def created(index: int) -> int:
        return file_created(connection.config, logs[index].name)

    older = bisect_left(range(len(logs)), start.seconds, key=created)
    if older == 0 and created(0) > start.seconds and _number(logs[0].name) != 1:
        message = f"the logs of {start} were purged: the oldest, {logs[0].name}, begins later. Start from earliest"
        raise Purged(message, connection.position)
    return _first_since(connection, server, logs[max(older - 1, 0)].name, start.seconds)


def _first_since(connection: Connection, server: ServerInfo, file: str, seconds: int) -> BinlogPosition:
    """Read from the beginning of a file up to the first transaction that began at this time or later."""
    settings = FollowSettings()
    begin = BinlogPosition(file, FIRST_EVENT_OFFSET, None, server.uuid)
    progress = FollowProgress(begin, server, by_file=True)
    with connect(connection.config) as another:
        resumed = resume_stream(another, begin, settings.stream, until_end=True)
        source = BulkSource(resumed, settings.tick_seconds, StopCondition(seconds=seconds))
        for chunk in CompleteSource(source, settings.memory_bytes):
            progress.deliver(chunk)
    return progress.position


def _number(file: str) -> int:
    match = re.search(r"\.(\d+)$", file)
    return int(match[1]) if match else 0
