"""MySQL's logical clock: within a file the sequence numbers are 1, 2, 3, ... and a transaction depends on earlier ones.

A sequence number of 0 means that the server gave none. In a relay log the clock is the source's, and transactions that
the replica already had are left out.
"""

from __future__ import annotations

from binspark.event import Event
from binspark.frames import EventCode as E
from binspark.verify.check import Check, Handler, LogKind, route
from binspark.verify.codes import Code
from binspark.verify.finding import Findings


class LogicalClock(Check):
    """Checks `last_committed` and `sequence_number` of every transaction."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._last = 0
        self._gap_expected = False

    def handlers(self) -> dict[int, Handler]:
        if self.kind.relay:
            return {}
        return route(self._tick, E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED)

    def damaged(self) -> None:
        self._gap_expected = True

    def _tick(self, event: Event) -> None:
        number, depends_on = event.body.sequence_number, event.body.last_committed
        if not number:
            return
        if depends_on >= number:
            message = f"transaction {number} of the file is said to depend on {depends_on}, which is not before it"
            self.findings.error(Code.CLOCK_ORDER, message, event.offset, event.type)
        if number <= self._last:
            message = f"sequence number {number} comes after {self._last}"
            self.findings.error(Code.CLOCK_ORDER, message, event.offset, event.type)
        elif number != self._last + 1 and not self._gap_expected:
            message = f"sequence number {number} comes after {self._last}: {number - self._last - 1} are missing"
            self.findings.warning(Code.CLOCK_GAP, message, event.offset, event.type)
        self._last = number
        self._gap_expected = False
