"""The GTIDs of a MariaDB log: rising within a domain, none twice, and the list that each file begins with."""

from __future__ import annotations

from dataclasses import dataclass, field

from binspark.event import Event, GtidList
from binspark.frames import EventCode as E
from binspark.gtid import MariadbGtid
from binspark.verify.checks import Check, Handler, LogKind, route
from binspark.verify.findings import Code, Findings, Severity

Writers = dict[tuple[int, int], MariadbGtid]
"""The last GTID of each domain and server."""


@dataclass(slots=True)
class MariadbTrail:
    """What a file says was logged before it (None if it does not say), and what was after it."""

    listed: Writers | None = None
    listed_offset: int = 0
    state: Writers = field(default_factory=dict)


class MariadbGtids(Check):
    """Follows the GTIDs of complete transactions."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self.trail = MariadbTrail()
        self.collected: Writers = {}
        self._last_of_domain: dict[int, MariadbGtid] = {}
        self._gap_expected = False

    def handlers(self) -> dict[int, Handler]:
        return route(self._begin, E.GTID_LIST)

    def damaged(self) -> None:
        self._gap_expected = True

    def complete(self, first: Event) -> None:
        """Take note of a complete transaction, whose first event this is."""
        gtid: MariadbGtid = first.body.gtid(first.header.server_id)
        writer = (gtid.domain, gtid.server)
        own, domain = self.trail.state.get(writer), self._last_of_domain.get(gtid.domain)
        if own is not None and gtid == own:
            self._report_twice(gtid, first)
        elif domain is not None and gtid.sequence <= domain.sequence:
            message = f"{gtid} comes after {domain}: the numbers of domain {gtid.domain} do not grow"
            self.findings.warning(Code.GTID_ORDER, message, first.offset, first.type)
        elif domain is not None and gtid.sequence > domain.sequence + 1 and not self._gap_expected:
            message = f"{gtid} comes after {domain}: {gtid.sequence - domain.sequence - 1} numbers are left out"
            self.findings.info(Code.GTID_GAP, message, first.offset, first.type)
        self._gap_expected = False
        self.collected.pop(writer, None)  # so that the one that was written last stands last
        self.trail.state[writer] = self.collected[writer] = self._last_of_domain[gtid.domain] = gtid

    def _report_twice(self, gtid: MariadbGtid, first: Event) -> None:
        severity = Severity.WARNING if self.kind.relay else Severity.ERROR
        if (gtid.domain, gtid.server) in self.collected:
            self.findings.add(severity, Code.GTID_DUPLICATE, f"{gtid} is in the file twice", first.offset, first.type)
        else:
            message = f"{gtid} is also in an earlier file, says this file's GTID_LIST"
            self.findings.add(severity, Code.GTID_ALREADY_LOGGED, message, first.offset, first.type)

    def _begin(self, event: Event) -> None:
        if self.kind.relay or self.trail.listed is not None:
            return  # in a relay log these lists are the source's
        body: GtidList = event.body
        self.trail.listed = {(gtid.domain, gtid.server): gtid for gtid in body.gtids}
        self.trail.listed_offset = event.offset
        self.trail.state = {**self.trail.listed, **self.trail.state}
        self._last_of_domain = {gtid.domain: gtid for gtid in body.gtids} | self._last_of_domain


@dataclass(frozen=True, slots=True)
class Differences:
    """How a GTID_LIST differs from what the file before holds."""

    lost: tuple[MariadbGtid, ...]
    unexpected: tuple[MariadbGtid, ...]
    deleted_domains: tuple[int, ...]


def continuity(known: Writers, collected: Writers, listed: Writers) -> Differences:
    """Compare what a file says was logged before it with what was known after the file before, and collected in it.

    A domain can be deleted from the list, but only when none of the server's logs holds a transaction of it.
    """
    lost = tuple(gtid for writer, gtid in listed.items() if _number(known, writer) < gtid.sequence)
    deleted = _domains(known) - _domains(listed) - _domains(collected)
    unexpected = tuple(
        gtid for writer, gtid in known.items() if writer[0] not in deleted and _number(listed, writer) < gtid.sequence
    )
    return Differences(lost, unexpected, tuple(sorted(deleted)))


def _domains(writers: Writers) -> set[int]:
    return {domain for domain, _ in writers}


def _number(writers: Writers, writer: tuple[int, int]) -> int:
    return writers[writer].sequence if writer in writers else -1
