"""Compares a table with its mirror while both may change.

Checksums of a range are compared first. In buckets that differ, rows are compared by their hashes. A row that differs
may only be newer on one side: it is read again from the source, the mirror is given time to reach the position at which
that was, and is read again, too. If both sides have not changed since, the row differs for certain; if not, the same
begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from binspark.mirror.check.key_ranges import KeyRange
from binspark.mirror.check.listing import Listing, literals_of
from binspark.mirror.check.mirror_rows import MirrorRows
from binspark.mirror.check.report import ColumnDifference, Difference, DifferenceKind
from binspark.mirror.check.row_text import RowText
from binspark.mirror.check.source_rows import SourceRows
from binspark.mirror.check.sums import BucketSums
from binspark.mirror.snapshot.select import Literals

_MAX_LISTED_ROWS = 50_000

Catch = Callable[[], bool]
"""Waits until the mirror has all changes that the source has at the moment of the call; False if it takes too long."""


class DifferingRow(NamedTuple):
    """A row that differs: its key as SQL literals, and how often each side has it."""

    literals: Literals
    source: int
    mirror: int

    @property
    def kind(self) -> DifferenceKind:
        """How it differs."""
        if self.source == self.mirror:
            return DifferenceKind.DIFFERENT
        return DifferenceKind.MISSING if self.source > self.mirror else DifferenceKind.EXTRA


@dataclass(frozen=True, slots=True)
class Differing:
    """Rows of a range that differ.

    within     the range
    rows       rows that differ for certain, by the texts of their keys
    undecided  how many rows it could not be decided of
    """

    within: KeyRange
    rows: dict[bytes, DifferingRow]
    undecided: int = 0


class Comparison:
    """Compares the ranges of one table.

    catch_up   see `Catch`
    rounds     how often rows that keep changing are read again
    """

    def __init__(self, source: SourceRows, mirror: MirrorRows, text: RowText, catch_up: Catch, rounds: int) -> None:
        self._source = source
        self._mirror = mirror
        self._text = text
        self._catch_up = catch_up
        self._rounds = rounds

    def compare(self, within: KeyRange) -> Iterator[Differing | int]:
        """Compare a range: yield how many rows the source has in it, then rows that differ."""
        self._mirror.refresh()
        mirror = self._mirror.sums(within)
        source = self._source.sums(within.chunks, within.buckets)
        yield source.rows
        for wanted in portions(source.differing(mirror), source, mirror):
            listed = self._source.listed(within.chunks, within.buckets, wanted)
            self._mirror.refresh()
            found = self._mirror.listed(within, wanted)
            yield self._confirmed(within, listed, found)

    def _confirmed(self, within: KeyRange, source: Listing, mirror: Listing) -> Differing:
        """Read rows that differ again, until they are equal or differ for certain."""
        keys = source.differing(mirror)
        certain: dict[bytes, DifferingRow] = {}
        has_caught_up = False
        for _ in range(self._rounds):
            if not keys:
                break
            values = literals_of(keys, source, mirror)
            again = self._source.at_keys(values)
            reached = self._catch_up()
            self._mirror.refresh()
            found = self._mirror.at_keys(within, {*keys, *again.rows})
            for key, literals in zip(keys, values, strict=True):
                is_stable = again.hashes(key) == source.hashes(key) and found.hashes(key) == mirror.hashes(key)
                if has_caught_up and is_stable and again.hashes(key) != found.hashes(key):
                    certain[key] = DifferingRow(literals, len(again.hashes(key)), len(found.hashes(key)))
            keys = [key for key in again.differing(found) if key not in certain]
            source, mirror, has_caught_up = again, found, reached
            if not reached:
                break
        return Differing(within, certain, len(keys))

    def details(self, differing: Differing, limit: int) -> Iterator[Difference]:
        """Yield what is different in rows, for the first of them."""
        rows = dict(islice(differing.rows.items(), limit))
        source = self._source.values([row.literals for row in rows.values()])
        mirror = self._mirror.values(differing.within, rows.keys())
        for key, row in rows.items():
            yield difference_of(self._text, row.kind, source.get(key), mirror.get(key))


def difference_of(
    text: RowText, kind: DifferenceKind, source: list[bytes | None] | None, mirror: list[bytes | None] | None
) -> Difference:
    """Return what is different in a row; None is a side that does not have it."""
    names = [column.name for column in text.columns]
    known = dict(zip(names, source or mirror or [None] * len(names), strict=True))
    key = tuple((column.name, known[column.name]) for column in text.key)
    if source is None or mirror is None:
        return Difference(kind, key)
    columns = tuple(
        ColumnDifference(name, ours, theirs)
        for name, ours, theirs in zip(names, source, mirror, strict=True)
        if ours != theirs
    )
    return Difference(kind, key, columns)


def portions(buckets: Sequence[int], source: BucketSums, mirror: BucketSums) -> Iterator[list[int]]:
    """Divide buckets so that not too many rows are listed at a time."""
    portion: list[int] = []
    rows = 0
    for bucket in buckets:
        count = int(max(source.counts[bucket], mirror.counts[bucket]))
        if portion and rows + count > _MAX_LISTED_ROWS:
            yield portion
            portion, rows = [], 0
        portion.append(bucket)
        rows += count
    if portion:
        yield portion
