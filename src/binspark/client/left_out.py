"""What a server leaves out of a stream that was asked for by GTIDs, and from where on it leaves out nothing."""

from __future__ import annotations

from typing import NamedTuple

from binspark.files.sources import log_order
from binspark.gtid import GtidSet, MariadbPosition, MariadbState


class Written(NamedTuple):
    """What a server has written before a place in its log, or has without having written it."""

    gtids: GtidSet | MariadbState
    file: str
    offset: int

    def is_before(self, file: str, offset: int) -> bool:
        """Tell whether all of it comes before a place."""
        return (log_order(self.file), self.offset) <= (log_order(file), offset)


class LeftOut:
    """GTIDs that a server was asked to leave out of a stream, as long as they may still follow.

    MySQL leaves a transaction out wherever it stands. It has each of them once, so that none follows which came before.
    MariaDB leaves a domain out up to the first number of the same server that is not smaller. What other servers wrote
    in the domain says nothing: without strict mode their numbers may be larger before that place.
    """

    def __init__(self, gtids: GtidSet | MariadbPosition, written: Written | None = None) -> None:
        self._gtids = gtids
        self._written = written

    def __bool__(self) -> bool:
        return bool(self._gtids)

    def came_before(self, gtids: GtidSet | MariadbState) -> None:
        """Learn what came before the place where the stream is."""
        if isinstance(self._gtids, GtidSet):
            assert isinstance(gtids, GtidSet)
            self._gtids -= gtids
        else:
            self._gtids = MariadbPosition.of(gtid for gtid in self._gtids if gtid not in gtids)

    def reached(self, file: str, offset: int) -> None:
        """Learn where the stream is, between two transactions."""
        if self._written is not None and self._written.is_before(file, offset):
            self.came_before(self._written.gtids)
            self._written = None
