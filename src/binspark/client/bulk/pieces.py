"""Whole transactions of a server's log, in pieces of any number of them, each as it is told by its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from binspark.client.bulk.outline import Chunk, Outline, outline
from binspark.client.facts import Gtids
from binspark.client.group import Group
from binspark.client.resume import ResumePoint
from binspark.event import Event
from binspark.gtid import GtidSet


@dataclass(frozen=True, eq=False)
class Places:
    """The places between the transactions of a piece.

    outline    its transactions
    last       behind its last event, as a place in its file
    before     the GTIDs before the piece, where they are known
    has_gtids  whether GTIDs are to be told at all
    """

    outline: Outline
    last: ResumePoint
    before: Gtids | None
    has_gtids: bool

    def __len__(self) -> int:
        return len(self.outline.starts)

    def behind(self, count: int) -> ResumePoint:
        """Return the place behind the first so many transactions: the end of the piece, if there are no more."""
        point = self.last if count >= len(self) else replace(self.last, offset=int(self.outline.starts[count]))
        if not self.has_gtids:
            return point
        known = known_before(self.before, self.outline.told)
        return replace(point, gtids=self.outline.names.added_to(known, count))


@dataclass(frozen=True, eq=False)
class BytesPiece(Chunk):
    """Events that follow each other in a file, from the beginning of a transaction to the end of one.

    is_odd     whether they are such that offsets do not tell all of the rows in them
    last       behind the last event, as a place in its file
    before     the GTIDs before the piece, where they are known
    has_gtids  whether GTIDs are to be told at all
    """

    is_odd: bool
    last: ResumePoint
    before: Gtids | None = None
    has_gtids: bool = False

    @cached_property
    def places(self) -> Places:
        """The places between the transactions; they do without the bytes."""
        return Places(outline(self), self.last, self.before, self.has_gtids)

    @cached_property
    def resume(self) -> ResumePoint:
        """Where to go on."""
        return self.places.behind(len(self.places)) if self.has_gtids else self.last


@dataclass(frozen=True, eq=False)
class GroupPiece:
    """A transaction that was read event by event, or an event that belongs to none."""

    group: Group

    @property
    def resume(self) -> ResumePoint:
        return self.group.resume

    def events(self) -> Iterator[Event]:
        """Yield the events; behind a compressed payload come the events inside."""
        return self.group.events()


Piece = BytesPiece | GroupPiece


def known_before(known: Gtids | None, told: Gtids | None) -> Gtids | None:
    """Return the GTIDs before a file: what is known, and what the file tells."""
    if known is None or told is None:
        return told if known is None else known
    return known | told if isinstance(known, GtidSet) and isinstance(told, GtidSet) else known
