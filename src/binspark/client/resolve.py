"""Where a start is on a server: its file and position, and the GTIDs before it where they can be known."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from binspark.client.connect import Connection
from binspark.client.facts import ServerLog, log_end, mariadb_gtids_at, server_logs
from binspark.client.gtid_memory import own_kind
from binspark.client.identity import ServerIdentity, identify
from binspark.client.probe import file_created, to_the_end
from binspark.client.progress import Progress
from binspark.client.resume import ResumePoint
from binspark.client.start import AtFile, AtGtids, AtTime, Earliest, Latest, StartFrom
from binspark.errors import OptionError, Purged, Server
from binspark.event import EventDecoder
from binspark.frames.codes import EventCode
from binspark.frames.format import Family
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import MariadbPosition
from binspark.transactions import Assembler


def resolve_start(connection: Connection, start: StartFrom) -> ResumePoint:
    """Find a start on a server. A start by GTIDs has no file yet: the server finds it."""
    identity = identify(connection)
    match start:
        case AtGtids(gtids):
            return ResumePoint("", 0, own_kind(gtids, identity.family), identity.uuid, by_file=False)
        case AtFile():
            return _at_file(connection, identity, start)
        case Latest():
            end = log_end(connection)
            return ResumePoint(end.file, end.offset, end.gtids if identity.gtids_enabled else None, identity.uuid)
        case Earliest():
            return _at_file(connection, identity, AtFile(_logs(connection)[0].name))
        case AtTime():
            return _at_time(connection, identity, start)


def _at_file(connection: Connection, identity: ServerIdentity, start: AtFile) -> ResumePoint:
    """MySQL cannot tell the GTIDs before a place; the stream learns them where the next file begins."""
    if identity.family is Family.MYSQL:
        return ResumePoint(start.file, start.offset, None, identity.uuid)
    return ResumePoint(start.file, start.offset, _mariadb_gtids(connection, start), identity.uuid)


def _mariadb_gtids(connection: Connection, start: AtFile) -> MariadbPosition | None:
    """Leave a place that the server does not know to the dump, which says what is wrong with it."""
    try:
        return mariadb_gtids_at(connection, start.file, start.offset)
    except Server:
        return None


def _logs(connection: Connection) -> Sequence[ServerLog]:
    logs = server_logs(connection)
    if not logs:
        raise Server("the server writes no binary log: start it with log_bin", connection.position)
    return logs


def _at_time(connection: Connection, identity: ServerIdentity, start: AtTime) -> ResumePoint:
    """Find the first transaction of a time or later: bisect the files by when they were made, then read one."""
    now = int(connection.rows("SELECT UNIX_TIMESTAMP()")[0][0])
    if start.seconds > now:
        raise OptionError(f"start: {start} lies in the future of the server", connection.position)
    logs = _logs(connection)

    @cache
    def created(index: int) -> int:
        return file_created(connection.options, logs[index].name)

    older = bisect_left(range(len(logs)), start.seconds, key=created)
    if older == 0 and created(0) > start.seconds and _number(logs[0].name) != 1:
        message = f"the logs of {start} were purged: the oldest, {logs[0].name}, begins later. Start from earliest"
        raise Purged(message, connection.position)
    first = logs[max(older - 1, 0)].name
    return _first_since(connection, identity, first, start.seconds)


def _first_since(connection: Connection, identity: ServerIdentity, file: str, seconds: int) -> ResumePoint:
    """Read from the beginning of a file up to the first transaction that began at this time or later."""
    progress = Progress(ResumePoint(file, FIRST_EVENT_OFFSET, None, identity.uuid), identity, by_file=True)
    assembler = Assembler(text_limit=0)
    with to_the_end(connection.options, AtFile(file)) as stream:
        for streamed in stream:
            event = EventDecoder(streamed.file).decode(streamed.frame)
            ended = assembler.feed(event)
            if streamed.type_code == EventCode.TRANSACTION_PAYLOAD:
                ended += assembler.finish()
            for transaction in ended:
                if transaction.timestamp >= seconds:
                    return progress.point_at(transaction.file, transaction.start)
                progress.delivered(transaction)
            progress.passed(streamed, event)
    return progress.point


def _number(file: str) -> int:
    match = re.search(r"\.(\d+)$", file)
    return int(match[1]) if match else 0
