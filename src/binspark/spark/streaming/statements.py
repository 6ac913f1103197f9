"""Statements that define or empty tables, in the range of a batch. A batch may have to end after one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.position import Position
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import may_affect
from binspark.schema.changes import Change
from binspark.schema.table import TableName

EndsBatch = Callable[[Change], bool]
"""Returns whether a batch must end after a statement."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that defines or empties tables.

    change       what it does
    origin       where it is
    position     the position after it
    rows_follow  whether rows of the same transaction may follow it, as in CREATE TABLE … SELECT. Then the transaction
                 is a batch
    """

    change: Change
    origin: Position
    position: BinlogPosition
    rows_follow: bool = False


def ends_at_changes_of(table: str | None) -> EndsBatch | None:
    """Return what ends a batch of a stream of one table: the statements that may change its schema."""
    if table is None:
        return None
    name = TableName(*table.split(".", 1))
    return lambda change: may_affect(change, name)
