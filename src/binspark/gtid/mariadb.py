"""MariaDB's GTIDs: the position (one GTID per domain) and the state (one per domain and server)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from binspark.errors import EncodeError, Malformed
from binspark.gtid.syntax import SPACE, refuse, shown
from binspark.html_table import html_table

_MAX_U32 = (1 << 32) - 1
_MAX_U64 = (1 << 64) - 1
MAX_SEQUENCE = _MAX_U64
"""The highest sequence number of a domain."""

_NUMBER = rf"{SPACE}\+?0*([0-9]{{1,20}})(?![0-9])"
_GTID = re.compile(rf"{_NUMBER}-{_NUMBER}-{_NUMBER}{SPACE}")


@dataclass(frozen=True, slots=True, order=True)
class MariadbGtid:
    """A MariaDB GTID: `0-1-42` is number 42 of domain 0, written by server 1."""

    domain: int
    server: int
    sequence: int

    def __post_init__(self) -> None:
        in_range = 0 <= self.domain <= _MAX_U32 and 0 <= self.server <= _MAX_U32 and 0 <= self.sequence <= _MAX_U64
        if not in_range:
            raise Malformed(f"invalid MariaDB GTID {self}, expected parts of at most 32, 32 and 64 bits")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `domain-server-sequence`."""
        match = _GTID.fullmatch(text)
        if not match:
            raise Malformed(f"invalid MariaDB GTID {shown(text)}, expected domain-server-sequence")
        domain, server, sequence = match.groups()
        return cls(int(domain), int(server), int(sequence))

    @property
    def age(self) -> tuple[int, int]:
        """The sort key by which one GTID of a domain is newer than another: the number, then the server id."""
        return self.sequence, self.server

    def __str__(self) -> str:
        return f"{self.domain}-{self.server}-{self.sequence}"


def parse_list(text: str) -> Iterator[MariadbGtid]:
    """Parse GTIDs separated by commas, in the order of the text; only whitespace is an empty list.

    The server allows whitespace and a plus sign before each number. It does not allow whitespace at the end; that is
    accepted here because these texts are often read from files, which end with a newline.
    """
    offset = 0
    more = bool(text.strip(" \t\n\v\f\r"))
    while more:
        match = _GTID.match(text, offset)
        if not match:
            raise refuse("list of MariaDB GTIDs", text, offset, "domain-server-sequence")
        domain, server, sequence = map(int, match.groups())
        if domain > _MAX_U32 or server > _MAX_U32 or sequence > _MAX_U64:
            raise refuse("list of MariaDB GTIDs", text, offset, "parts of at most 32, 32 and 64 bits")
        yield MariadbGtid(domain, server, sequence)
        more = text.startswith(",", match.end())
        offset = match.end() + 1
        if not more and match.end() < len(text):
            raise refuse("list of MariaDB GTIDs", text, match.end(), "a comma or the end")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MariadbPosition:
    """One GTID per domain: `gtid_slave_pos`, `gtid_binlog_pos`, `gtid_current_pos`. Immutable, hashable.

    A domain is one sequence of increasing numbers, whichever server writes them. A position represents all transactions
    up to its GTID in each of its domains; the operators compare numbers within a domain. Two servers that wrote the
    same number have diverged; the higher server id then counts as newer, so that the laws are valid for any positions.

    operator   meaning                                                  law
    a | b      the newer GTID of each domain                            a <= b  is  a | b == b
    a & b      the older GTID of each domain that both have             a <= b  is  a & b == a
    a - b      the GTIDs of a that b has not reached                    (a - b) | b == a | b;  not (a - b)  is  a <= b
    a <= b     b has reached all of a; < also requires that they differ
    x in a     a GTID, a position, or the text of either: reached
    """

    gtids: tuple[MariadbGtid, ...]

    def __init__(self, text: str = "") -> None:
        object.__setattr__(self, "gtids", _one_per_domain(parse_list(text)))

    @classmethod
    def of(cls, gtids: Iterable[MariadbGtid]) -> MariadbPosition:
        """Return the position of GTIDs in any order; two of one domain are `Malformed`, as for the server."""
        made = cls()
        object.__setattr__(made, "gtids", _one_per_domain(gtids))
        return made

    def __str__(self) -> str:
        return ",".join(map(str, self.gtids))

    def __repr__(self) -> str:
        return f"MariadbPosition({str(self)!r})"

    def _repr_html_(self) -> str:
        """Return the position as a table, for notebooks."""
        rows = ((gtid.domain, gtid.server, gtid.sequence) for gtid in self.gtids)
        return html_table(("domain", "server", "sequence number"), rows)

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
        """Return the GTID of a domain, or None if the position has none."""
        return next((gtid for gtid in self.gtids if gtid.domain == domain), None)

    def advance(self, gtid: MariadbGtid) -> MariadbPosition:
        """Return the position after this transaction was read: its GTID is that of its domain, newer or not."""
        others = (other for other in self.gtids if other.domain != gtid.domain)
        return MariadbPosition.of((*others, gtid))

    def next_gtids(self) -> tuple[MariadbGtid, ...]:
        """Return the GTID after the last one of each domain, if the same server writes it."""
        return tuple(next_in_domain(gtid, gtid.sequence) for gtid in self.gtids)


def next_in_domain(last: MariadbGtid, highest_sequence: int) -> MariadbGtid:
    """Return the next GTID that the server of `last` assigns in a domain whose highest number is `highest_sequence`."""
    if highest_sequence == _MAX_U64:
        raise EncodeError(f"domain {last.domain} has used up all GTID numbers (0 to {_MAX_U64})")
    return MariadbGtid(last.domain, last.server, highest_sequence + 1)


def _age(gtid: MariadbGtid) -> tuple[int, int]:
    return gtid.age


def _one_per_domain(gtids: Iterable[MariadbGtid]) -> tuple[MariadbGtid, ...]:
    found: dict[int, MariadbGtid] = {}
    for gtid in gtids:
        known = found.setdefault(gtid.domain, gtid)
        if known is not gtid:
            raise Malformed(f"{gtid} and {known} are both of domain {gtid.domain}, expected one GTID per domain")
    return tuple(found[domain] for domain in sorted(found))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MariadbState:
    """One GTID per domain and server: `gtid_binlog_state`, and the GTID_LIST event at the start of a log. Immutable.

    The order matters in one way: the last GTID of a domain is the one that was written last, even if its number is not
    the highest; `position` is made of those. The normal form sorts by domain, and within a domain by server, except
    for the last one. Of two GTIDs of one server in a domain the later one counts, as for the server.

    operator   meaning
    a | b      the highest number of each server. A domain that differs in a and b has its highest number last:
               between two logs, numbers are the only order. Commutative, associative, idempotent.
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
        """Return the state of GTIDs given in the order in which they were written or listed."""
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
        """Return the GTID of one server in a domain, or None if the state has none."""
        return next((gtid for gtid in self.gtids if (gtid.domain, gtid.server) == (domain, server)), None)

    def add(self, gtid: MariadbGtid) -> MariadbState:
        """Return the state after this transaction was written."""
        return MariadbState.of((*self.gtids, gtid))

    def next_gtids(self) -> tuple[MariadbGtid, ...]:
        """Return the next GTID of the last server of each domain: one more than the domain's highest number."""
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
    """Return one domain's GTIDs, the last one last. Both lists are in normal order; an empty one does not count."""
    if mine == theirs or not theirs:
        return mine
    if not mine:
        return theirs
    return sorted(mine + theirs, key=lambda gtid: gtid.age)
