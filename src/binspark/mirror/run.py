"""A mirror while it runs: copies what is missing, then applies the log, range by range, until it is stopped."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from binspark.errors import Authentication, OptionError, Purged, SchemaError, Server, SourceError
from binspark.mirror.apply import RangeApplier
from binspark.mirror.copying import TableCopier
from binspark.mirror.dump_copying import DumpCopier
from binspark.mirror.logged import LoggedDefinitions
from binspark.mirror.plan import PlannedTable, make_plan
from binspark.mirror.progress import MirrorProgress
from binspark.mirror.runners.local import Runners
from binspark.mirror.runners.runner import Runner
from binspark.mirror.schema.mirrored_table import HISTORY
from binspark.mirror.settings import MirrorSettings, SnapshotMode
from binspark.mirror.source.change_source import ChangeSource, TablePatterns
from binspark.mirror.state import Phase
from binspark.mirror.statements import StatementApplier
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.targets.target import Cut, Target
from binspark.mirror.versions import begin_versions, end_versions
from binspark.monitoring.reporter import OnStatus, monitored
from binspark.monitoring.status import Status
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.server.info import require_row_format
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.reported import Reported

if TYPE_CHECKING:
    from binspark.mirror.history import ChangeHistory

log = logging.getLogger("binspark.mirror")
_FIRST_WAIT_SECONDS = 1.0
_MAX_WAIT_SECONDS = 60.0


class Mirror:
    """Keeps tables of a target equal to those of a source.

    spark_runner   works on large ranges and tables; with None, this process does
    on_report      is called with the progress, after each step
    checkpoint     is called between the steps that a crash may come between; tests crash there
    """

    def __init__(
        self,
        source: ChangeSource,
        target: Target,
        patterns: TablePatterns,
        settings: MirrorSettings,
        *,
        spark_runner: Callable[[], Runner] | None = None,
        on_report: OnStatus | None = None,
        checkpoint: Callable[[str], None] = lambda _step: None,
    ) -> None:
        self._source = source
        self._settings = settings
        self._runners = Runners(source.bytes_between, spark_runner, settings.local_bytes, settings.limits.memory_bytes)
        self._on_report = on_report or (lambda _report: None)
        self._at_end: Callable[[], None] = lambda: None
        self._checkpoint = checkpoint
        self._stop = threading.Event()
        self._reporting = threading.Lock()
        self._copier: TableCopier | DumpCopier | None = None
        self._wanted_again = {TableName(*name.split(".", 1)) for name in settings.resnapshot}
        self._cleaned = time.monotonic()
        self._is_reached = self._is_prepared = self._has_dump = False
        self._copies_missing = False
        self.tables = MirroredTables(target, patterns, settings)
        self.statements = StatementApplier(self.tables, source.config, self._end_versions)
        self.progress = MirrorProgress(source.activity)
        self._history = _history(target, patterns, settings) if settings.history else None
        self._logged = None if self._history is None else LoggedDefinitions(self.tables, self._history)
        self._applier = RangeApplier(
            source, self.tables, self.statements, self._runners, checkpoint, self._logged, self._copy_noted
        )

    def at_end(self, call: Callable[[], None]) -> None:
        """Set what is called when a run has ended, also with an error."""
        self._at_end = call

    def stop(self) -> None:
        """End in order, from a signal or any thread: after the commit that is being made."""
        self._stop.set()
        if self._copier is not None:
            self._copier.stop()

    def plan(self) -> list[PlannedTable]:
        """Return what `run` will do with each table. Nothing is changed."""
        try:
            return make_plan(self._source, self.tables)
        finally:
            self._source.stop()

    def status(self) -> Status:
        """Return how far it is, from any thread."""
        return self.progress.status()

    def run(self, until: BinlogPosition | None = None) -> Status:
        """Run until `stop` is called or, with `once`, all is applied that the source had at the beginning.

        With `until`, nothing after that position is applied.
        """
        try:
            with monitored(self.status, self._settings.metrics):
                return self._run(until)
        finally:
            self._at_end()

    def _run(self, until: BinlogPosition | None) -> Status:
        attempts, wait = 0, _FIRST_WAIT_SECONDS
        reached: BinlogPosition | None = None
        try:
            while not self._stop.is_set():
                followed_from: float | None = None
                try:
                    self._prepare()
                    self._is_prepared = True
                    followed_from = time.monotonic()
                    self._follow(until)
                    break
                except SourceError as error:
                    if self._has_worked(followed_from) or self.tables.position != reached:
                        attempts, wait, reached = 0, _FIRST_WAIT_SECONDS, self.tables.position
                    attempts += 1
                    if not self._may_try_again(error, attempts):
                        raise
                    self.progress.failed(error)
                    log.warning("%s; trying again in %.0f s", error, wait)
                    self._report()
                    self._stop.wait(wait)
                    wait = min(2 * wait, _MAX_WAIT_SECONDS)
        finally:
            self._source.stop()
        return self._report()

    @staticmethod
    def _has_worked(followed_from: float | None) -> bool:
        """Return whether the log was followed for a while before a failure, which is not the one before it then."""
        return followed_from is not None and time.monotonic() - followed_from > _MAX_WAIT_SECONDS

    def _may_try_again(self, error: SourceError, attempts: int) -> bool:
        """Return whether a step that failed may succeed later: once a server and a target were reached, if one is lost.

        A target is reached when it has a table: one that cannot be created is most likely a mistake.
        All that a run knows is read again from the target, so that it does not matter where the step has failed.
        """
        is_lasting = isinstance(error, Server | Authentication | Purged)
        has_table = len(self.tables) > 0 or (self._history is not None and self._history.position is not None)
        is_reached = self._is_prepared or (self._is_reached and has_table)
        return is_reached and not is_lasting and attempts <= self._settings.retry_attempts

    # --- Steps --------------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Read what the target has, finish what a run before left to do, and copy what has to be copied at once.

        A mirror that has a position finds tables that it does not know: the log from there on may create them, or
        rename others to them. They are copied if it does not.
        """
        if self._history is not None:
            self._history.end()
        self.tables.load(self._databases(), self._source, self._wanted_again)
        self._is_reached = True
        self._applier.cascades.read()
        self.statements.finish()
        if self._settings.from_dump is not None and not self._has_dump:
            self._copy_dump(self._settings.from_dump)
        self._copies_missing = self._source.config is not None and self._settings.snapshot is SnapshotMode.INITIAL
        if self._copies_missing and self.tables.position is None:
            self._copy_missing()
        self._copy(self._wanted_again)
        begin_versions(self.tables, self._runners.of_bytes)

    def _databases(self) -> Catalog:
        """Return the databases of the source without their tables; of logs alone, nothing is known."""
        if self._source.config is None:
            return Catalog()
        with connect(self._source.config) as connection:
            require_row_format(connection)
            return from_server(connection.rows, ())

    def _present(self) -> Catalog:
        """Return the databases of the source, and the tables of those that are mirrored; of logs, nothing is known."""
        if self._source.config is None:
            return Catalog()
        with connect(self._source.config) as connection:
            databases = from_server(connection.rows, ()).databases
            return from_server(connection.rows, list(filter(self.tables.patterns.wants_of, databases)))

    def _copy_missing(self) -> None:
        """Copy the tables that the server has and the mirror has not."""
        self._copies_missing = False
        present = {name for name, definition in self._present().tables.items() if definition is not None}
        if not len(self.tables) and not any(map(self.tables.patterns.wants, present)):
            raise self.tables.patterns.no_table()
        self.tables.patterns.warn_of_unmatched(present)
        self._copy({name for name in present if self.tables.patterns.wants(name) and not self._is_there(name)})

    def _is_there(self, name: TableName) -> bool:
        table = self.tables.find(name)
        return table is not None and table.state.phase is not Phase.DROPPED

    def _copy(self, names: set[TableName]) -> None:
        interrupted = any(table.state.phase is Phase.SNAPSHOT for table in self.tables)
        if not (names or interrupted) or self._source.config is None:
            return
        on_begin = (lambda _position, _definitions: None) if self._logged is None else self._logged.keep
        copier = self._copier = TableCopier(
            self._source.config, self.tables, self._copied, self._runners.of_bytes, self._checkpoint, on_begin
        )
        copier.copy(names)
        begin_versions(self.tables, self._runners.of_bytes)
        self._wanted_again -= names
        self.statements.missing -= names

    def _copy_noted(self, end: BinlogPosition) -> None:
        """Copy the tables that statements up to a position have made necessary to copy; let versions of rows begin."""
        names = set(self.statements.missing)
        if names and self._source.config is None:
            name, unknown = min(names), "the log does not contain what a statement did to its rows"
            message = f"{name} has to be copied again: {self.statements.reasons.get(name, unknown)}"
            raise SchemaError(f"{message}; mirror it from a server, or leave it out with --exclude-tables")
        if names:
            self._copy(names)
        if self._settings.scd2:
            begin_versions(self.tables, self._runners.of_bytes, self._lag_seconds(end))

    def _end_versions(self, name: TableName, position: BinlogPosition) -> None:
        """End the versions of rows of a table that the log has dropped while it was copied."""
        end_versions(self.tables, name, position, self._runners.of_bytes, self._lag_seconds(position))

    def _lag_seconds(self, position: BinlogPosition) -> float | None:
        reported = self._source.reported(position)
        return None if reported is None else reported.lag_seconds

    def _copy_dump(self, path: str) -> None:
        copier = self._copier = DumpCopier(self._source, self.tables, self._copied)
        copier.copy(path)
        self._has_dump = True

    def _copied(self, name: TableName, rows: int, expected: int) -> None:
        self.progress.copied(name, rows, expected)
        self._report()

    def _follow(self, until: BinlogPosition | None) -> None:
        """Apply the log, range by range."""
        start = self.tables.position or self._source.start(self._settings.start)
        try:
            self._source.require_continued(start)
        except Purged as error:
            raise self._purged(error) from None
        cut_before = self.tables.target.cuts.last()
        if self._logged is not None:
            self._logged.begin(start)
        goal: BinlogPosition | None = until or self._source.head()
        while not self._stop.is_set():
            if goal is not None and start.reaches(goal):
                if self._copies_missing:
                    self._copy_missing()
                    goal = self._source.head()
                    continue
                if not self._settings.once:
                    goal = None
                    continue
                if self.tables.cut_position != start:
                    self._applier.cut(start)
                self._clean_up_after(cut_before)
                break
            began = time.monotonic()
            end = self._end_of_range(start, goal)
            if end == start:
                self._idle(began)
                continue
            self.progress.applied(self._applier.apply(start, end))
            start = end
            self._report()
            self._clean_up()
            self._wait_for_next(began, goal)

    def _end_of_range(self, start: BinlogPosition, goal: BinlogPosition | None) -> BinlogPosition:
        """Return where the next range ends: at most at the position of a table that is further than the others."""
        ahead = [table.position for table in self.tables if table.is_applied and not start.reaches(table.position)]
        kept = None if self._history is None else self._history.position
        ahead += [position for position in (kept, goal) if position is not None and not start.reaches(position)]
        target = next((one for one in ahead if all(other.reaches(one) for other in ahead)), None)
        try:
            return self._source.latest(start, Limit(bytes=self._settings.apply_bytes), target)
        except Purged as error:
            raise self._purged(error) from None

    def _purged(self, error: Purged) -> Purged:
        lagging = [str(table.name) for table in self.tables if table.is_applied and not table.has_versions]
        again = " ".join(f"--resnapshot {name}" for name in lagging[:3]) + (" …" if len(lagging) > 3 else "")  # noqa: PLR2004
        message = f"{error.message}. The mirror needs what is gone: copy its tables again with {again}"
        return Purged(f"{message}, or give it the logs from an archive", error.position)

    def _idle(self, began: float) -> None:
        self._report()
        self._clean_up()
        self._stop.wait(max(0.0, min(self._settings.apply_seconds, 1.0) - (time.monotonic() - began)))

    def _wait_for_next(self, began: float, goal: BinlogPosition | None) -> None:
        """Wait until changes are due to be committed again, unless there is more than enough to do."""
        reported = self.progress.lag
        is_behind = reported is not None and (reported.lag_bytes or 0) >= self._settings.apply_bytes
        if goal is None and not is_behind:
            self._stop.wait(max(0.0, self._settings.apply_seconds - (time.monotonic() - began)))

    def _clean_up(self) -> None:
        every = self._settings.clean_up_seconds
        if every and time.monotonic() - self._cleaned >= every:
            self._remove_old_versions()

    def _clean_up_after(self, cut_before: Cut | None) -> None:
        """Remove old versions if this run is the first one of an interval of clean-ups that has changed a table.

        Runs of which each is shorter than the interval would keep all versions otherwise.
        """
        every, cut = self._settings.clean_up_seconds * 1e6, self.tables.target.cuts.last()
        if every and cut is not None and cut_before is not None and cut.time_us // every > cut_before.time_us // every:
            self._remove_old_versions()

    def _remove_old_versions(self) -> None:
        settings = self._settings
        self._cleaned = time.monotonic()
        cuts = [dict(cut.versions) for cut in self.tables.target.cuts.clean_up(settings.keep_seconds)]
        for table in self.tables:
            table.clean_up(settings.keep_seconds, {cut[table.name] for cut in cuts if table.name in cut})
        if self._history is not None:
            self._history.clean_up(settings.keep_seconds, {cut[HISTORY] for cut in cuts if HISTORY in cut})

    def _report(self) -> Status:
        with self._reporting:  # tables are copied by several threads
            self.progress.observe(self._lag_of(self.tables.position))
            report = self.progress.report(self.tables, self._lag_of)
            self._on_report(report)
        return report

    def _lag_of(self, position: BinlogPosition | None) -> Reported | None:
        with suppress(SourceError):
            return self._source.reported(position)
        return None


def _history(target: Target, patterns: TablePatterns, settings: MirrorSettings) -> ChangeHistory:
    with requires_pyspark("history"):  # Spark's types
        from binspark.mirror.history import ChangeHistory
    return ChangeHistory(target, patterns.tables, patterns.excluded, settings.limits)


@contextmanager
def requires_pyspark(option: str) -> Iterator[None]:
    """Say which option needs pyspark, where it is imported and not installed: all else works without it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "pyspark":
            raise
        problem = "needs pyspark, which is not installed: pip install 'binspark[spark]'"
        raise OptionError(problem, option=option) from None
