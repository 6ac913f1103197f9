"""Where a dump begins: by file and offset, by MySQL's GTIDs, by MariaDB's. What cannot be sent is refused."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.files.log_head import LogHead
from binspark.files.storage.store import LogFile
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.resync import begins_event
from binspark.gtid import GtidSet, MariadbGtid, MariadbPosition, MariadbState
from binspark.replication.commands import BinlogDump, BinlogDumpGtid
from binspark.serve import errors
from binspark.serve.archive_end import ArchiveEnd, EndFinder
from binspark.serve.gtid_skips import GtidSkips, MariadbSkips, MysqlSkips
from binspark.serve.logs import ArchiveLogs, ServedLog
from binspark.serve.until import MariadbUntil

_U32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class DumpStart:
    """Where a dump begins, and ends. `skips` is None if all that follows is sent, `until` if it has no end."""

    log: ServedLog
    offset: int
    skips: GtidSkips | None = None
    until: MariadbUntil | None = None


class StartFinder:
    """Finds where dumps of an archive begin."""

    def __init__(self, logs: ArchiveLogs, end: EndFinder) -> None:
        self._logs = logs
        self._end = end

    def by_command(self, command: BinlogDump | BinlogDumpGtid) -> DumpStart:
        """Return where a dump begins that was requested by file and offset, or by MySQL's GTIDs."""
        if isinstance(command, BinlogDump):
            return self._by_file(command.file, command.position)
        gtids = command.gtid_set or GtidSet()
        if command.file.rstrip("\0"):
            start = self._by_file(command.file, command.position)
            return DumpStart(start.log, start.offset, MysqlSkips(gtids))
        return self._by_gtid_set(gtids)

    def by_position(
        self, position: MariadbPosition, *, until: MariadbPosition | None = None, strict: bool = False
    ) -> DumpStart:
        """Return where a dump begins that was requested by MariaDB's GTIDs, and where it ends."""
        self._check_known(position)
        for log in reversed(self._logs.all()):
            before = self._logs.gtids_before(log)
            if isinstance(before, MariadbState) and _may_begin(before, position):
                last = before.position
                waiting = MariadbPosition.of(gtid for gtid in position if last.get(gtid.domain) != gtid)
                end = None if until is None else MariadbUntil(until, before)
                return DumpStart(log, FIRST_EVENT_OFFSET, MariadbSkips(waiting, before, strict=strict), end)
        raise errors.mariadb_purged()

    def _by_file(self, file: str, offset: int) -> DumpStart:
        """Return a position. Without a name it is in the oldest log; some clients send zeros for that."""
        file = file.rstrip("\0")
        log = self._logs.find(file) if file else self._logs.all()[0]
        if log is None:
            raise errors.no_such_log()
        if offset < FIRST_EVENT_OFFSET:
            raise errors.too_small_position()
        with log.open() as (opened, head):
            if not opened.is_compressed and offset > opened.size:
                raise errors.impossible_position(head.format.family, file, offset)
            if offset > FIRST_EVENT_OFFSET and not _may_be_event(opened, head, offset):
                raise errors.damaged((log.name, offset), log.name, offset)
        return DumpStart(log, offset)

    def _by_gtid_set(self, gtids: GtidSet) -> DumpStart:
        end = self._end.find()
        if isinstance(end.gtids, GtidSet) and _of_source(gtids, self._logs) - end.gtids:
            raise errors.replica_has_more()
        logs = self._logs.all()
        for log in reversed(logs):
            before = self._logs.gtids_before(log)
            if isinstance(before, GtidSet) and before <= gtids:
                return DumpStart(log, FIRST_EVENT_OFFSET, MysqlSkips(gtids))
        oldest = self._logs.gtids_before(logs[0])
        if not isinstance(oldest, GtidSet):
            raise errors.fatal("The logs of the archive have no GTIDs: request a file and a position")
        raise errors.purged(gtids, oldest - gtids)

    def _check_known(self, position: MariadbPosition) -> None:
        """Refuse a GTID that the archive does not have in a domain that it has."""
        end: ArchiveEnd = self._end.find()
        if not isinstance(end.gtids, MariadbState):
            raise errors.mariadb_purged()
        for gtid in position:
            if gtid not in end.gtids and gtid.domain in end.gtids.domains:
                raise errors.mariadb_not_found(gtid, has_later=_has_later(end.gtids, gtid))


def _may_be_event(file: LogFile, head: LogHead, offset: int) -> bool:
    """Return whether an event begins at an offset, as far as that is written."""
    header = file.read_at(offset, HEADER_LENGTH)
    if offset < head.frame.end_offset or len(header) < HEADER_LENGTH:
        return offset >= head.frame.end_offset
    fields = Header._make(HEADER.struct.unpack(header))
    if fields.next_position == (offset + fields.event_size) & _U32:
        return True
    return begins_event(file.read_at, offset, file.size, head.format)


def _of_source(gtids: GtidSet, logs: ArchiveLogs) -> GtidSet:
    """Return those of some GTIDs that the server of the archive has written itself."""
    return GtidSet.from_parts(part for part in gtids.parts if part[0][0] == logs.identity.uuid)


def _may_begin(before: MariadbState, position: MariadbPosition) -> bool:
    """Return whether all that a reader needs is in a log or after it, given what is before the log."""
    last = before.position
    return all(_has_reached(position.get(gtid.domain), gtid, last) for gtid in before.gtids)


def _has_reached(mine: MariadbGtid | None, listed: MariadbGtid, last: MariadbPosition) -> bool:
    """Return whether a reader has a GTID that is before a log; of the same server, only as the last of its domain."""
    if mine is None:
        return False
    if mine.server != listed.server or mine.sequence > listed.sequence:
        return True
    return mine.sequence == listed.sequence and last.get(mine.domain) == mine


def _has_later(state: MariadbState, gtid: MariadbGtid) -> bool:
    return any(other.domain == gtid.domain and other.sequence > gtid.sequence for other in state)
