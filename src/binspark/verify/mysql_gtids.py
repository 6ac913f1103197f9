"""The GTIDs of a MySQL log: each once, none of those that earlier files hold, and which of them are missing."""

from __future__ import annotations

from binspark.event import Event, PreviousGtids
from binspark.frames import EventCode as E
from binspark.gtid import GtidSet, GtidSetBuilder
from binspark.verify.checks import Check, Handler, LogKind, route
from binspark.verify.findings import Code, Findings, Severity

_SHOWN = 300


class MysqlGtids(Check):
    """Collects the GTIDs of complete transactions. `previous` is None if the log does not tell."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self.previous: GtidSet | None = None
        self.previous_offset = 0
        self._collected = GtidSetBuilder()
        self._has_gtids = False
        self._anonymous: Event | None = None

    def handlers(self) -> dict[int, Handler]:
        return route(self._begin, E.PREVIOUS_GTIDS)

    def complete(self, first: Event) -> None:
        """Take note of a complete transaction, whose first event this is."""
        gtid = first.body.gtid
        if gtid is None:
            self._anonymous = self._anonymous or first
            return
        self._has_gtids = True
        severity = Severity.WARNING if self.kind.relay else Severity.ERROR
        if gtid in self._collected:
            self.findings.add(severity, Code.GTID_DUPLICATE, f"{gtid} is in the file twice", first.offset, first.type)
        if self.previous is not None and gtid in self.previous:
            message = f"{gtid} is also in an earlier file, says this file's PREVIOUS_GTIDS"
            self.findings.add(severity, Code.GTID_ALREADY_LOGGED, message, first.offset, first.type)
        self._collected.add(gtid)

    def collected(self) -> GtidSet:
        """Return the GTIDs of the file."""
        return self._collected.freeze()

    def finish(self) -> None:
        if self._anonymous and self._has_gtids:
            message = "transactions with and without GTID are mixed; this is the first one without"
            self.findings.info(Code.GTID_MIXED, message, self._anonymous.offset, self._anonymous.type)
        if self.previous is None or self.kind.relay:
            return
        missing = gaps(self.previous, self.collected())
        if missing:
            self.findings.info(Code.GTID_GAP, f"numbers are left out: {shown(missing)}")

    def _begin(self, event: Event) -> None:
        body: PreviousGtids = event.body
        if self.previous is None:
            self.previous, self.previous_offset = body.gtid_set, event.offset


def gaps(previous: GtidSet, collected: GtidSet) -> GtidSet:
    """Return the numbers that a file leaves out: above the earlier files' last, below its own last."""
    spans = []
    for uuid, tag in collected.sources:
        first, last = previous.last(uuid, tag) + 1, collected.last(uuid, tag)
        spans.append(((uuid, tag), ((first, last + 1),) if first <= last else ()))
    return GtidSet.from_parts(spans) - collected


def continuity(before: GtidSet, collected: GtidSet, after: GtidSet) -> tuple[GtidSet, GtidSet]:
    """Compare what a file says was logged before it with what was: return what is lost, and what it does not know."""
    known = before | collected
    return after - known, known - after


def shown(gtids: GtidSet) -> str:
    """Print a set, the beginning of it if it is long."""
    text = str(gtids)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({gtids.count()} in all)"
