"""MySQL's GTID sets as values, with the algebra of sets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from binspark.errors import EncodeError
from binspark.gtid import intervals as numbers
from binspark.gtid.gtid import Gtid
from binspark.gtid.intervals import Intervals
from binspark.gtid.syntax import MAX_NUMBER, normal_tag, normal_uuid
from binspark.gtid.text import Part, Source, format_parts, normal_parts, parse_parts
from binspark.html_table import html_table


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GtidSet:
    """A set of MySQL GTIDs. Immutable, hashable; equal sets are equal values, however they were written.

    `GtidSet(text)` accepts what the server accepts and raises `Malformed` otherwise. `str` returns the server's normal
    form on one line; `server_text` breaks the line after each UUID, as the server does.

    operator     meaning
    a | b        in either
    a & b        in both
    a - b        in a, not in b (the server's GTID_SUBTRACT)
    a ^ b        in one of them only
    a <= b       all of a is in b (the server's GTID_SUBSET); < also requires that they differ
    x in a       a GTID, a set, or the text of either: all of it is in a
    len, count   the number of GTIDs; `len` raises OverflowError above `sys.maxsize`, `count()` never
    for g in a   every GTID, in the order of the text
    """

    parts: tuple[Part, ...]

    def __init__(self, text: str = "") -> None:
        object.__setattr__(self, "parts", parse_parts(text))

    @classmethod
    def from_parts(cls, parts: Iterable[Part]) -> GtidSet:
        """Return a set made of parts whose sources differ and whose intervals are in normal form."""
        made = cls()
        object.__setattr__(made, "parts", normal_parts(parts))
        return made

    @classmethod
    def of(cls, gtids: Iterable[Gtid]) -> GtidSet:
        """Return the set of single GTIDs, given in any order."""
        collected: dict[Source, list[tuple[int, int]]] = {}
        for gtid in gtids:
            collected.setdefault(gtid.source, []).append((gtid.number, gtid.number + 1))
        return cls.from_parts((source, numbers.join(intervals)) for source, intervals in collected.items())

    def __str__(self) -> str:
        return format_parts(self.parts, ",")

    def __repr__(self) -> str:
        return f"GtidSet({str(self)!r})"

    def _repr_html_(self) -> str:
        """Return the set as a table, for notebooks."""
        rows = (
            (uuid, tag, _ranges(intervals), f"{numbers.count(intervals):,}") for (uuid, tag), intervals in self.parts
        )
        return html_table(("source", "tag", "numbers", "count"), rows, f"{self.count():,} GTIDs")

    def server_text(self) -> str:
        """Return the set exactly as the server prints it, with a line for each UUID."""
        return format_parts(self.parts, ",\n")

    def __or__(self, other: GtidSet) -> GtidSet:
        if not isinstance(other, GtidSet):
            return NotImplemented
        united = dict(self.parts)
        for source, intervals in other.parts:
            mine = united.get(source)
            united[source] = numbers.unite(mine, intervals) if mine else intervals
        return GtidSet.from_parts(united.items())

    def __and__(self, other: GtidSet) -> GtidSet:
        if not isinstance(other, GtidSet):
            return NotImplemented
        theirs = dict(other.parts)
        common = (
            (source, numbers.intersect(intervals, theirs[source]))
            for source, intervals in self.parts
            if source in theirs
        )
        return GtidSet.from_parts(common)

    def __sub__(self, other: GtidSet) -> GtidSet:
        if not isinstance(other, GtidSet):
            return NotImplemented
        theirs = dict(other.parts)
        rest = ((source, numbers.subtract(intervals, theirs.get(source, ()))) for source, intervals in self.parts)
        return GtidSet.from_parts(rest)

    def __xor__(self, other: GtidSet) -> GtidSet:
        if not isinstance(other, GtidSet):
            return NotImplemented
        return (self - other) | (other - self)

    def __le__(self, other: GtidSet) -> bool:
        if not isinstance(other, GtidSet):
            return NotImplemented
        return all(numbers.covers(other.intervals_of(source), intervals) for source, intervals in self.parts)

    def __lt__(self, other: GtidSet) -> bool:
        if not isinstance(other, GtidSet):
            return NotImplemented
        return self != other and self <= other

    def __ge__(self, other: GtidSet) -> bool:
        if not isinstance(other, GtidSet):
            return NotImplemented
        return other <= self

    def __gt__(self, other: GtidSet) -> bool:
        if not isinstance(other, GtidSet):
            return NotImplemented
        return other < self

    def __contains__(self, item: Gtid | GtidSet | str) -> bool:
        if isinstance(item, Gtid):
            return numbers.covers(self.intervals_of(item.source), ((item.number, item.number + 1),))
        return (GtidSet(item) if isinstance(item, str) else item) <= self

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __len__(self) -> int:
        return self.count()

    def __iter__(self) -> Iterator[Gtid]:
        for (uuid, tag), intervals in self.parts:
            for start, stop in intervals:
                for number in range(start, stop):
                    yield Gtid(uuid, number, tag)

    def count(self) -> int:
        """Return the number of GTIDs."""
        return sum(numbers.count(intervals) for _, intervals in self.parts)

    @property
    def uuids(self) -> tuple[str, ...]:
        """The UUIDs, in order, each once."""
        return tuple(dict.fromkeys(uuid for (uuid, _), _ in self.parts))

    @property
    def sources(self) -> tuple[Source, ...]:
        """The pairs of UUID and tag, in order."""
        return tuple(source for source, _ in self.parts)

    @property
    def tagged(self) -> bool:
        """Whether any GTID has a tag."""
        return any(tag for _, tag in self.sources)

    def intervals_of(self, source: Source) -> Intervals:
        """Return the intervals of one source, each as (start, stop) with an exclusive stop."""
        index = bisect_left(self.parts, (source,))
        if index < len(self.parts) and self.parts[index][0] == source:
            return self.parts[index][1]
        return ()

    def intervals(self, uuid: str, tag: str = "") -> tuple[range, ...]:
        """Return the intervals of one UUID and tag: `range(1, 6)` is 1-5."""
        return tuple(range(start, stop) for start, stop in self.intervals_of((normal_uuid(uuid), normal_tag(tag))))

    def last(self, uuid: str, tag: str = "") -> int:
        """Return the highest number of one UUID and tag; 0 when there is none."""
        intervals = self.intervals_of((normal_uuid(uuid), normal_tag(tag)))
        return intervals[-1][1] - 1 if intervals else 0

    def next_gtid(self, uuid: str, tag: str = "") -> Gtid:
        """Return the next GTID that a server with this set and UUID assigns: the smallest free number, gaps first."""
        source = (normal_uuid(uuid), normal_tag(tag))
        number = numbers.first_free(self.intervals_of(source))
        if number > MAX_NUMBER:
            raise EncodeError(f"{uuid} has used up all GTID numbers (1 to {MAX_NUMBER})")
        return Gtid(source[0], number, source[1])

    def next_gtids(self) -> tuple[Gtid, ...]:
        """Return the next GTID of each UUID and tag in the set."""
        return tuple(self.next_gtid(uuid, tag) for uuid, tag in self.sources)

    def add(self, gtid: Gtid | str) -> GtidSet:
        """Return this set with one more GTID. To add many, use a `GtidSetBuilder`."""
        return self | GtidSet.of((Gtid.parse(gtid) if isinstance(gtid, str) else gtid,))


def _ranges(intervals: Intervals) -> str:
    return ", ".join(str(first) if last == first + 1 else f"{first}-{last - 1}" for first, last in intervals)
