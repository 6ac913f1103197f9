"""Proves that mirrored tables equal their sources, or finds the rows that differ."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from binspark.errors import SchemaError, Server
from binspark.frames.format import Family
from binspark.mirror.check.catch_up import Advance, CatchUp
from binspark.mirror.check.compare import Catch, Comparison, Differing
from binspark.mirror.check.key_ranges import KeyRange, key_ranges
from binspark.mirror.check.mirror_rows import MirrorRows
from binspark.mirror.check.repair import repair_rows
from binspark.mirror.check.repair_versions import VersionRepair
from binspark.mirror.check.report import CheckReport, TableReport
from binspark.mirror.check.row_text import row_text
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.check.source_rows import SourceRows, column_names
from binspark.mirror.check.versions import check_versions
from binspark.mirror.schema.definitions import as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import HISTORY, MirroredTable
from binspark.mirror.schema.version_table import is_versions_name
from binspark.mirror.snapshot.borders import plan_chunks
from binspark.mirror.snapshot.positions import lock_for_reading
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.target import Target, TargetTable
from binspark.replication.find import end_of_log
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect
from binspark.server.info import server_family

OnTable = Callable[[TableReport], None]
"""Is called with what was found so far, after each range."""

CopyAgain = Callable[[TableName], None]
"""Copies a table again, for a mirror that is not running, and lets it catch up."""

_Repair = Callable[[Differing], int]
_NOT_COMPARED = {
    Phase.SNAPSHOT: "its rows are still being copied: check it when the mirror has caught up",
    Phase.DROPPED: "the source has dropped it",
}


def check(
    config: ConnectionConfig,
    target: Target,
    tables: TablePatterns,
    settings: CheckSettings | None = None,
    *,
    advance: Advance | None = None,
    copy_again: CopyAgain | None = None,
    on_range: OnTable | None = None,
) -> CheckReport:
    """Compare mirrored tables with those of a server, and return what was found.

    tables       which of them
    advance      lets a mirror that is not running apply changes; without it, the mirror is waited for
    copy_again   repairs tables without a key, whose rows cannot be repaired one by one
    """
    found: list[TableReport] = []
    for name in target.tables():
        if tables.wants(name) and name != HISTORY and not _has_versions(target, name):
            table = _TableCheck(config, target, name, settings or CheckSettings(), advance, on_range)
            report = _checked(table, TableReport(name), copy_again)
            versions = None if report.problem else table.versions()
            found += [report] if versions is None else [report, versions]
    return CheckReport(tuple(found))


def _checked(table: _TableCheck, report: TableReport, copy_again: CopyAgain | None) -> TableReport:
    """Compare one table. If all of it has to be copied again to be repaired, compare it again after that."""
    try:
        table.run(report)
        if not report.needs_copy:
            return report
        if copy_again is None:
            message = f"{report.name} differs and has no key, so that single rows cannot be repaired"
            advice = f"stop the mirror and copy the table again, with --repair --once or --resnapshot {report.name}"
            raise SchemaError(f"{message}: {advice}")
        copy_again(report.name)
        again = TableReport(report.name, differences=report.differences, repaired=report.differing)
        table.run(again)
    except (SchemaError, Server) as error:
        report.problem = str(error)
        return report
    return again


def _has_versions(target: Target, name: TableName) -> bool:
    """Return whether a table has the versions of another's rows: the source has no such table."""
    table = target.table(name) if is_versions_name(name) else None
    state = None if table is None else table.read().state
    return state is not None and state.has_versions


class _TableCheck:
    """Compares one table."""

    def __init__(
        self,
        config: ConnectionConfig,
        target: Target,
        name: TableName,
        settings: CheckSettings,
        advance: Advance | None,
        on_range: OnTable | None,
    ) -> None:
        self._config = config
        self._target = target
        self._name = name
        self._settings = settings
        self._advance = advance
        self._on_range = on_range

    def run(self, report: TableReport) -> None:
        """Compare all ranges; what is found is added to the report."""
        table = self._target.table(self._name)
        state = None if table is None else table.read().state
        if table is None or state is None or state.phase in _NOT_COMPARED:
            report.problem = "it is not a mirrored table" if state is None else _NOT_COMPARED[state.phase]
            return
        with ExitStack() as opened:
            connection = opened.enter_context(connect(self._config))
            reading = opened.enter_context(connect(self._config))
            catch_up = CatchUp(connection, self._target, table, self._settings.wait_seconds, self._advance)
            mirrored = self._with_columns_of(connection, table, state, catch_up)
            reach: Catch = catch_up
            if self._settings.exact:
                reach = _at_one_position(connection, reading, mirrored, catch_up)
            text = row_text(mirrored, mariadb=server_family(connection) is Family.MARIADB)
            source, mirror = SourceRows(reading, mirrored, text), MirrorRows(table, mirrored, text)
            comparison = Comparison(source, mirror, text, reach, self._settings.rounds)
            repair: _Repair | None = None
            if self._settings.repair and mirrored.key:
                versions = VersionRepair.of(self._target, mirrored, self._settings.columns)
                limits = self._settings.limits
                repair = partial(repair_rows, connection, table, mirror, mirrored, limits=limits, versions=versions)
            chunks = plan_chunks(connection, mirrored, self._settings.rows_per_range)
            for within in key_ranges(mirrored, chunks, mirror.rows):
                self._compare(comparison, within, report, repair)
                report.ranges += len(within.chunks)
                if self._on_range is not None:
                    self._on_range(report)
            report.needs_copy = self._settings.repair and not mirrored.key and report.differing > 0

    def versions(self) -> TableReport | None:
        """Compare the versions of its rows with the table; None if there are none."""
        table = self._target.table(self._name)
        state = None if table is None else table.read().state
        if table is None or state is None:
            return None
        report = check_versions(self._target, table, self._mirrored(state), self._settings)
        if report is not None and self._on_range is not None:
            self._on_range(report)
        return report

    def _compare(self, comparison: Comparison, within: KeyRange, report: TableReport, repair: _Repair | None) -> None:
        for found in comparison.compare(within):
            if isinstance(found, int):
                report.rows += found
                continue
            report.undecided += found.undecided
            room = self._settings.listed - len(report.differences)
            if found.rows and room > 0:
                report.differences.extend(comparison.details(found, room))
            if found.rows and repair is not None:
                report.repaired += repair(found)
            else:
                report.differing += len(found.rows)

    def _with_columns_of(
        self, connection: Connection, table: TargetTable, state: TableState, catch_up: CatchUp
    ) -> MirroredTable:
        """Return how the table is mirrored. If the source has other columns, the mirror has yet to follow."""
        mirrored = self._mirrored(state)
        if column_names(connection, mirrored) != mirrored.schema.names:
            catch_up()
            mirrored = self._mirrored(table.read().state or state)
            found = column_names(connection, mirrored)
            if found != mirrored.schema.names:
                ours, theirs = ", ".join(mirrored.schema.names), ", ".join(found)
                raise SchemaError(f"its columns are {theirs} in the source, and {ours} in the mirror, which may lag")
        return mirrored

    def _mirrored(self, state: TableState) -> MirroredTable:
        name, definition = read_stored(state.definition)
        mirrored = as_mirrored(name, definition, self._target.column_type, self._settings.columns)
        return replace(mirrored, key=state.key)


def _at_one_position(connection: Connection, reading: Connection, table: MirroredTable, catch_up: CatchUp) -> Catch:
    """Make a connection read a table as it is at a position that the mirror has reached; return what verifies that.

    No transaction changes the table while the position is read: that takes milliseconds, after those that have begun.
    """
    reading.rows("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    lock_for_reading(connection, table)
    try:
        reading.rows("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        position = end_of_log(connection)
    finally:
        connection.rows("UNLOCK TABLES")
    if not catch_up.reach(position):
        message = f"the mirror has not reached {position.describe()}, the position to compare at"
        raise SchemaError(f"{message}; start it, or wait longer with --check-seconds")
    return lambda: catch_up.is_at(position)
