"""Statements that define or empty tables, in the range of a batch. A batch may have to end after one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from binspark.event import Event
from binspark.files.schema_file import log_statement
from binspark.position import Position
from binspark.replication.chunk import LogChunk
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import may_affect
from binspark.schema.changes import Change
from binspark.schema.history import SchemaHistory, is_logged_statement, is_rollback, logged_rows, may_define_tables
from binspark.schema.table import TableName
from binspark.transactions.rollbacks import RollbackFollower

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
    foreign_keys the text of a statement about foreign keys: see `schema.history.Entry`
    """

    change: Change
    origin: Position
    position: BinlogPosition
    rows_follow: bool = False
    foreign_keys: str = ""


def ends_at_changes_of(table: str | None) -> EndsBatch | None:
    """Return what ends a batch of a stream of one table: the statements that may change its schema."""
    if table is None:
        return None
    name = TableName(*table.split(".", 1))
    return lambda change: may_affect(change, name)


class Definition(NamedTuple):
    """An event that may define tables, what it does, the position after it, and whether a batch must end there."""

    position: BinlogPosition
    event: Event
    statements: tuple[Statement, ...]
    is_relevant: bool


@dataclass(frozen=True, slots=True)
class DefinitionParser:
    """Finds statements that may define tables; names are as the server stores them, whatever case they are written in.

    ends_batch              after which of them a batch must end
    with_logged_statements  whether to find statements that change rows, too; then the log does not contain the rows.
                            And those that roll back rows which the log contains
    """

    ends_batch: EndsBatch | None
    lower_case_names: bool
    with_logged_statements: bool
    _rollbacks: RollbackFollower = field(default_factory=RollbackFollower, repr=False)
    _reports: SchemaHistory = field(default_factory=lambda: SchemaHistory(on_notice=log_statement), repr=False)

    def definitions(self, chunk: LogChunk) -> list[Definition]:
        """Return the statements of a chunk that may define tables."""
        if not chunk.data:
            return []
        found = ((event, self._change_of_rows(event, chunk)) for event in chunk.statements())
        return [
            self._definition(event, chunk, change)
            for event, change in found
            if change is not None or may_define_tables(event.body)
        ]

    def _change_of_rows(self, event: Event, chunk: LogChunk) -> Change | None:
        """Return what a statement does to rows that the log does not contain, or contains although it undoes them.

        Who does not find such statements logs the first of each kind as a warning.
        """
        if not self.with_logged_statements:
            if is_logged_statement(event.body) or is_rollback(event.body):
                self._reports.feed(event)
            return None
        if is_logged_statement(event.body):
            return logged_rows(event)
        return self._rollbacks.feed(event, chunk)

    def _definition(self, event: Event, chunk: LogChunk, change: Change | None) -> Definition:
        parsed = SchemaHistory(lower_case_names=self.lower_case_names)
        parsed.feed(event)
        if change is not None:
            parsed.record(event, change)
        position = _position_after(event, chunk)
        rows_follow = chunk.is_inside_transaction(event.end_offset)
        statements = tuple(
            Statement(entry.change, event.position, position, rows_follow, entry.foreign_keys)
            for entry in parsed.entries
        )
        is_relevant = self.ends_batch is not None and any(self.ends_batch(found.change) for found in statements)
        return Definition(position, event, statements, is_relevant)


def _position_after(event: Event, chunk: LogChunk) -> BinlogPosition:
    """Return the position after a statement; by GTIDs it is the one after its transaction, which is a chunk."""
    end = chunk.end_position
    return chunk.origin.position(event.file, event.end_offset, None) if end.by_file else end
