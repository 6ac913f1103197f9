"""The GTIDs of a log: each once, in order, and what the events at the beginning of a file say about earlier files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from uuid import UUID

from binspark.event import Event, GtidList, PreviousGtids
from binspark.frames import EventCode as E
from binspark.gtid import GtidSet, GtidSetBuilder, MariadbGtid
from binspark.gtid.intervals import Interval
from binspark.gtid.text import Source
from binspark.verify.checks import Check, Handler, LogKind, route
from binspark.verify.findings import Code, Findings, Severity
from binspark.verify.sound_part import SoundPart

_MAX_SHOWN = 300
_DOMAIN_AND_SERVER = Struct("<qq")


class MysqlGtids(Check):
    """Collects the GTIDs of complete transactions.

    previous   what PREVIOUS_GTIDS says is in earlier files; None if the log has no such event
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self.previous: GtidSet | None = None
        self.previous_offset = 0
        self._previous: GtidSetBuilder | None = None
        self._collected = GtidSetBuilder()
        self._has_gtids = False
        self._anonymous: Event | None = None

    def handlers(self) -> dict[int, Handler]:
        """Return a handler of PREVIOUS_GTIDS; complete transactions come through `complete`."""
        return route(self._begin, E.PREVIOUS_GTIDS)

    def complete(self, first: Event) -> None:
        """Add a complete transaction, which begins with this event."""
        gtid = first.body.gtid
        if gtid is None:
            self._anonymous = self._anonymous or first
            return
        self._has_gtids = True
        severity = Severity.WARNING if self.kind.relay else Severity.ERROR
        if gtid in self._collected:
            self.findings.add(severity, Code.GTID_DUPLICATE, f"{gtid} is in the file twice", first.offset, first.type)
        if self.previous is not None and gtid in self.previous:
            message = f"{gtid} is also in an earlier file, according to PREVIOUS_GTIDS of this file"
            self.findings.add(severity, Code.GTID_ALREADY_LOGGED, message, first.offset, first.type)
        self._collected.add(gtid)

    @property
    def has_anonymous(self) -> bool:
        """Whether there was a transaction without GTID."""
        return self._anonymous is not None

    def accepts(self, part: SoundPart, /) -> bool:
        """Return whether no GTID of a part was there before."""
        if self.previous is not None and self._previous is None:
            self._previous = GtidSetBuilder(self.previous)
        last: dict[Source, int] = {}
        for source, interval in sorted(_mysql_intervals(part)):
            if interval[0] < last.get(source, 0) or self._collected.overlaps(source, interval):
                return False
            if self._previous is not None and self._previous.overlaps(source, interval):
                return False
            last[source] = interval[1]
        return True

    def skip(self, part: SoundPart, /) -> None:
        """Add the GTIDs of a part."""
        for source, interval in _mysql_intervals(part):
            self._has_gtids = True
            self._collected.add_interval(source, interval)

    def collected(self) -> GtidSet:
        """Return the GTIDs of the file."""
        return self._collected.freeze()

    def finish(self) -> None:
        """Report gaps, and transactions with and without GTIDs in one file."""
        if self._anonymous and self._has_gtids:
            message = "transactions with and without GTID are mixed; this is the first one without"
            self.findings.info(Code.GTID_MIXED, message, self._anonymous.offset, self._anonymous.type)
        if self.previous is None or self.kind.relay:
            return
        missing = gaps(self.previous, self.collected())
        if missing:
            self.findings.info(Code.GTID_GAP, f"GTIDs are skipped: {shortened(missing)}")

    def _begin(self, event: Event) -> None:
        body: PreviousGtids = event.body
        if self.previous is None:
            self.previous, self.previous_offset = body.gtid_set, event.offset


def _mysql_intervals(part: SoundPart) -> Iterator[tuple[Source, Interval]]:
    for interval in part.intervals:
        if interval.kind == E.GTID:
            yield (str(UUID(bytes=interval.source)), ""), (interval.start, interval.stop)


def gaps(previous: GtidSet, collected: GtidSet) -> GtidSet:
    """Return the GTIDs that a file skips: after the last one of earlier files and before its own last one."""
    spans = []
    for uuid, tag in collected.sources:
        first, last = previous.last(uuid, tag) + 1, collected.last(uuid, tag)
        spans.append(((uuid, tag), ((first, last + 1),) if first <= last else ()))
    return GtidSet.from_parts(spans) - collected


def mysql_differences(before: GtidSet, collected: GtidSet, after: GtidSet) -> tuple[GtidSet, GtidSet]:
    """Compare PREVIOUS_GTIDS of a file (`after`) with the file before it.

    Return the transactions that are lost, because the file before does not have them, and those that are unexpected,
    because PREVIOUS_GTIDS does not have them.
    """
    known = before | collected
    return after - known, known - after


def shortened(gtids: GtidSet | str) -> str:
    """Return a set as text: the beginning of it if it is long."""
    text = str(gtids)
    if len(text) <= _MAX_SHOWN:
        return text
    return f"{text[:_MAX_SHOWN]}…" if isinstance(gtids, str) else f"{text[:_MAX_SHOWN]}… ({gtids.count()} in all)"


LastGtids = dict[tuple[int, int], MariadbGtid]
"""The last GTID of each domain and server."""


class MariadbGtids(Check):
    """Collects the last GTIDs of complete transactions, which must rise within a domain.

    listed      what GTID_LIST says is in earlier files; None if the log has no such event
    state       the last GTIDs after this file, those of GTID_LIST included
    collected   the last GTIDs in this file, in the order in which they were written
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self.listed: LastGtids | None = None
        self.listed_offset = 0
        self.state: LastGtids = {}
        self.collected: LastGtids = {}
        self._last_of_domain: dict[int, MariadbGtid] = {}
        self._gap_expected = False

    def handlers(self) -> dict[int, Handler]:
        """Return a handler of GTID_LIST; complete transactions come through `complete`."""
        return route(self._begin, E.GTID_LIST)

    @property
    def may_skip(self) -> bool:
        """Whether no gap is expected: the next transaction is not lost, or shows which ones are."""
        return not (self._gap_expected and self._last_of_domain)

    def accepts(self, part: SoundPart, /) -> bool:
        """Return whether the numbers of a part rise by one in each domain, and none was there before."""
        last = {domain: gtid.sequence for domain, gtid in self._last_of_domain.items()}
        for domain, server, start, stop in _mariadb_intervals(part):
            own = self.state.get((domain, server))
            if start != last.get(domain, start - 1) + 1 or (own is not None and start <= own.sequence < stop):
                return False
            last[domain] = stop - 1
        return True

    def skip(self, part: SoundPart, /) -> None:
        """Note the last GTIDs of a part."""
        for domain, server, _start, stop in _mariadb_intervals(part):
            self._add(MariadbGtid(domain, server, stop - 1))

    def damaged(self) -> None:
        """Expect a gap in the sequence."""
        self._gap_expected = True

    def complete(self, first: Event) -> None:
        """Add a complete transaction, which begins with this event."""
        gtid: MariadbGtid = first.body.gtid(first.header.server_id)
        key = (gtid.domain, gtid.server)
        own, domain = self.state.get(key), self._last_of_domain.get(gtid.domain)
        if own is not None and gtid == own:
            self._report_duplicate(gtid, first)
        elif domain is not None and gtid.sequence <= domain.sequence:
            message = f"{gtid} follows {domain}, expected a higher number in domain {gtid.domain}"
            self.findings.warning(Code.GTID_ORDER, message, first.offset, first.type)
        elif domain is not None and gtid.sequence > domain.sequence + 1 and not self._gap_expected:
            message = f"{gtid} follows {domain}: {gtid.sequence - domain.sequence - 1} numbers are skipped"
            self.findings.info(Code.GTID_GAP, message, first.offset, first.type)
        self._add(gtid)

    def _add(self, gtid: MariadbGtid) -> None:
        key = (gtid.domain, gtid.server)
        self._gap_expected = False
        self.collected.pop(key, None)  # to insert it again as the last one
        self.state[key] = self.collected[key] = self._last_of_domain[gtid.domain] = gtid

    def _report_duplicate(self, gtid: MariadbGtid, first: Event) -> None:
        severity = Severity.WARNING if self.kind.relay else Severity.ERROR
        if (gtid.domain, gtid.server) in self.collected:
            self.findings.add(severity, Code.GTID_DUPLICATE, f"{gtid} is in the file twice", first.offset, first.type)
        else:
            message = f"{gtid} is also in an earlier file, according to GTID_LIST of this file"
            self.findings.add(severity, Code.GTID_ALREADY_LOGGED, message, first.offset, first.type)

    def _begin(self, event: Event) -> None:
        if self.kind.relay or self.listed is not None:
            return  # the lists in a relay log are those of the source
        body: GtidList = event.body
        self.listed = {(gtid.domain, gtid.server): gtid for gtid in body.gtids}
        self.listed_offset = event.offset
        self.state = {**self.listed, **self.state}
        self._last_of_domain = {gtid.domain: gtid for gtid in body.gtids} | self._last_of_domain


def _mariadb_intervals(part: SoundPart) -> Iterator[tuple[int, int, int, int]]:
    for interval in part.intervals:
        if interval.kind == E.MARIADB_GTID:
            yield *_DOMAIN_AND_SERVER.unpack(interval.source), interval.start, interval.stop


@dataclass(frozen=True, slots=True)
class MariadbDifferences:
    """How GTID_LIST of a file differs from the file before it."""

    lost: tuple[MariadbGtid, ...]
    unexpected: tuple[MariadbGtid, ...]
    deleted_domains: tuple[int, ...]


def mariadb_differences(known: LastGtids, collected: LastGtids, listed: LastGtids) -> MariadbDifferences:
    """Compare GTID_LIST of a file (`listed`) with what is known after the file before, and was collected in it.

    A domain can be deleted from the list, but only when none of the server's logs has a transaction of it.
    """
    lost = tuple(gtid for key, gtid in listed.items() if _sequence(known, key) < gtid.sequence)
    deleted = _domains(known) - _domains(listed) - _domains(collected)
    unexpected = tuple(
        gtid for key, gtid in known.items() if key[0] not in deleted and _sequence(listed, key) < gtid.sequence
    )
    return MariadbDifferences(lost, unexpected, tuple(sorted(deleted)))


def _domains(gtids: LastGtids) -> set[int]:
    return {domain for domain, _ in gtids}


def _sequence(gtids: LastGtids, key: tuple[int, int]) -> int:
    return gtids[key].sequence if key in gtids else -1
