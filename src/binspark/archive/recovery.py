"""Where a copy begins, and where it goes on: places in a server's logs, found with the server."""

from __future__ import annotations

import mmap
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

from binspark.archive.directory import checked_name, disk_errors, next_name
from binspark.client.connect import Connection
from binspark.client.facts import ServerLog, server_logs
from binspark.client.identity import identify
from binspark.client.probe import file_created
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.start import AtTime, StartFrom
from binspark.errors import Authentication, DecodeError, OptionError, Purged, Server, Truncated
from binspark.event import EventDecoder
from binspark.files.log_head import LogHead, read_head
from binspark.files.storage.local import LocalFile
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Family, Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position

_ENDS = frozenset({EventCode.ROTATE, EventCode.STOP})


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A log as far as it is sound.

    size       how many bytes the file has
    end        the offset behind the last event that is whole and sound
    last       the offset of that event, and
    last_type  its type
    created    when the server made the log, in seconds since 1970
    following  the name of the log behind it, if the log says that it is finished
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
        return self.path.name

    @property
    def is_ended(self) -> bool:
        """Whether the server has finished the log in order."""
        return self.last_type in _ENDS


def look_at(path: Path) -> FoundLog | None:
    """Read a log through to the first byte that is wrong or missing; None if not even its first event is there."""
    with disk_errors(path), LogFile(LocalFile(str(path))) as file:
        try:
            head = read_head(file, path.name)
        except Truncated:
            return None
        last, end = _sound_part(file, head)
        last_type, following = _last_event(file, head, last, end, path.name)
        size, created = file.size, head.frame.header.timestamp
    return FoundLog(path, size, end, last, last_type, created, head.format.family, following)


def _sound_part(file: LogFile, head: LogHead) -> tuple[int, int]:
    """Return where the last sound event begins and ends. Whoever begins a new archive needs no kernel for it."""
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
    """Return the type of the last event, and which log it says to go on with."""
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
