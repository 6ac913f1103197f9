"""Which transactions a reader has, told by their GTIDs."""

from __future__ import annotations

from typing import Protocol

from binspark.errors import OptionError
from binspark.frames.format import Family
from binspark.gtid import Gtid, GtidSet, GtidSetBuilder, MariadbGtid, MariadbPosition


class GtidMemory(Protocol):
    """GTIDs that grow, one transaction at a time."""

    def add(self, gtid: str) -> None:
        """Remember a transaction."""

    def join(self, gtids: GtidSet | MariadbPosition) -> None:
        """Remember all that came before a file."""

    def freeze(self) -> GtidSet | MariadbPosition:
        """Return what is remembered, as a value."""


class MysqlMemory:
    """A GTID set of MySQL that grows."""

    def __init__(self, gtids: GtidSet) -> None:
        self._builder = GtidSetBuilder(gtids)
        self._frozen: GtidSet | None = gtids

    def add(self, gtid: str) -> None:
        self._builder.add(Gtid.parse(gtid))
        self._frozen = None

    def join(self, gtids: GtidSet | MariadbPosition) -> None:
        if isinstance(gtids, GtidSet) and not gtids <= self.freeze():
            self._frozen = self.freeze() | gtids
            self._builder = GtidSetBuilder(self._frozen)

    def freeze(self) -> GtidSet:
        if self._frozen is None:
            self._frozen = self._builder.freeze()
        return self._frozen


class MariadbMemory:
    """A GTID position of MariaDB that goes on."""

    def __init__(self, gtids: MariadbPosition) -> None:
        self._position = gtids

    def add(self, gtid: str) -> None:
        self._position = self._position.advance(MariadbGtid.parse(gtid))

    def join(self, gtids: GtidSet | MariadbPosition) -> None:
        """Do nothing: a position already stands for all before it."""

    def freeze(self) -> MariadbPosition:
        return self._position


def remember(gtids: GtidSet | MariadbPosition, family: Family) -> GtidMemory:
    """Return a memory that begins with these."""
    own = own_kind(gtids, family)
    return MysqlMemory(own) if isinstance(own, GtidSet) else MariadbMemory(own)


def own_kind(gtids: GtidSet | MariadbPosition, family: Family) -> GtidSet | MariadbPosition:
    """Return GTIDs of a family as the family has them: none are none for both, others must be its own."""
    kind = GtidSet if family is Family.MYSQL else MariadbPosition
    if gtids and not isinstance(gtids, kind):
        raise OptionError(f"start: {gtids} are GTIDs of another family of servers, and the server is not of it")
    return gtids if isinstance(gtids, kind) else kind()
