"""Going on where another connection ended: at which place, and only where it is the same log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from binspark.client.connect import Connection
from binspark.client.dump import open_stream
from binspark.client.facts import server_logs, write_place
from binspark.client.gtid_memory import own_kind
from binspark.client.identity import ServerIdentity, identify
from binspark.client.lag import look_at_lag
from binspark.client.left_out import Written
from binspark.client.probe import file_created
from binspark.client.resume import ResumePoint
from binspark.client.settings import StreamSettings
from binspark.client.start import AtFile, AtGtids
from binspark.client.stream import BinlogStream, OnHeartbeat, StreamEvent
from binspark.errors import Authentication, ConnectionLost, Purged
from binspark.files.sources import log_order
from binspark.frames.codes import EventCode
from binspark.frames.format import Family
from binspark.gtid import GtidSet, MariadbState


@dataclass(frozen=True, slots=True)
class Reopened:
    """A stream that goes on at a resume point: by the place in its file, or by GTIDs.

    written  what the server had written before it was asked for the stream; None if it did not say, or by file
    """

    stream: BinlogStream
    identity: ServerIdentity
    point: ResumePoint
    by_file: bool
    written: Written | None = None

    def __iter__(self) -> Iterator[StreamEvent]:
        """Yield the events, and refuse those of another log of the same name."""
        for event in self.stream:
            if self.by_file and event.type_code == EventCode.FORMAT_DESCRIPTION:
                _refuse_other_file(event, self.point)
            yield event


def reopen(
    connection: Connection, point: ResumePoint, settings: StreamSettings, on_heartbeat: OnHeartbeat | None = None
) -> Reopened:
    """Open a stream at a resume point."""
    identity = identify(connection)
    start = place_on(connection, identity, point)
    by_file = isinstance(start, AtFile)
    if not by_file and point.server == identity.uuid:
        _refuse_other_history(connection, point)
    elif isinstance(start, AtGtids):
        look_at_lag(connection, start.gtids)
    written = None if by_file else _written(connection, identity.family)
    return Reopened(open_stream(connection, start, settings, on_heartbeat), identity, point, by_file, written)


def place_on(connection: Connection, identity: ServerIdentity, point: ResumePoint) -> AtFile | AtGtids:
    """Choose between the place in the file and the GTIDs."""
    same_server = point.server in ("", identity.uuid)
    if same_server and point.by_file and (point.gtids is None or not _purged(connection, point.file)):
        return point.at_file
    if point.gtids is not None and (identity.gtids_enabled or not point.by_file):
        return AtGtids(own_kind(point.gtids, identity.family))
    if same_server:
        return point.at_file
    message = (
        f"this is server {identity.uuid}, the place {point.file}:{point.offset} is of server {point.server}, and the "
        "GTIDs before it are not known: only that server can go on"
    )
    raise ConnectionLost(message, connection.position)


def _written(connection: Connection, family: Family) -> Written | None:
    """Ask for GTIDs, then for a place behind them; whoever may not ask for the place does without."""
    variable = "gtid_executed" if family is Family.MYSQL else "gtid_binlog_state"
    text = str(connection.rows(f"SELECT @@GLOBAL.{variable}")[0][0])
    gtids = GtidSet(text) if family is Family.MYSQL else MariadbState(text)
    try:
        return Written(gtids, *write_place(connection))
    except Authentication:
        return None


def _refuse_other_file(event: StreamEvent, point: ResumePoint) -> None:
    """Refuse a log that has the name of the one at the resume point and was made at another time."""
    if event.file == point.file and point.created:
        _compare(event.frame.header.timestamp, point)


def _refuse_other_history(connection: Connection, point: ResumePoint) -> None:
    """By GTIDs a server that was reset may be none the wiser: look at the file that was read last."""
    if not point.file or not point.created or _purged(connection, point.file):
        return
    try:
        created = file_created(connection.options, point.file)
    except Purged as error:
        message = f"{point.file} is gone and older logs are there: the logs were reset. {error.message}"
        raise Purged(message, point.position) from None
    _compare(created, point)


def _compare(created: int, point: ResumePoint) -> None:
    if created != point.created:
        message = (
            f"this {point.file} was made at {_time(created)}, the one that was read at {_time(point.created)}: "
            "the logs were reset. What was delivered is no longer the server's history; start anew, from earliest"
        )
        raise Purged(message, point.position)


def _purged(connection: Connection, file: str) -> bool:
    """Whether a log is older than the oldest; one that may not be asked for counts as there."""
    try:
        logs = server_logs(connection)
    except Authentication:
        return False
    return bool(logs) and log_order(file) < log_order(logs[0].name)


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
