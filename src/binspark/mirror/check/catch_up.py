"""Waits until a mirrored table has the changes that its source has."""

from __future__ import annotations

import time
from collections.abc import Callable

from binspark.mirror.targets.target import Target, TargetTable
from binspark.replication.find import end_of_log
from binspark.replication.gtids import includes
from binspark.replication.position import BinlogPosition
from binspark.server.connection import Connection

Advance = Callable[[BinlogPosition], None]
"""Lets a mirror that is not running apply all changes up to a position."""

_POLL_SECONDS = 0.25


class CatchUp:
    """Waits for a table: for the mirror that runs meanwhile, or for `advance`, which applies changes itself.

    A mirror that did not move while it was waited for is not waited for again, until it has moved.
    """

    def __init__(
        self, connection: Connection, target: Target, table: TargetTable, seconds: float, advance: Advance | None
    ) -> None:
        self._connection = connection
        self._target = target
        self._table = table
        self._seconds = seconds
        self._advance = advance
        self._stopped_at: list[BinlogPosition] | None = None

    def __call__(self) -> bool:
        """Return whether the mirror has all changes that the source had at the moment of the call."""
        return self.reach(end_of_log(self._connection))

    def reach(self, wanted: BinlogPosition) -> bool:
        """Return whether the mirror has all changes before a position, after some time at most."""
        deadline = time.monotonic() + self._seconds
        first = now = self._positions()
        if not _has(now, wanted) and self._advance is not None:
            self._advance(wanted)
            first = now = self._positions()
        while not _has(now, wanted):
            if time.monotonic() > deadline or now == self._stopped_at:
                self._stopped_at = now if now == first else None
                return False
            time.sleep(_POLL_SECONDS)
            now = self._positions()
        return True

    def is_at(self, position: BinlogPosition) -> bool:
        """Return whether the mirror is at a position: no transaction after it was applied."""
        return all(is_reached(position, known) for known in self._positions())

    def _positions(self) -> list[BinlogPosition]:
        """Return the positions of the table and of the last cut: the later one counts."""
        state, cut = self._table.read().state, self._target.cuts.last()
        known = [] if state is None else [state.position]
        return known if cut is None else [*known, BinlogPosition.parse(cut.position)]


def _has(positions: list[BinlogPosition], wanted: BinlogPosition) -> bool:
    return any(is_reached(position, wanted) for position in positions)


def is_reached(position: BinlogPosition, wanted: BinlogPosition) -> bool:
    """Return whether all transactions before a position come before another: no transaction may be between them."""
    if position.reaches(wanted):
        return True
    return position.gtids is not None and wanted.gtids is not None and includes(position.gtids, wanted.gtids)
