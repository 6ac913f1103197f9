"""What a MariaDB server's log holds: the last GTID of each server, in each domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from binspark.gtid.mariadb_gtid import MariadbGtid, parse_list
from binspark.gtid.mariadb_position import MariadbPosition, next_in_domain


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MariadbState:
    """Several servers a domain: `gtid_binlog_state`, and the GTID_LIST event at the head of a log. Immutable, hashable.

    The order matters in one way: the last GTID of a domain is the one that was written last, even if its number is not
    the highest; `position` is made of those. The normal form sorts by domain, and within a domain by server, but for
    the last one. A server that comes up twice in a domain counts where it comes up last, as for the server.

    operator   meaning
    a | b      the highest number of each server. A domain that differs in a and b has the highest number of all last:
               between two logs, numbers are the only order there is. Commutative, associative, idempotent.
    a & b      the lower number of each server that both have
    a - b      the GTIDs of a that b does not contain;  (a - b) <= a;  not (a - b)  is  a <= b
    a <= b     each server's number in a is at most its number in b
    x in a     a GTID, a state, or the text of either: a has this number of its server, or a higher one
    a == b     the same GTIDs, and the same ones last
    """

    gtids: tuple[MariadbGtid, ...]

    def __init__(self, text: str = "") -> None:
        object.__setattr__(self, "gtids", _normal_order(parse_list(text)))

    @classmethod
    def of(cls, gtids: Iterable[MariadbGtid]) -> MariadbState:
        """Make a state of GTIDs in the order in which they were written or listed."""
        made = cls()
        object.__setattr__(made, "gtids", _normal_order(gtids))
        return made

    def __str__(self) -> str:
        return ",".join(map(str, self.gtids))

    def __repr__(self) -> str:
        return f"MariadbState({str(self)!r})"

    def __or__(self, other: MariadbState) -> MariadbState:
        if not isinstance(other, MariadbState):
            return NotImplemented
        mine, theirs = _by_domain(self.gtids), _by_domain(other.gtids)
        return MariadbState.of(
            gtid for domain in mine | theirs for gtid in _unite_domain(mine.get(domain, []), theirs.get(domain, []))
        )

    def __and__(self, other: MariadbState) -> MariadbState:
        if not isinstance(other, MariadbState):
            return NotImplemented
        pairs = ((gtid, other.get(gtid.domain, gtid.server)) for gtid in self.gtids)
        common = (min(mine, theirs) for mine, theirs in pairs if theirs is not None)
        return MariadbState.of(sorted(common, key=lambda gtid: gtid.age))

    def __sub__(self, other: MariadbState) -> MariadbState:
        if not isinstance(other, MariadbState):
            return NotImplemented
        return MariadbState.of(gtid for gtid in self.gtids if gtid not in other)

    def __le__(self, other: MariadbState) -> bool:
        if not isinstance(other, MariadbState):
            return NotImplemented
        return all(gtid in other for gtid in self.gtids)

    def __ge__(self, other: MariadbState) -> bool:
        if not isinstance(other, MariadbState):
            return NotImplemented
        return other <= self

    def __contains__(self, item: MariadbGtid | MariadbState | str) -> bool:
        if isinstance(item, MariadbGtid):
            mine = self.get(item.domain, item.server)
            return mine is not None and item.sequence <= mine.sequence
        return (MariadbState(item) if isinstance(item, str) else item) <= self

    def __bool__(self) -> bool:
        return bool(self.gtids)

    def __len__(self) -> int:
        return len(self.gtids)

    def __iter__(self) -> Iterator[MariadbGtid]:
        return iter(self.gtids)

    @property
    def domains(self) -> tuple[int, ...]:
        """The domains, in order, each once."""
        return tuple(_by_domain(self.gtids))

    @property
    def position(self) -> MariadbPosition:
        """The GTID that was written last in each domain: the server's `gtid_binlog_pos`."""
        return MariadbPosition.of(listed[-1] for listed in _by_domain(self.gtids).values())

    def get(self, domain: int, server: int) -> MariadbGtid | None:
        """Return the GTID of one server in a domain; None when it has none."""
        return next((gtid for gtid in self.gtids if (gtid.domain, gtid.server) == (domain, server)), None)

    def add(self, gtid: MariadbGtid) -> MariadbState:
        """Return the state after this transaction was written."""
        return MariadbState.of((*self.gtids, gtid))

    def next_gtids(self) -> tuple[MariadbGtid, ...]:
        """Return what the last server of each domain gives next: one more than the highest number in the domain."""
        return tuple(
            next_in_domain(listed[-1], max(gtid.sequence for gtid in listed))
            for listed in _by_domain(self.gtids).values()
        )


def _by_domain(gtids: Iterable[MariadbGtid]) -> dict[int, list[MariadbGtid]]:
    domains: dict[int, list[MariadbGtid]] = {}
    for gtid in gtids:
        domains.setdefault(gtid.domain, []).append(gtid)
    return domains


def _normal_order(gtids: Iterable[MariadbGtid]) -> tuple[MariadbGtid, ...]:
    normal: list[MariadbGtid] = []
    for _, listed in sorted(_by_domain(gtids).items()):
        last_of_server = {gtid.server: gtid for gtid in listed}
        last = listed[-1]
        del last_of_server[last.server]
        normal += [*sorted(last_of_server.values()), last]
    return tuple(normal)


def _unite_domain(mine: list[MariadbGtid], theirs: list[MariadbGtid]) -> list[MariadbGtid]:
    """Return one domain's GTIDs, the last one last. Both lists are in normal order; an empty one has no say."""
    if mine == theirs or not theirs:
        return mine
    if not mine:
        return theirs
    return sorted(mine + theirs, key=lambda gtid: gtid.age)
