"""Where a copy begins, and where it goes on: places in a server's logs, found with the server."""

from __future__ import annotations

from bisect import bisect_left

from binspark.archive.found_log import FoundLog
from binspark.archive.names import checked_name
from binspark.client.connect import Connection
from binspark.client.facts import ServerLog, server_logs
from binspark.client.identity import identify
from binspark.client.probe import file_created
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.start import AtTime, StartFrom
from binspark.errors import Authentication, OptionError, Purged, Server
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position


def first_place(connection: Connection, start: StartFrom) -> ResumePoint:
    """Return where to begin: at the beginning of the log that a place is in, for logs are copied whole."""
    file = _log_of_time(connection, start) if isinstance(start, AtTime) else resolve_start(connection, start).file
    return ResumePoint(checked_name(file), FIRST_EVENT_OFFSET, None, identify(connection).uuid)


def next_place(connection: Connection, found: FoundLog, server: str) -> ResumePoint:
    """Return where to go on: at the last event that is there, which the server is to send once more.

    A log that is finished here and purged there goes on with the one behind it.
    """
    _refuse_other_server(connection, server)
    logs = {log.name: log for log in _known_logs(connection)}
    if logs and found.name not in logs:
        if found.following in logs:
            return ResumePoint(found.following, FIRST_EVENT_OFFSET, None, server)
        raise Purged(_gone(found), Position(found.name, found.end, source=str(connection.address)))
    if logs and logs[found.name].size < found.end:
        message = (
            f"the server's log ends at {logs[found.name].size}, its copy at {found.end}: the server has lost "
            "transactions that it had sent, or its logs were reset. Keep this folder, and begin another one"
        )
        raise Purged(message, Position(found.name, source=str(connection.address)))
    return ResumePoint(found.name, found.last, None, server, found.created)


def _gone(found: FoundLog) -> str:
    if found.is_ended:
        return f"the server has neither this log nor {found.following} behind it: logs are missing between. {_ADVICE}"
    return f"the server no longer has this log, of which the copy is not complete. {_ADVICE}"


_ADVICE = "Begin another folder, from earliest, and let the server keep its logs longer (binlog_expire_logs_seconds)"


def _refuse_other_server(connection: Connection, server: str) -> None:
    identity = identify(connection)
    if server and server != identity.uuid:
        message = f"the folder holds logs of server {server}, this is server {identity.uuid}: use another folder"
        raise OptionError(message, connection.position)


def _known_logs(connection: Connection) -> tuple[ServerLog, ...]:
    """List the server's logs; who may not ask finds out from the dump."""
    try:
        return server_logs(connection)
    except Authentication:
        return ()


def _log_of_time(connection: Connection, start: AtTime) -> str:
    """Return the last log that was made before a time; times are whole seconds, of which one may be in two logs."""
    logs = server_logs(connection)
    if not logs:
        raise Server("the server writes no binary log: start it with log_bin", connection.position)
    older = bisect_left(logs, start.seconds, key=lambda log: file_created(connection.options, log.name))
    return logs[max(older - 1, 0)].name
