"""Which transactions are dumped, by their GTIDs: positions, domains and servers. And whether GTIDs are in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from binspark.dump.dumper import Warn
from binspark.dump.settings import DumpSettings
from binspark.errors import Malformed, OptionError
from binspark.gtid import MariadbGtid

_STOP, _START = "--stop-position", "--start-position"


@dataclass
class _Window:
    """The transactions of a domain after a start and up to a stop, both of which may be missing.

    The transactions of a log are not always in order: those between the first one that is inside and the stop are all
    inside, whatever their number is.
    """

    start: MariadbGtid | None = None
    stop: MariadbGtid | None = None
    is_active: bool = False
    has_passed: bool = False

    @property
    def has_finished(self) -> bool:
        return self.stop is not None and self.has_passed

    def excludes(self, gtid: MariadbGtid) -> bool:
        if self.has_passed:
            return True
        sequence = gtid.sequence
        if self.is_active:
            if self.stop is None or sequence < self.stop.sequence:
                return False
            self.is_active, self.has_passed = False, True
            return sequence > self.stop.sequence
        if self.stop is not None and sequence > self.stop.sequence:
            return True
        if self.start is not None and sequence < self.start.sequence:
            return True
        self.is_active = True
        self.has_passed = self.stop is not None and sequence == self.stop.sequence
        return self.start is not None and sequence == self.start.sequence


class _Windows:
    """The windows of all domains. Where there are stops, domains without one are excluded."""

    def __init__(self, starts: Sequence[MariadbGtid], stops: Sequence[MariadbGtid]) -> None:
        self._windows: dict[int, _Window] = {}
        for gtid in starts:
            self._windows.setdefault(gtid.domain, _Window()).start = gtid
        for gtid in stops:
            self._windows.setdefault(gtid.domain, _Window()).stop = gtid
        self._has_stops = bool(stops)

    @property
    def has_finished(self) -> bool:
        return self._has_stops and all(
            window.has_finished for window in self._windows.values() if window.stop is not None
        )

    def excludes(self, gtid: MariadbGtid) -> bool:
        window = self._windows.get(gtid.domain)
        if window is None:
            return self._has_stops
        if self._has_stops and window.stop is None:
            return True
        return window.excludes(gtid)

    def unreached(self) -> list[MariadbGtid]:
        """Return the stops that were not reached."""
        return [window.stop for window in self._windows.values() if window.stop is not None and not window.has_passed]


@dataclass(frozen=True)
class IdFilter:
    """Domains or servers by their numbers: only those of a list, or all but those."""

    only: frozenset[int] | None
    without: frozenset[int] | None

    def excludes(self, number: int) -> bool:
        """Return whether a domain or server is excluded."""
        if self.only is not None and number not in self.only:
            return True
        return self.without is not None and number in self.without

    @property
    def is_given(self) -> bool:
        """Whether there is a list."""
        return self.only is not None or self.without is not None


class GtidFilter:
    """Decides at each GTID whether the events up to the next one are dumped."""

    def __init__(self, settings: DumpSettings) -> None:
        own = settings.mariadb
        starts = [gtid for gtid in own.start_gtids if gtid.sequence]
        stops = list(own.stop_gtids)
        if own.gtid_strict_mode:
            _refuse_reversed(starts, stops)
        self.starts, self.stops = starts, stops
        self._windows = _Windows(starts, stops)
        self._domains = IdFilter(own.do_domain_ids, own.ignore_domain_ids)
        server_id, servers = settings.selection.server_id, own.do_server_ids
        self.servers = IdFilter(servers if server_id is None else frozenset({server_id}), own.ignore_server_ids)
        has_positions = bool(starts or stops)
        self.filters_groups = has_positions or self._domains.is_given
        self.is_given = self.filters_groups or self.servers.is_given

    @property
    def has_finished(self) -> bool:
        """Whether no later transaction is wanted."""
        return self._windows.has_finished

    def excludes(self, gtid: MariadbGtid) -> bool:
        """Return whether a transaction is excluded. Transactions are given in the order of the log."""
        return self._windows.excludes(gtid) or self._domains.excludes(gtid.domain) or self.servers.excludes(gtid.server)

    def warn_about_stops(self, warn: Warn) -> None:
        """Warn about stops that the logs do not contain."""
        for gtid in self._windows.unreached():
            warn(f"the logs end before {_STOP} {gtid}")


@dataclass
class _Audit:
    """What is known of the transactions of a domain: where they should start, the last one, and those out of order."""

    start: MariadbGtid
    last: MariadbGtid
    late: list[tuple[MariadbGtid, MariadbGtid]] = field(default_factory=list)


class GtidOrder:
    """Checks that the GTIDs of each domain ascend, and that the logs have what the positions ask for."""

    def __init__(self, filters: GtidFilter, *, is_strict: bool) -> None:
        self._filters = filters
        self._is_strict = is_strict
        self.is_checked = True
        """Whether the order is still of interest."""
        self._audits: dict[int, _Audit] = {}
        self._start_at(filters.starts)

    def begin(self, gtids: Sequence[MariadbGtid]) -> None:
        """Take the GTID list of the first log; raise if transactions before it are wanted."""
        if not self._audits:
            self._start_at(gtids)
        for gtid in gtids:
            audit = self._audits.get(gtid.domain)
            if audit is None:
                raise OptionError(
                    f"does not name a position in domain {gtid.domain}, of which the logs begin after {gtid}: "
                    f"add {gtid} to it",
                    option=_START,
                )
            if audit.start.sequence < gtid.sequence:
                raise OptionError(
                    f"({audit.start}) is not in the logs: those of domain {gtid.domain} begin after {gtid}",
                    option=_START,
                )
            if gtid.sequence > audit.last.sequence:
                audit.last = gtid
        if not self._filters.starts:
            self._check_stops()

    def record(self, gtid: MariadbGtid) -> None:
        """Take the GTID of a transaction; where order is required, raise if it is out of order."""
        audit = self._audits.get(gtid.domain)
        if audit is None:
            self._audits[gtid.domain] = _Audit(MariadbGtid(gtid.domain, 0, 0), gtid)
        elif audit.start.sequence <= gtid.sequence <= audit.last.sequence:
            if self._is_strict:
                raise Malformed(f"GTID {gtid} after {audit.last} is out of order; --skip-gtid-strict-mode allows that")
            audit.late.append((gtid, audit.last))
        else:
            audit.last = gtid

    def sequences(self, domain: int) -> tuple[int, int]:
        """Return the sequence numbers between which a GTID of a domain would be out of order."""
        audit = self._audits.get(domain)
        return (0, -1) if audit is None else (audit.start.sequence, audit.last.sequence)

    def record_checked(self, gtid: MariadbGtid) -> None:
        """Take the last GTID of transactions whose order was checked already."""
        audit = self._audits.get(gtid.domain)
        if audit is not None:
            audit.last = gtid

    def finish(self, warn: Warn) -> None:
        """Report what is wrong at the end; where order is required, raise."""
        problems = [
            f"the logs end before {_START} {audit.start}"
            for audit in self._audits.values()
            if audit.last.sequence < audit.start.sequence
        ]
        if problems and self._is_strict:
            raise Malformed("; ".join(problems))
        late = [(gtid, last) for audit in self._audits.values() for gtid, last in audit.late]
        for problem in (*problems, *(f"GTID {gtid} after {last} is out of order" for gtid, last in late)):
            warn(problem)

    def _start_at(self, gtids: Iterable[MariadbGtid]) -> None:
        for gtid in gtids:
            audit = self._audits.setdefault(gtid.domain, _Audit(gtid, MariadbGtid(gtid.domain, 0, 0)))
            if gtid.sequence > audit.start.sequence:
                audit.start = gtid

    def _check_stops(self) -> None:
        for gtid in self._filters.stops:
            audit = self._audits.get(gtid.domain)
            if audit is not None and gtid.sequence <= audit.start.sequence:
                raise OptionError(
                    f"({gtid}) is not in the logs: those of domain {gtid.domain} begin after {audit.start}",
                    option=_STOP,
                )


def _refuse_reversed(starts: Sequence[MariadbGtid], stops: Sequence[MariadbGtid]) -> None:
    start_of = {gtid.domain: gtid for gtid in starts}
    for stop in stops:
        start = start_of.get(stop.domain)
        if start is not None and start.sequence > stop.sequence:
            raise OptionError(f"({stop}) is before {_START} {start}", option=_STOP)
