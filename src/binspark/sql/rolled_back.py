"""Changes that a log has although they were rolled back: to a savepoint, or as a prepared XA transaction.

A script in the order of the log rolls them back, too. An undo leaves them out: what was collected of them is dropped.
"""

from __future__ import annotations

from typing import NamedTuple

from binspark.errors import CannotUndo
from binspark.event import Event, Query
from binspark.position import Position
from binspark.sql.blocks import ReversedBlocks
from binspark.sql.range_options import RangeOptions
from binspark.sql.transactions import ScriptTransaction
from binspark.transactions.grammar import Boundary, Ending, Role
from binspark.transactions.rollbacks import SavepointAction, normalized_xid, savepoint_in, xid_in


class _Savepoint(NamedTuple):
    """What an undo had of a transaction when a savepoint was set."""

    block: int
    opened: bool
    statement: str | None


class _Prepared(NamedTuple):
    """The blocks of an XA transaction, where it begins, and the event that prepares it."""

    first: int
    last: int
    start: Position
    event: Event


class RolledBackParts:
    """Drops what was rolled back from what an undo has collected."""

    def __init__(self, blocks: ReversedBlocks, range_options: RangeOptions) -> None:
        self.blocks = blocks
        self._range = range_options
        self._savepoints: dict[str, _Savepoint] = {}
        self._first = 0
        self._prepared: dict[str, _Prepared] = {}

    def begin(self, transaction: ScriptTransaction) -> None:
        """Begin a transaction that has something to undo."""
        if transaction.xa:
            self._first = self.blocks.next_block()

    def feed(self, event: Event, boundary: Boundary, transaction: ScriptTransaction) -> None:
        """Take an event that is not of rows."""
        if not isinstance(event.body, Query):
            return
        if boundary.role is Role.BEGINS:
            self._savepoints.clear()
        elif boundary.role is Role.INSIDE:
            self._follow_savepoint(event.body.query, transaction)
        elif boundary.ending in (Ending.XA_COMMIT, Ending.XA_ROLLBACK):
            prepared = self._prepared.pop(normalized_xid(xid_in(event.body.query)), None)
            if prepared is not None and boundary.ending is Ending.XA_ROLLBACK:
                self.blocks.drop(prepared.first, prepared.last)

    def end(self, event: Event, boundary: Boundary, transaction: ScriptTransaction) -> None:
        """End a transaction that has something to undo."""
        if boundary.ending is Ending.XA_PREPARE:
            self._prepared[normalized_xid(transaction.xa)] = _Prepared(
                self._first, self.blocks.next_block(), transaction.start, event
            )
        elif boundary.ending is Ending.ROLLBACK:
            leave_out = "" if transaction.gtid is None else f"; or leave it out with --exclude-gtids {transaction.gtid}"
            raise CannotUndo(
                f"cannot undo the transaction that begins at {transaction.start}: it was rolled back, and the log does "
                f"not say which of its changes are in the tables; {self._range.around(transaction.start, event)}"
                f"{leave_out}",
                event.position,
            )

    def _follow_savepoint(self, statement: bytes, transaction: ScriptTransaction) -> None:
        found = savepoint_in(statement)
        if found is None:
            return
        action, name = found
        block = self.blocks.next_block()
        if action is SavepointAction.SET:
            self._savepoints[name] = _Savepoint(block, transaction.opened, transaction.statement)
        elif action is SavepointAction.ROLLBACK and name in self._savepoints:
            first, transaction.opened, transaction.statement = self._savepoints[name]
            self.blocks.drop(first, block)

    def check(self) -> None:
        """Raise an error if it is not known what became of an XA transaction."""
        for prepared in self._prepared.values():
            raise CannotUndo(
                f"cannot undo the transaction that begins at {prepared.start}: it is a prepared XA transaction, and "
                "whether it was committed or rolled back is not in what was read; read more of the log, or "
                f"{self._range.around(prepared.start, prepared.event)}",
                prepared.event.position,
            )
