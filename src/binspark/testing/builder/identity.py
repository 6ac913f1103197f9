"""A builder's events that say which transaction begins, and which came before."""

from __future__ import annotations

from binspark.event.gtid import LOGICAL_CLOCK, GtidEvent, GtidFlag, PreviousGtids
from binspark.event.gtid_tagged import GtidTagged
from binspark.event.mariadb import BinlogCheckpoint, GtidList, MariadbGtidEvent, MariadbGtidFlag
from binspark.frames import EventCode as E
from binspark.frames import HeaderFlag
from binspark.frames.format import version_numbers
from binspark.gtid import Gtid, GtidSet, MariadbGtid
from binspark.testing.builder.core import BuilderCore, Part

NO_UUID = "00000000-0000-0000-0000-000000000000"
ANONYMOUS = "anonymous"
_MICROSECONDS = 1_000_000
_MARIADB_GTID_LENGTH = 19
_FLAGS_OFFSET = 13
_EMPTY_LIST_PADDING = 2


class IdentityEvents(BuilderCore):
    """GTID, GTID_TAGGED, ANONYMOUS_GTID, PREVIOUS_GTIDS; MariaDB's GTID, GTID_LIST and BINLOG_CHECKPOINT."""

    sequence_number = 0
    """How many transactions the file has: the logical clock."""

    def gtid(self, gtid: str | None, transaction_length: int = 0, *, may_have_sbr: bool = False) -> None:
        """Write GTID, GTID_TAGGED where the identifier has a tag, ANONYMOUS_GTID where there is none."""
        parsed = None if gtid is None else Gtid.parse(gtid)
        self.sequence_number += 1
        self.event(*self.gtid_part(parsed, transaction_length, may_have_sbr=may_have_sbr))

    def gtid_part(self, gtid: Gtid | None, transaction_length: int, *, may_have_sbr: bool = False) -> Part:
        """Return the event for the transaction with the present sequence number."""
        flags = GtidFlag.MAY_HAVE_SBR if may_have_sbr else 0
        if gtid is not None and gtid.tag:
            return Part(E.GTID_TAGGED, self._tagged(gtid, flags, transaction_length))
        code = E.ANONYMOUS_GTID if gtid is None else E.GTID
        return Part(code, self._untagged(gtid, flags, transaction_length))

    def previous_gtids(self, gtid_set: GtidSet | str) -> None:
        """Write PREVIOUS_GTIDS."""
        executed = GtidSet(gtid_set) if isinstance(gtid_set, str) else gtid_set
        self.event(E.PREVIOUS_GTIDS, PreviousGtids(executed.tagged, executed), HeaderFlag.IGNORABLE)

    def mariadb_gtid(self, gtid: str, gtid_flags: int = MariadbGtidFlag.TRANSACTIONAL) -> None:
        """Write MARIADB_GTID. The server part of the identifier goes to the headers, from here on."""
        domain, server, sequence = map(int, gtid.split("-"))
        self.server_id = server
        self.event(*self.mariadb_gtid_part(MariadbGtid(domain, server, sequence), gtid_flags))

    def mariadb_gtid_part(self, gtid: MariadbGtid, gtid_flags: int) -> Part:
        """Return the event, filled up with zeros to the length that servers give it."""
        padding = bytes(_MARIADB_GTID_LENGTH - _FLAGS_OFFSET - 1)
        body = MariadbGtidEvent(gtid.sequence, gtid.domain, gtid_flags, extra_flags=0, padding=padding)
        return Part(E.MARIADB_GTID, body, HeaderFlag.SUPPRESS_USE)

    def gtid_list(self, gtids: tuple[MariadbGtid, ...]) -> None:
        """Write MariaDB's GTID_LIST."""
        self.event(E.GTID_LIST, GtidList(0, gtids, b"" if gtids else bytes(_EMPTY_LIST_PADDING)))

    def binlog_checkpoint(self, log_file: str) -> None:
        """Write MariaDB's BINLOG_CHECKPOINT."""
        self.event(E.BINLOG_CHECKPOINT, BinlogCheckpoint(log_file))

    def _untagged(self, gtid: Gtid | None, flags: int, transaction_length: int) -> GtidEvent:
        """Return as much of the event as a server of this version writes."""
        version = version_numbers(self.server.server_version)
        sid, gno = (NO_UUID, 0) if gtid is None else (gtid.uuid, gtid.number)
        if version < (5, 7, 0):
            return GtidEvent(flags, sid, gno)
        clock = (LOGICAL_CLOCK, self.sequence_number - 1, self.sequence_number)
        if version < (8, 0, 1):
            return GtidEvent(flags, sid, gno, *clock)
        commit_time = self.timestamp * _MICROSECONDS
        times = (commit_time, commit_time, transaction_length)
        number = self.server.version_number
        return GtidEvent(flags, sid, gno, *clock, *times, number, number)

    def _tagged(self, gtid: Gtid, flags: int, transaction_length: int) -> GtidTagged:
        commit_time, version = self.timestamp * _MICROSECONDS, self.server.version_number
        return GtidTagged(
            gtid_flags=flags,
            sid=gtid.uuid,
            gno=gtid.number,
            tag=gtid.tag,
            last_committed=self.sequence_number - 1,
            sequence_number=self.sequence_number,
            immediate_commit_timestamp=commit_time,
            original_commit_timestamp=commit_time,
            transaction_length=transaction_length,
            immediate_server_version=version,
            original_server_version=version,
        )
