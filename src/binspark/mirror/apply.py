"""One range of the log, applied to all tables: each table in one commit, with the position after the range."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from binspark.errors import Malformed, SchemaError, Unsupported
from binspark.mirror.cascades import Cascaded, Cascades
from binspark.mirror.incomplete import completed
from binspark.mirror.runners.local import Runners
from binspark.mirror.runners.runner import TaskResult
from binspark.mirror.schema.alter import Pending
from binspark.mirror.schema.mirrored_table import HISTORY
from binspark.mirror.snapshot.statement import TableChanged
from binspark.mirror.source.change_source import ChangeSource, ReadTask
from binspark.mirror.state import Phase, TableState
from binspark.mirror.statements import StatementApplier
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.mirror.targets.target import CommitConflict, Cut, OtherMirror
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.table import TableName
from binspark.spark.streaming.statements import Statement

if TYPE_CHECKING:
    from binspark.mirror.logged import LoggedDefinitions

log = logging.getLogger("binspark.mirror")
_ATTEMPTS = 5
_ADVICE = (
    "if this is a row of a table, start the mirror with --resnapshot DATABASE.TABLE, which copies the table again and "
    "continues after this row, or with --exclude-tables DATABASE.TABLE"
)


@dataclass(slots=True)
class AppliedRange:
    """What was done with a range.

    changes   how many records were applied to each table
    bytes     how many bytes of data files were written
    """

    start: BinlogPosition
    end: BinlogPosition
    changes: dict[TableName, int] = field(default_factory=dict)
    bytes: int = 0


class RangeApplier:
    """Applies ranges of the log, one after the other.

    runners         apply ranges, or parts of them
    checkpoint      is called between the steps that a crash may come between; tests crash there
    logged          the history of all changes, if it is wanted, and the definitions of tables there
    copy_again      copies tables that statements have changed in ways the log does not contain; it gets the position
    """

    def __init__(
        self,
        source: ChangeSource,
        tables: MirroredTables,
        statements: StatementApplier,
        runners: Runners,
        checkpoint: Callable[[str], None] = lambda _step: None,
        logged: LoggedDefinitions | None = None,
        copy_again: Callable[[BinlogPosition], None] = lambda _position: None,
    ) -> None:
        self._definitions = logged
        self._history = None if logged is None else logged.history
        self._copy_again = copy_again
        self._source = source
        self._tables = tables
        self._statements = statements
        self._runners = runners
        self.cascades = Cascades(source, tables, runners)
        self._cascaded = Cascaded()
        self._checkpoint = checkpoint
        self._consistent_from: dict[TableName, BinlogPosition] = {}
        self._found: Sequence[Statement] = ()
        self._logged: Catalog | None = None

    def apply(self, start: BinlogPosition, end: BinlogPosition) -> AppliedRange:
        """Apply a range, make the change of the statement that it ends with, and store the cut."""
        found = self._source.statements(start, end)
        self._found, self._logged = found, None if self._definitions is None else self._definitions.at(start)
        statements: list[Statement] = []
        for statement in found:
            if self._tables.patterns.concerns(statement.change):
                statements.append(statement)
            else:
                self._tables.apply(statement.change, statement.origin)
        for statement in statements:
            self._statements.before_rows(statement, start)
        pending: dict[TableName, Pending] = {}
        emptied: set[TableName] = set()
        for statement in statements:
            pending |= self._statements.pending(statement)
            emptied |= self._statements.emptied(statement)
        emptied |= self._changed_by_foreign_keys(start, end)
        applied = AppliedRange(start, end)
        due = [table for table in self._tables if _is_due(table, end) and table.name not in emptied]
        due.sort(key=lambda table: not table.has_versions)  # so that no table is ahead of its versions
        self._apply_rows(applied, due, pending)
        self._checkpoint("rows")
        self._make_changes(statements)
        for table in self._tables:
            if table.is_applied:
                table.skip_to(end)
        self._copy_again(end)
        self._checkpoint("before the cut")
        self.cut(end)
        self._checkpoint("after the cut")
        return applied

    def _changed_by_foreign_keys(self, start: BinlogPosition, end: BinlogPosition) -> set[TableName]:
        """Find the rows that foreign keys change in a range; return the tables that are copied again because of it."""
        copied = self.cascades.follow(self._found)
        self._cascaded = self.cascades.of(start, end)
        for name, reason in (copied | self._cascaded.copied).items():
            self._statements.copy_again(name, reason)
        return {*copied, *self._cascaded.copied}

    def cut(self, position: BinlogPosition) -> None:
        """Store that all tables are at a position."""
        versions = tuple((table.name, table.version.version) for table in self._tables if table.is_applied)
        if self._history is not None:
            versions = (*versions, (HISTORY, self._history.version))
        gtids = "" if position.gtids is None else str(position.gtids)
        now = time.time_ns() // 1000
        number, mirror = self._tables.next_cut_number, self._tables.mirror_id
        self._tables.commit_cut(Cut(number, str(position), gtids, now, versions, mirror))

    def _parts(self, start: BinlogPosition, end: BinlogPosition) -> list[ReadTask]:
        """Return the parts of a range, with what is known of tables before it."""
        parts = self._source.tasks(start, end, self._tables.catalog)
        parts[:1] = [replace(part, read_again=self._cascaded.read_again) for part in parts[:1]]
        if self._logged is None or self._logged is self._tables.catalog:
            return parts
        logged = self._source.tasks(start, end, self._logged)
        return [replace(part, logged=other.history) for part, other in zip(parts, logged, strict=True)]

    def _make_changes(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self._statements.after_rows(statement)
            self._checkpoint("statement")

    def _apply_rows(self, applied: AppliedRange, tables: list[OpenTable], pending: dict[TableName, Pending]) -> None:
        """Apply the rows of a range to tables. Where another program was faster, plan again on what it committed."""
        for attempt in range(1, _ATTEMPTS + 1):
            results = self._run(applied, tables)
            conflicts: list[OpenTable] = []
            for number, table in enumerate(tables):
                if table.name in self._statements.missing:
                    continue
                state, own = self._state_after(table, applied.end, pending), results.get(number, [])
                if not own and state == replace(table.state, position=applied.end):
                    continue
                try:
                    self._commit(applied, table, state, own)
                except CommitConflict as error:
                    log.warning("%s: %s", table.name, error.message)
                    conflicts.append(table)
                self._checkpoint("table")
            tables = [table for table in conflicts if _reread(table, applied.end)]
            if not tables:
                return
            log.warning("attempt %d of %d: planning %d tables again", attempt, _ATTEMPTS, len(tables))
        raise CommitConflict(
            f"{tables[0].target.address} was changed by another program {_ATTEMPTS} times while a range was applied"
        )

    def _state_after(self, table: OpenTable, end: BinlogPosition, pending: dict[TableName, Pending]) -> TableState:
        state = table.state
        later = self._consistent_from.pop(table.name, None)
        if later is not None:
            state = replace(state, phase=Phase.CATCH_UP, consistent_from=later)
        state = state.moved(end)
        left = pending.get(table.name)
        return state if left is None else replace(state, pending=left.to_json())

    def _commit(
        self, applied: AppliedRange, table: OpenTable, state: TableState, results: Sequence[TaskResult]
    ) -> None:
        written = [result.rewritten for result in results]
        before = {file.path for file in table.version.files}
        table.commit(
            state,
            (file for each in written for file in each.added),
            (file for each in written for file in each.removed),
            changes=(file for each in written for file in each.changes),
        )
        applied.changes[table.name] = sum(result.changes for result in results)
        applied.bytes += sum(file.size for file in table.version.files if file.path not in before)

    def _run(self, applied: AppliedRange, tables: Sequence[OpenTable]) -> dict[int, list[TaskResult]]:
        """Return what becomes of tables by a range. The history gets its changes."""
        limits = self._tables.settings.limits
        works = [table.work(number, limits) for number, table in enumerate(tables)]
        parts = self._parts(applied.start, applied.end) if tables or self._history else []
        kept = None if self._history is None else self._history.work(len(works), parts, applied.end)
        if kept is not None:
            works.append(kept)
        try:
            results = self._runners.of_range(applied.start, applied.end).run(parts, works) if works else []
        except (Malformed, Unsupported) as error:
            raise type(error)(f"{error.message}; {_ADVICE}", error.position) from error
        by_table: dict[int, list[TaskResult]] = {}
        for result in results:
            by_table.setdefault(result.table, []).append(result)
        if kept is not None:  # first, so that no table is ever ahead of it
            self._append(by_table.pop(kept.number, []), applied)
        for number, own in by_table.items():
            if any(result.rewritten.incomplete is not None for result in own):
                by_table[number] = self._completed(tables[number], own)
        return by_table

    def _append(self, results: Sequence[TaskResult], applied: AppliedRange) -> None:
        """Append the changes of a range to the history, with the definitions after it."""
        assert self._history is not None
        assert self._definitions is not None
        assert self._logged is not None
        definitions = self._definitions.after(self._logged, self._found, applied.start)
        self._history.commit(results, applied.end, definitions)
        self._checkpoint("history")

    def _completed(self, table: OpenTable, results: list[TaskResult]) -> list[TaskResult]:
        """Return results with complete rows. If the server no longer has the table as it was, it is copied again."""
        try:
            return self._complete(table, results)
        except TableChanged as error:
            self._statements.copy_again(table.name, f"the log has only some columns of its rows; {error.message}")
            return []

    def _complete(self, table: OpenTable, results: list[TaskResult]) -> list[TaskResult]:
        """Return results with the rows of which the log has only some columns, as they are on the server now.

        From there on the table is consistent again when the log was applied up to now.
        """
        if self._source.config is None:
            raise SchemaError(
                f"{table.name}: the log has only some columns of rows that are not in the mirror or were replaced, or "
                "only a part of a JSON document; mirror from the server, or from logs with binlog_row_image=FULL, or "
                "leave the table out with --exclude-tables"
            )
        done = completed(self._source.config, table, results, self._tables.settings.limits)
        self._consistent_from[table.name] = self._source.head()
        return done


def _is_due(table: OpenTable, end: BinlogPosition) -> bool:
    return table.is_applied and not table.position.reaches(end)


def _reread(table: OpenTable, end: BinlogPosition) -> bool:
    """Read a table that another program has changed; return whether the range still has to be applied."""
    before = table.state
    table.reread()
    # A repair puts rows as they are now into a table, which is consistent again later; it does not move its position.
    if replace(table.state, phase=before.phase, consistent_from=before.consistent_from) != before:
        message = f"another process of this mirror writes {table.target.address}"
        raise OtherMirror(f"{message}: it is at {table.state.position.describe()}; stop one of them")
    return not table.position.reaches(end)
