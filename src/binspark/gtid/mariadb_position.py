"""Where a MariaDB replica is: the newest GTID that it has, in each domain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from binspark.errors import EncodeError, Malformed
from binspark.gtid.mariadb_gtid import MariadbGtid, parse_list

_MAX_SEQUENCE = (1 << 64) - 1


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MariadbPosition:
    """One GTID a domain: `gtid_slave_pos`, `gtid_binlog_pos`, `gtid_current_pos`. Immutable, hashable.

    A domain is one stream of rising numbers, whoever writes them. A position stands for all that comes up to its GTID
    in each of its domains; the operators compare numbers within a domain. Two servers that wrote the same number have
    parted ways; the higher server id then counts as newer, so that the laws below hold for any two positions.

    operator   meaning                                                  law
    a | b      the newer GTID of each domain                            a <= b  is  a | b == b
    a & b      the older GTID of each domain that both have             a <= b  is  a & b == a
    a - b      the GTIDs of a that b has not reached                    (a - b) | b == a | b;  not (a - b)  is  a <= b
    a <= b     b has reached all of a; < also says that they differ
    x in a     a GTID, a position, or the text of either: reached
    """

    gtids: tuple[MariadbGtid, ...]

    def __init__(self, text: str = "") -> None:
        object.__setattr__(self, "gtids", _one_per_domain(parse_list(text)))

    @classmethod
    def of(cls, gtids: Iterable[MariadbGtid]) -> MariadbPosition:
        """Make a position of GTIDs in any order; two of one domain are `Malformed`, as for the server."""
        made = cls()
        object.__setattr__(made, "gtids", _one_per_domain(gtids))
        return made

    def __str__(self) -> str:
        return ",".join(map(str, self.gtids))

    def __repr__(self) -> str:
        return f"MariadbPosition({str(self)!r})"

    def __or__(self, other: MariadbPosition) -> MariadbPosition:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        newest = {gtid.domain: gtid for gtid in self.gtids}
        for gtid in other.gtids:
            newest[gtid.domain] = max(gtid, newest.get(gtid.domain, gtid), key=_age)
        return MariadbPosition.of(newest.values())

    def __and__(self, other: MariadbPosition) -> MariadbPosition:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        theirs = {gtid.domain: gtid for gtid in other.gtids}
        common = (gtid for gtid in self.gtids if gtid.domain in theirs)
        return MariadbPosition.of(min(gtid, theirs[gtid.domain], key=_age) for gtid in common)

    def __sub__(self, other: MariadbPosition) -> MariadbPosition:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        return MariadbPosition.of(gtid for gtid in self.gtids if gtid not in other)

    def __le__(self, other: MariadbPosition) -> bool:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        return all(gtid in other for gtid in self.gtids)

    def __lt__(self, other: MariadbPosition) -> bool:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        return self != other and self <= other

    def __ge__(self, other: MariadbPosition) -> bool:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        return other <= self

    def __gt__(self, other: MariadbPosition) -> bool:
        if not isinstance(other, MariadbPosition):
            return NotImplemented
        return other < self

    def __contains__(self, item: MariadbGtid | MariadbPosition | str) -> bool:
        if isinstance(item, MariadbGtid):
            mine = self.get(item.domain)
            return mine is not None and item.age <= mine.age
        return (MariadbPosition(item) if isinstance(item, str) else item) <= self

    def __bool__(self) -> bool:
        return bool(self.gtids)

    def __len__(self) -> int:
        return len(self.gtids)

    def __iter__(self) -> Iterator[MariadbGtid]:
        return iter(self.gtids)

    @property
    def domains(self) -> tuple[int, ...]:
        """The domains, in order."""
        return tuple(gtid.domain for gtid in self.gtids)

    def get(self, domain: int) -> MariadbGtid | None:
        """Return the GTID of a domain; None when it has none."""
        return next((gtid for gtid in self.gtids if gtid.domain == domain), None)

    def advance(self, gtid: MariadbGtid) -> MariadbPosition:
        """Return the position after this transaction, which was read next: its domain is there now, newer or not."""
        others = (other for other in self.gtids if other.domain != gtid.domain)
        return MariadbPosition.of((*others, gtid))

    def next_gtids(self) -> tuple[MariadbGtid, ...]:
        """Return the GTID after the last one of each domain, should the same server write it."""
        return tuple(next_in_domain(gtid, gtid.sequence) for gtid in self.gtids)


def next_in_domain(last: MariadbGtid, highest_sequence: int) -> MariadbGtid:
    """Return the GTID that the server of `last` gives next, where a number up to `highest_sequence` was seen."""
    if highest_sequence == _MAX_SEQUENCE:
        raise EncodeError(f"domain {last.domain} has used up all numbers of a GTID")
    return MariadbGtid(last.domain, last.server, highest_sequence + 1)


def _age(gtid: MariadbGtid) -> tuple[int, int]:
    return gtid.age


def _one_per_domain(gtids: Iterable[MariadbGtid]) -> tuple[MariadbGtid, ...]:
    found: dict[int, MariadbGtid] = {}
    for gtid in gtids:
        known = found.setdefault(gtid.domain, gtid)
        if known is not gtid:
            raise Malformed(f"{gtid} and {known} are both of domain {gtid.domain}: a position has one GTID a domain")
    return tuple(found[domain] for domain in sorted(found))
