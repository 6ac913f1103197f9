"""The GTIDs before the new log: PREVIOUS_GTIDS or GTID_LIST of the first log, and those of what is removed at once."""

from __future__ import annotations

from dataclasses import replace
from struct import Struct
from typing import Any
from uuid import UUID

from binspark.cut.output import OutputLog, bare
from binspark.event import Event, GtidEvent, GtidList, GtidTagged, MariadbGtidEvent, PreviousGtids
from binspark.frames import EventCode
from binspark.gtid import GtidSet, MariadbGtid
from binspark.gtid.builder import GtidSetBuilder

_DOMAIN_AND_SERVER = Struct("<qq")


class GtidsBefore:
    """Collects the GTIDs that come before the first transaction of the new log."""

    def __init__(self) -> None:
        self._list: Event | None = None
        self._removed = GtidSetBuilder()
        self._mariadb: dict[tuple[int, int], MariadbGtid] = {}

    def note_list(self, listed: Event) -> None:
        """Note the list of a log; that of the first one counts."""
        if self._list is None:
            self._list = listed
            if isinstance(listed.body, GtidList):
                self._mariadb = {(gtid.domain, gtid.server): gtid for gtid in listed.body.gtids}

    def note(self, first: Event) -> None:
        """Note a transaction that is not written, by its first event."""
        body: Any = first.body
        if isinstance(body, MariadbGtidEvent):
            gtid = body.gtid(first.header.server_id)
            self._mariadb[gtid.domain, gtid.server] = gtid
        elif isinstance(body, GtidEvent | GtidTagged) and body.gtid is not None:
            self._removed.add(body.gtid)

    def note_interval(self, kind: int, source: bytes, start: int, stop: int) -> None:
        """Note consecutive GTIDs of transactions that are not written; `stop` is exclusive.

        `kind` is the type code of their events. The source of MariaDB's is domain and server, eight bytes each.
        """
        if kind == EventCode.MARIADB_GTID:
            domain, server = _DOMAIN_AND_SERVER.unpack(source)
            self._mariadb[domain, server] = MariadbGtid(domain, server, stop - 1)
        else:
            self._removed.add_interval((str(UUID(bytes=source)), ""), (start, stop))

    def write(self, output: OutputLog) -> None:
        """Write the list after the format description, if the first log has one."""
        if self._list is None:
            return
        body: PreviousGtids | GtidList = self._list.body
        if isinstance(body, PreviousGtids):
            gtids: GtidSet = body.gtid_set | self._removed.freeze()
            output.write(bare(self._list, replace(body, gtid_set=gtids, tagged=body.tagged or gtids.tagged)))
        else:
            # In a domain, the last transaction is the last of the list.
            last = tuple(sorted(self._mariadb.values(), key=lambda gtid: (gtid.domain, gtid.sequence)))
            output.write(bare(self._list, replace(body, gtids=last, padding=b"" if last else body.padding)))
