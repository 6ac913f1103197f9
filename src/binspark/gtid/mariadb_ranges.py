"""Sets of MariaDB's GTIDs, as people select transactions: single ones, and ranges of a domain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from binspark.errors import Malformed
from binspark.gtid.mariadb import MAX_SEQUENCE, MariadbGtid
from binspark.gtid.syntax import shown

_GTID = r"(\d{1,10})-(\d{1,10})-(\d{1,20})"
_TERM = re.compile(rf"(?:{_GTID})?(\s*\.\.\s*)?(?:{_GTID}|(\d{{1,20}}))?")
_EXPECTED = "a GTID such as 0-1-42, or a range: 0-1-40..0-1-50, 0-1-40..50, ..0-1-50 or 0-1-40.."


class _Range(NamedTuple):
    """The transactions of a domain whose numbers are from `low` to `high`, whichever server wrote them."""

    domain: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, init=False, repr=False)
class MariadbRanges:
    """Some transactions of MariaDB: immutable, hashable, with `in`.

    0-1-42                  this transaction
    0-1-40..0-1-50          those of domain 0 with the numbers 40 to 50, whichever server wrote them; also 0-1-40..50
    ..0-1-50                all up to number 50 of domain 0, as the position 0-1-50 means it to a replica
    0-1-40..                all from number 40 of domain 0 on

    Several are separated by commas. Numbers of a domain increase from server to server, so a range may span a failover.
    """

    text: str
    _gtids: frozenset[MariadbGtid]
    _ranges: tuple[_Range, ...]

    def __init__(self, text: str) -> None:
        gtids: set[MariadbGtid] = set()
        ranges: list[_Range] = []
        for term in text.split(","):
            parsed = _parse(term.strip())
            if isinstance(parsed, MariadbGtid):
                gtids.add(parsed)
            else:
                ranges.append(parsed)
        object.__setattr__(self, "text", ",".join("".join(term.split()) for term in text.split(",")))
        object.__setattr__(self, "_gtids", frozenset(gtids))
        object.__setattr__(self, "_ranges", tuple(ranges))

    def __contains__(self, gtid: MariadbGtid) -> bool:
        return gtid in self._gtids or any(
            domain == gtid.domain and low <= gtid.sequence <= high for domain, low, high in self._ranges
        )

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"MariadbRanges({self.text!r})"


def _parse(term: str) -> MariadbGtid | _Range:
    match = _TERM.fullmatch(term)
    if match is None or not term:
        raise Malformed(f"invalid GTIDs {shown(term)}, expected {_EXPECTED}")
    first = _gtid(match.groups()[:3])
    last = _gtid(match.groups()[4:7])
    if match[4] is None:
        if first is None or last is not None or match[8] is not None:
            raise Malformed(f"invalid GTIDs {shown(term)}, expected {_EXPECTED}")
        return first
    return _range(term, first, last, match[8])


def _gtid(parts: tuple[str | None, ...]) -> MariadbGtid | None:
    return None if parts[0] is None else MariadbGtid(*(int(part or 0) for part in parts))


def _range(term: str, first: MariadbGtid | None, last: MariadbGtid | None, number: str | None) -> _Range:
    either = first or last
    if either is None or (first is None and number is not None):
        raise Malformed(f"invalid GTIDs {shown(term)}, expected {_EXPECTED}")
    if first is not None and last is not None and first.domain != last.domain:
        raise Malformed(f"{term} is a range of two domains, {first.domain} and {last.domain}; expected one")
    low = 0 if first is None else first.sequence
    high = last.sequence if last is not None else MAX_SEQUENCE if number is None else int(number)
    if low > high:
        raise Malformed(f"the range {term} ends before it begins")
    return _Range(either.domain, low, high)
