"""Where a copy begins, and where it continues after an interruption: found on disk and with the server."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

from binspark.archive.directory import checked_name, next_name
from binspark.errors import Authentication, DecodeError, OptionError, Purged, Truncated
from binspark.event import EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.storage.local import LocalFile
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Family, Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.replication.find import find_start, log_of_time
from binspark.replication.position import BinlogPosition
from binspark.replication.start import AtTime, Start
from binspark.server.connection import Connection
from binspark.server.info import ServerLog, server_info, server_logs

_LAST_EVENTS = frozenset({EventCode.ROTATE, EventCode.STOP})
_NEW_FOLDER = (
    "Begin another folder, from earliest, and let the server keep its logs longer (binlog_expire_logs_seconds)"
)


@dataclass(frozen=True, slots=True)
class RecoveredLog:
    """A log on disk, as far as it is valid.

    size       how many bytes the file has
    end        the offset after the last event that is complete and valid
    last       the offset of that event
    last_type  its type
    created    when the server created the log, in seconds since 1970
    following  the name of the next log, if this one says that it is finished
    """

    path: Path
    size: int
    end: int
    last: int
    last_type: int
    created: int
    family: Family
    following: str | None

    @property
    def name(self) -> str:
        """The name of the log."""
        return self.path.name

    @property
    def is_finished(self) -> bool:
        """Whether the server has finished the log in order."""
        return self.last_type in _LAST_EVENTS


def recover_log(path: Path) -> RecoveredLog | None:
    """Read a log up to the first byte that is wrong or missing; None if not even its first event is there."""
    with source_errors(path), LogFile(LocalFile(str(path))) as file:
        try:
            head = read_head(file, path.name)
        except Truncated:
            return None
        last, end = _valid_part(file, head)
        last_type, following = _last_event(file, head, last, end, path.name)
        size, created = file.size, head.frame.header.timestamp
    return RecoveredLog(path, size, end, last, last_type, created, head.format.family, following)


def _valid_part(file: LogFile, head: LogHead) -> tuple[int, int]:
    """Return where the last valid event begins and ends. A new archive does not load the kernel for it."""
    import numpy as np

    from binspark.kernels.crc32 import crc32_address
    from binspark.kernels.walk import walk_sound

    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        content = np.frombuffer(mapped, dtype=np.uint8)
        base = int(content.ctypes.data)
        found = np.array([base + head.frame.offset, base + head.frame.end_offset], dtype=np.int64)
        checksum = bool(head.format.checksum_length)
        walk_sound(found, base + len(content), -base, checksum, crc32_address() if checksum else 0)
        last, end = (int(address) - base for address in found)
        del content
    return last, end


def _last_event(file: LogFile, head: LogHead, last: int, end: int, name: str) -> tuple[int, str | None]:
    """Return the type of the last event, and which log it says comes next."""
    if last == head.frame.offset:
        return head.frame.type_code, None
    frame = next(Framer(head.format, last).feed(file.read_at(last, end - last)))
    if frame.type_code == EventCode.STOP:
        return frame.type_code, next_name(name)
    if frame.type_code != EventCode.ROTATE:
        return frame.type_code, None
    try:
        return frame.type_code, checked_name(EventDecoder(name).decode(frame).body.next_file)
    except DecodeError as error:
        raise error.at(Position(name, last)) from None


def first_position(connection: Connection, start: Start) -> BinlogPosition:
    """Return where a new copy begins: at the beginning of the log that a start is in, for logs are copied complete."""
    file = log_of_time(connection, start) if isinstance(start, AtTime) else find_start(connection, start).file
    return BinlogPosition(checked_name(file), FIRST_EVENT_OFFSET, None, server_info(connection).uuid)


def resume_position(connection: Connection, found: RecoveredLog, server: str) -> BinlogPosition:
    """Return where a copy continues: at the last event that is there, which the server is to send once more.

    A log that is finished here and purged there continues with the next one.
    """
    server = _same_server(connection, server)
    logs = {log.name: log for log in _listed_logs(connection)}
    if logs and found.name not in logs:
        if found.following in logs:
            return BinlogPosition(found.following, FIRST_EVENT_OFFSET, None, server)
        raise Purged(_purged(found), Position(found.name, found.end, source=str(connection.address)))
    if logs and logs[found.name].size < found.end:
        message = (
            f"the server's log ends at {logs[found.name].size}, its copy at {found.end}: the server has lost "
            "transactions that it had sent, or its logs were reset. Keep this folder, and begin another one"
        )
        raise Purged(message, Position(found.name, source=str(connection.address)))
    return BinlogPosition(found.name, found.last, None, server, found.created)


def _purged(found: RecoveredLog) -> str:
    if found.is_finished:
        problem = f"the server has neither this log nor {found.following} after it: logs in between are missing"
    else:
        problem = "the server no longer has this log, and its copy is not complete"
    return f"{problem}. {_NEW_FOLDER}"


def _same_server(connection: Connection, server: str) -> str:
    """Return which server this is; refuse one whose logs the folder does not contain."""
    found = server_info(connection).uuid
    if server and server != found:
        message = f"the folder contains logs of server {server}, but this is server {found}: use another folder"
        raise OptionError(message, connection.position)
    return found


def _listed_logs(connection: Connection) -> tuple[ServerLog, ...]:
    """List the server's logs; a user without the privilege finds out from the dump."""
    try:
        return server_logs(connection)
    except Authentication:
        return ()
