"""Events into a script: transactions with their rows and statements, in the order of the log or undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING

from binspark.changes.change import Change
from binspark.changes.event_filter import EventFilter
from binspark.changes.reader import ChangeReader
from binspark.columns.selection import Operations, Selection
from binspark.errors import BinlogError, CannotUndo, Unsupported
from binspark.event import (
    AnnotateRows,
    Event,
    GtidEvent,
    GtidTagged,
    Incident,
    Intvar,
    MariadbGtidEvent,
    PartialRowData,
    Query,
    Rand,
    Rows,
    RowsQuery,
    UserVar,
)
from binspark.event.load import AppendBlock, BeginLoadQuery, CreateFile, Load
from binspark.event.query import ExecuteLoadQuery
from binspark.event.rows_query import shown_statement
from binspark.files.sources import LogSource
from binspark.files.windows import pays_in_bulk
from binspark.options.times import Clock
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.schema.text import has_words
from binspark.sql.blocks import Blocks, ForwardBlocks, ReversedBlocks
from binspark.sql.options import ScriptOptions
from binspark.sql.range_options import OF_FILES, RangeOptions
from binspark.sql.refusals import refused_load, refused_undo
from binspark.sql.rolled_back import RolledBackParts
from binspark.sql.session import (
    LENIENT,
    ROWS,
    Settings,
    begin_sql,
    delimited,
    for_names,
    opening,
    settings_of_rows,
    settings_of_statement,
    statement_prefix,
)
from binspark.sql.statements import RowStatement, statements_of
from binspark.sql.transactions import BEGIN_COUNT, COUNT_MISSED, ScriptTransaction, ending_sql, one_line, xid_of
from binspark.transactions.grammar import Boundary, Ending, Progress, Role, begins_another, boundary_of, progress_after
from binspark.transactions.rollbacks import normalized_xid, xid_in
from binspark.transactions.session import variable_statement
from binspark.transactions.transaction import commit_of

if TYPE_CHECKING:
    from binspark.sql.condition import ConditionRows
    from binspark.sql.conflicts import Conflicts
    from binspark.sql.row_texts import RowTexts
    from binspark.sql.rows_transactions import RowsTransactions, WrittenTransactions

_GTIDS = (GtidEvent, GtidTagged, MariadbGtidEvent)
_VARIABLES = (Intvar, Rand, UserVar)
_LOADS = (BeginLoadQuery, AppendBlock, CreateFile, Load)
_STANDALONE = (Progress.NONE, Progress.PREPARED, Progress.IDENTIFIED, Progress.ANNOUNCED)

OnNotice = Callable[[str], None]


class Script:
    """Makes a script of the events of one or more logs.

    Events inside a payload must follow it, as `read_events` yields them. `on_notice` is called with what the script
    does not contain although it is in the log. `condition` has the rows that `where` selects; the caller that feeds the
    events of a log begins the log there, too. `conflicts` has the rows of an undo that others have changed later.
    `texts` has the statements of rows events, if they are written in bulk.
    """

    def __init__(
        self,
        selection: Selection,
        history: SchemaHistory | None,
        options: ScriptOptions,
        *,
        zone: tzinfo = UTC,
        range_options: RangeOptions = OF_FILES,
        on_notice: OnNotice = lambda _notice: None,
    ) -> None:
        self.options = options
        self._range = range_options
        self.selection = selection
        self.undo = options.undo
        self.history = history = history or SchemaHistory()
        self.condition = _condition(selection, history)
        rows_only = replace(selection, operations=selection.operations & ~Operations.TRUNCATE, where=None)
        self._reader = ChangeReader(rows_only, history, exact=True)
        self.conflicts: Conflicts | None = None
        self.texts: RowTexts | None = None
        self._statement: str | None = None
        self._events = EventFilter(selection)
        self._takes_statements = selection.where is None
        self._moment = lru_cache(maxsize=1024)(Clock(zone).text)
        self._on_notice = on_notice
        self._rolled_back = RolledBackParts(ReversedBlocks(), range_options) if self.undo else None
        self._blocks: Blocks = ForwardBlocks() if self._rolled_back is None else self._rolled_back.blocks
        self._transaction: ScriptTransaction | None = None
        self._progress = Progress.NONE
        self._variables: list[bytes] = []
        self._prepared: set[str] = set()
        self.is_empty = True
        """Whether nothing that was read is part of the script."""

    @property
    def tables(self) -> set[str]:
        """The names of all tables that were seen, selected or not."""
        return self._reader.tables if self.texts is None else self._reader.tables | self.texts.tables

    def write_in_bulk(self, logs: Sequence[LogSource]) -> None:
        """Write rows in bulk, if that pays for the logs that will be read."""
        if self.condition is None and pays_in_bulk(logs, self.selection):
            from binspark.sql.row_texts import RowTexts  # loads kernels

            self.texts = RowTexts(self.selection, self.history, self.options, self.conflicts)

    def begin_log(self, start: int) -> None:
        """Begin a log of which nothing before an offset is selected."""
        self._reader.start = self._events.start = start

    def opening(self) -> bytes:
        """Return the beginning of the script."""
        disable = "SET sql_log_bin = 0;\n" if self.options.disable_log_bin else ""
        note = "" if self.options.no_comments else "-- Run this in a session of its own: it changes the settings.\n"
        return f"{note}{disable}{opening()}{BEGIN_COUNT if self.undo else ''}".encode()

    def feed(self, event: Event) -> Iterator[bytes]:
        """Take an event, and yield the parts of the script that are complete."""
        boundary = boundary_of(event)
        before = self._progress
        transaction = self._follow(event, boundary)
        if isinstance(event.body, RowsQuery | AnnotateRows):
            self._statement = shown_statement(event.body.query)
        changes = self._reader.feed(event)
        selected = self._events.feed(event)
        if isinstance(event.body, Rows | PartialRowData):
            self._add_rows(event, changes, transaction)
        else:
            for _ in changes:  # only table maps are read, which is done by now
                continue
            if self._rolled_back is not None:
                self._rolled_back.feed(event, boundary, transaction)
            for wanted in selected or self._of_transaction(event, boundary):
                self._add_statement(wanted, boundary_of(wanted), before, transaction)
            if isinstance(event.body, Query):
                self._variables.clear()
        return self._after(event, boundary)

    def feed_rows(self, event: Event, text: bytes) -> Iterator[bytes]:
        """Take a rows event with its statements, in the order of the script, empty if it is not selected."""
        boundary = boundary_of(event)
        transaction = self._follow(event, boundary)
        self._events.feed(event)
        if text:
            settings = settings_of_rows(event.body.flags)
            self._open(transaction, settings)
            self._note_statement(transaction, self._statement)
            self._blocks.add(text, settings)
        return self._after(event, boundary)

    def rows_transactions(self, file: str) -> RowsTransactions:
        """Return what writes the transactions of a log that consist of rows alone."""
        from binspark.sql.rows_transactions import RowsTransactions  # loads kernels

        return RowsTransactions(file, self.options, self._moment)

    def add_written(self, written: WrittenTransactions) -> Iterator[bytes]:
        """Add transactions that consist of rows alone; none may be in progress."""
        self.is_empty = False
        self._blocks.add(written.text, written.before, written.after)
        return self._blocks.ready()

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is in progress."""
        return self._progress is Progress.NONE

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is in progress that only an explicit end ends."""
        return self._progress in (Progress.BEGUN, Progress.OPENED)

    def _after(self, event: Event, boundary: Boundary) -> Iterator[bytes]:
        if isinstance(event.body, Rows) and event.body.ends_statement:
            self._statement = None
        if self._progress is Progress.NONE and boundary.role not in (Role.OUTSIDE, Role.JOINS, Role.WRAPS):
            self._end(event, boundary)
        return self._blocks.ready()

    def forget_transaction(self) -> None:
        """Discard the transaction in progress, the rest of which is damaged."""
        self._reader.forget_transaction()
        self._interrupt()
        self._progress = Progress.NONE

    def finish(self) -> Iterator[bytes]:
        """Yield the rest of the script."""
        self._interrupt()
        if self._rolled_back is not None:
            self._rolled_back.check()
        if self.options.keep_gtids:
            self._blocks.add(b"SET gtid_next = AUTOMATIC;\n")
        if self.undo:
            yield self.opening()
        yield from self._blocks.rest()

    def close(self) -> None:
        """Discard what has not been written."""
        self._blocks.close()

    # --- transactions -------------------------------------------------------------------------------------------------

    def _follow(self, event: Event, boundary: Boundary) -> ScriptTransaction:
        """Follow where transactions begin; return the one that an event belongs to."""
        role = boundary.role
        if role is Role.BREAKS:
            if self._progress is Progress.NONE or not event.artificial:
                self._interrupt()
                self._progress = Progress.NONE
        elif role not in (Role.OUTSIDE, Role.WRAPS) and not (role is Role.JOINS and self._progress is Progress.NONE):
            if begins_another(role, self._progress):
                self._interrupt()
            self._progress = progress_after(role, self._progress)
        if self._transaction is None:
            header = event.header
            self._transaction = ScriptTransaction(
                Position(event.file, event.offset), header.timestamp, header.server_id
            )
        transaction = self._transaction
        if isinstance(event.body, _GTIDS):
            transaction.gtid = commit_of(event).gtid
        thread_id = getattr(event.body, "thread_id", None)
        if transaction.thread_id is None and thread_id is not None:
            transaction.thread_id = thread_id
        transaction.xa = transaction.xa or xid_of(event, role)
        return transaction

    def _open(self, transaction: ScriptTransaction, settings: Settings) -> None:
        """Begin the transaction in the script with the first of its rows or statements, and its settings.

        Inside a transaction a server does not accept all settings, those of an earlier statement among them.
        """
        if transaction.opened:
            return
        self.is_empty, transaction.opened = False, True
        if self._rolled_back is not None:
            self._rolled_back.begin(transaction)
            self._blocks.add(transaction.undo_ending())
            return
        self._blocks.add(self._heading(transaction).encode(), settings)
        self._blocks.add(f"XA START {transaction.xa};\n".encode() if transaction.xa else begin_sql(settings))
        if transaction.xa:
            self._prepared.add(normalized_xid(transaction.xa))
        for statement, its_settings in transaction.held:
            self._blocks.add(statement, its_settings)

    def _end(self, event: Event, boundary: Boundary) -> None:
        """End the transaction of an event."""
        transaction, self._transaction = self._transaction, None
        self._statement = None
        if transaction is None or not transaction.opened:
            return
        self._close(transaction, ending_sql(event, boundary))
        if self._rolled_back is not None:
            self._rolled_back.end(event, boundary, transaction)

    def _close(self, transaction: ScriptTransaction, ending: bytes) -> None:
        if self.undo:
            self._note_statement(transaction, None)
            self._blocks.add((self._comment(transaction) + "BEGIN;\n").encode())
            return
        if transaction.xa:
            self._blocks.add(f"XA END {transaction.xa};\n".encode())
        self._blocks.add(ending)

    def _interrupt(self) -> None:
        """Discard a transaction that has no end: a server has rolled it back, or the rest is not read."""
        transaction, self._transaction = self._transaction, None
        if transaction is None or not transaction.opened:
            return
        notice = f"the transaction that begins at {transaction.start} is not complete"
        if self.undo:
            raise CannotUndo(f"{notice}; {self._range.before(transaction.start)}")
        self._blocks.add(b"ROLLBACK;\n")
        self._on_notice(f"{notice}: the script rolls it back")

    # --- rows and statements ------------------------------------------------------------------------------------------

    def _add_rows(self, event: Event, changes: Iterator[Change], transaction: ScriptTransaction) -> None:
        settings = settings_of_rows(event.body.flags) if isinstance(event.body, Rows) else ROWS
        for change in changes:
            if self.condition is not None and not self.condition.has(change.pos, change.row):
                continue
            try:
                made = self._made(change)
            except BinlogError as error:
                raise error.at(Position(change.file, change.pos)) from None
            if made is not None:
                self._open(transaction, settings)
                self._note_statement(transaction, self._statement)
                text = f"{made.text};\n{COUNT_MISSED if made.counted else ''}"
                self._blocks.add(text.encode(), (*settings, *LENIENT) if made.lenient else settings)

    def _made(self, change: Change) -> RowStatement | None:
        """Return the statement of a change; None if there is none."""
        if self.conflicts is not None and self.conflicts.has(change):
            return self.conflicts.resolved(change)
        statements = statements_of(change.table_schema)
        return statements.undo(change, guarded=self.options.guarded) if self.undo else statements.again(change)

    def _note_statement(self, transaction: ScriptTransaction, statement: str | None) -> None:
        """Note the statement of the rows that follow; for an undo, that of the rows before."""
        if statement == transaction.statement:
            return
        shown = transaction.statement if self.undo else statement
        transaction.statement = statement
        if shown is not None and not self.options.no_comments:
            self._blocks.add(f"--   {one_line(shown)}\n".encode())

    def _add_statement(
        self, event: Event, boundary: Boundary, before: Progress, transaction: ScriptTransaction
    ) -> None:
        body = event.body
        if isinstance(body, _VARIABLES):
            try:
                self._variables.append(variable_statement(body, event.frame.format.family) + b";\n")
            except BinlogError as error:
                raise error.at(Position(event.file, event.offset)) from None
        elif isinstance(body, Incident):
            raise Unsupported(f"the server reports that events are missing: {body.message}", event.position)
        elif isinstance(body, ExecuteLoadQuery | Load) or type(body) in _LOADS:
            if self._takes_all:
                raise refused_load(event)
        elif isinstance(body, Query) and self._is_statement(body, boundary):
            if self.undo:
                raise refused_undo(event, transaction.start, self._range)
            self._pass_on(event, boundary, transaction, standalone=before in _STANDALONE)

    def _is_statement(self, query: Query, boundary: Boundary) -> bool:
        """Return whether a statement is to be part of the script."""
        if boundary.role is Role.INSIDE and self.undo:
            return False
        if boundary.ending in (Ending.XA_COMMIT, Ending.XA_ROLLBACK):
            return not self.undo and (normalized_xid(xid_in(query.query)) in self._prepared or self._takes_all)
        if boundary.role is Role.INSIDE:
            return not xid_in(query.query)  # the end of an XA transaction is written with what follows it
        if self.options.skip_statements or not self._takes_statements or not has_words(query.query):
            return False
        return boundary.role is Role.STATEMENT

    def _of_transaction(self, event: Event, boundary: Boundary) -> list[Event]:
        """Return the event if its transaction needs it: the statement names no table to select it by."""
        if boundary.ending in (Ending.XA_COMMIT, Ending.XA_ROLLBACK):
            return [event] if normalized_xid(xid_in(event.body.query)) in self._prepared else []
        return [event] if boundary.role is Role.INSIDE and isinstance(event.body, Query) else []

    def _heading(self, transaction: ScriptTransaction) -> str:
        """Return what comes before a transaction: a comment, and its GTID if that is kept."""
        return self._comment(transaction) + (transaction.gtid_next() if self.options.keep_gtids else "")

    def _comment(self, transaction: ScriptTransaction) -> str:
        return "" if self.options.no_comments else transaction.comment(self._moment(transaction.timestamp))

    @property
    def _takes_all(self) -> bool:
        return self._takes_statements and not self.options.skip_statements

    def _pass_on(self, event: Event, boundary: Boundary, transaction: ScriptTransaction, *, standalone: bool) -> None:
        """Add a statement as the log has it, with its session."""
        query: Query = event.body
        settings = settings_of_statement(event)
        if boundary.ending in (Ending.XA_COMMIT, Ending.XA_ROLLBACK) or standalone:
            self.is_empty = False
            self._blocks.add(self._heading(transaction).encode())
        elif boundary.role is not Role.INSIDE:
            self._open(transaction, settings)
        before = statement_prefix(event) + b"".join(self._variables)
        parts = [(before + delimited(query.query), settings)]
        if not before.isascii():
            parts = [(before, for_names(settings)), (delimited(query.query), settings)]
        if boundary.role is Role.INSIDE and not transaction.opened:
            transaction.held += parts
            return
        for text, its_settings in parts:
            self._blocks.add(text, its_settings)


def _condition(selection: Selection, history: SchemaHistory) -> ConditionRows | None:
    if selection.where is None:
        return None
    from binspark.sql.condition import ConditionRows  # loads kernels

    return ConditionRows(selection, history)
