"""Which transactions of the logs a reader has already: they are not sent."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition, MariadbState
from binspark.serve.errors import mariadb_hole

_MAX_INTERVALS = 64
"""Up to this number, looking through all of them takes less time than asking Python."""

AnyGtid = Gtid | MariadbGtid | None


class GtidSkips(Protocol):
    """Decides for each transaction whether it is skipped. Once it is false, nothing can be skipped any more.

    reports    whether the reader learns that the transaction which was skipped last counts as read
    intervals  what is skipped, for `kernels.pack`; None if that cannot be said, or is too much
    """

    reports: bool

    @property
    def intervals(self) -> bytes | None:  # noqa: D102 (see above)
        ...

    def __bool__(self) -> bool: ...

    def skips(self, gtid: AnyGtid) -> bool:
        """Return whether the next transaction is skipped."""
        ...


class MysqlSkips:
    """Skips the transactions of a GTID set."""

    reports = True

    def __init__(self, gtids: GtidSet) -> None:
        self._gtids = gtids

    @property
    def intervals(self) -> bytes | None:
        """The intervals without tags, if they are few; transactions with tags are decided by `skips`."""
        listed = [
            UUID(uuid).bytes + start.to_bytes(8, "little") + stop.to_bytes(8, "little")
            for (uuid, tag), intervals in self._gtids.parts
            for start, stop in intervals
            if not tag
        ]
        return b"".join(listed) if len(listed) <= _MAX_INTERVALS else None

    def __bool__(self) -> bool:
        return bool(self._gtids)

    def skips(self, gtid: AnyGtid) -> bool:
        """Return whether the reader has a transaction."""
        return isinstance(gtid, Gtid) and gtid in self._gtids


class MariadbSkips:
    """Skips each domain up to the GTID that the reader has, in the order of the log, whichever server wrote it.

    strict  whether it is an error that the log has GTIDs of a server before and after the one that the reader has
    state   the last GTIDs of each domain and server before the next transaction that is not skipped
    """

    def __init__(self, position: MariadbPosition, before: MariadbState, *, strict: bool = False) -> None:
        self._waiting = {gtid.domain: gtid for gtid in position}
        self.state = before
        self.reports = False
        self.intervals = None
        self._strict = strict
        self._sent: MariadbGtid | None = None

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def skips(self, gtid: AnyGtid) -> bool:
        """Return whether the reader has a transaction: it comes before its GTID of the domain, or is that."""
        if not isinstance(gtid, MariadbGtid):
            return False
        if self._sent is not None:
            self.state, self._sent = self.state.add(self._sent), None
        if self._has(gtid):
            self.state = self.state.add(gtid)
            return True
        self._sent = gtid
        return False

    def _has(self, gtid: MariadbGtid) -> bool:
        self.reports = False
        last = self._waiting.get(gtid.domain)
        if last is None:
            return False
        if gtid.server != last.server or gtid.sequence < last.sequence:
            return True
        del self._waiting[gtid.domain]
        self.reports = gtid.sequence == last.sequence
        if not self.reports and self._strict:
            raise mariadb_hole(last)
        return self.reports
