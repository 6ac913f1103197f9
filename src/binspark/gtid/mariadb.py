"""What a MariaDB server's log holds: the last GTID of each server, in each domain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from binspark.errors import EncodeError, Malformed
from binspark.gtid.names import SPACE, refuse, shown

_MAX_U32 = (1 << 32) - 1
_MAX_U64 = (1 << 64) - 1

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
            raise Malformed(f"{self} is not a MariaDB GTID: its parts have 32, 32 and 64 bits")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `domain-server-sequence`."""
        match = _GTID.fullmatch(text)
        if not match:
            raise Malformed(f"{shown(text)} is not a MariaDB GTID: domain-server-sequence")
        domain, server, sequence = match.groups()
        return cls(int(domain), int(server), int(sequence))

    @property
    def age(self) -> tuple[int, int]:
        """What decides which of two GTIDs of a domain is newer: the number; the server only breaks a tie."""
        return self.sequence, self.server

    def __str__(self) -> str:
        return f"{self.domain}-{self.server}-{self.sequence}"


def parse_list(text: str) -> Iterator[MariadbGtid]:
    """Parse GTIDs with a comma between each two, in the order of the text; nothing but space is an empty list.

    The server allows space and a plus sign before each number. Space at the end, which it refuses, is allowed too:
    these texts are often read from files.
    """
    offset = 0
    more = bool(text.strip(" \t\n\v\f\r"))
    while more:
        match = _GTID.match(text, offset)
        if not match:
            raise refuse(text, offset, "a MariaDB GTID, domain-server-sequence,")
        domain, server, sequence = map(int, match.groups())
        if domain > _MAX_U32 or server > _MAX_U32 or sequence > _MAX_U64:
            raise refuse(text, offset, "parts of 32, 32 and 64 bits")
        yield MariadbGtid(domain, server, sequence)
        more = text.startswith(",", match.end())
        offset = match.end() + 1
        if not more and match.end() < len(text):
            raise refuse(text, match.end(), "a comma or the end")


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
