"""All numbers of a report, read from one or more logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from binspark.changes.selection_options import SelectionOptions, make_selection, take_schema_file
from binspark.columns.arena import ReadInto
from binspark.columns.log_scan import Numbers
from binspark.columns.metadata import Metadata
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Operations, Selection
from binspark.columns.transaction_batch import ClosedTransactions
from binspark.errors import BinlogError, DecodeError, SourceError
from binspark.files.batches import source_batches
from binspark.files.condition_counts import ConditionCounts
from binspark.files.condition_rows import make_readable_twice
from binspark.files.contents import BulkCounter, Pass, SelectedContents, can_count_in_bulk
from binspark.files.positions import part_between
from binspark.files.read import source_events
from binspark.files.schema_file import Schema, history_of
from binspark.files.sources import LogSource, Paths, expect_logs, find_logs
from binspark.files.unmatched import warn_of_unmatched
from binspark.gtid import GtidSet
from binspark.kernels import cache
from binspark.reports.activity import Activity
from binspark.reports.durations import Durations
from binspark.reports.hints import Evidence
from binspark.reports.hot_rows import HotRows
from binspark.reports.numbers import GtidGap, Histogram, ReportNumbers, Series
from binspark.reports.result import Report
from binspark.reports.timeline import Timeline
from binspark.schema.history import SchemaHistory
from binspark.transactions.contents import Contents
from binspark.verify import verify_logs
from binspark.verify.report import Report as Verification

_MAX_SHOWN_TABLES = 8
_MAX_HOT_ROWS = 20
_ALL_OTHERS = "all others"
_ALL = Selection()
_CHANGING = Operations.UPDATE | Operations.DELETE
_PASSES = 4
"""How often logs are read: for events, transactions, keys of rows, and to verify them."""


def report(paths: Paths, *, schema_file: Schema = None, **options: Unpack[SelectionOptions]) -> Report:
    """Return what one or more logs contain, over time, and what is wrong with them.

    >>> binspark.report("binlog.*").write_html("report.html")  # doctest: +SKIP

    The options, those of `SelectionOptions`, select what is counted. The logs are verified completely.
    """
    cache.enable()
    history = history_of(take_schema_file(schema_file, options))
    selection = make_selection(options)
    found = collect_report(part_between(find_logs(paths), selection), selection, history)
    warn_of_unmatched(selection)
    return found


def collect_report(
    sources: Sequence[LogSource], selection: Selection = _ALL, history: SchemaHistory | None = None
) -> Report:
    """Return the report of logs. Damage is a finding, not an error."""
    for source in sources:
        make_readable_twice(source)
    expect_logs(sources, _PASSES)
    known = history or SchemaHistory()
    contents, activity, durations = _count(sources, selection, known)
    activity.finish()
    hot_rows, evidence = HotRows(), Evidence()
    reader = BatchReader(_keys(selection), known)
    for source in sources:
        try:
            for batch in source_batches(source, reader, on_damage=lambda _damage: None):
                hot_rows.add(batch)
                evidence.add(batch)
        except BinlogError:
            continue  # verify reports it
    verification = verify_logs(sources)
    evidence.statements, evidence.anonymous = activity.statements, activity.anonymous
    evidence.is_mariadb = any("mariadb" in version.lower() for version in contents.servers)
    evidence.without_checksums = any(file.checksum == "none" for file in verification.files)
    gtids = _gtids(verification)
    tables, operations = _by_table(activity), _by_operation(activity)
    numbers = ReportNumbers(
        files=tuple(source.name for source in sources),
        contents=contents,
        writes=_series(activity.transactions, ("transactions", "bytes")),
        rows=tables,
        operations=operations,
        sizes=_histogram(activity.sizes, [1 << power for power in range(len(activity.sizes))]),
        durations=_histogram(durations.histogram, [0, *(1 << power for power in range(len(durations.histogram) - 1))]),
        longest=tuple(activity.longest),
        hot_rows=tuple(hot_rows.hottest(_MAX_HOT_ROWS)),
        parallelism=_parallelism(activity.parallelism),
        gtids=str(gtids) if gtids else "",
        gtid_gaps=tuple(_gaps(gtids)) if gtids else (),
        schema_changes=tuple(activity.schema_changes),
        schema_change_count=activity.schema_change_count,
        verification=verification,
        hints=tuple(evidence.hints()),
        is_part=selection != _ALL,
    )
    return Report(numbers)


class _ReportContents(BulkCounter):
    """Counts contents, and everything else that a report has of events and transactions.

    durations   None if they are not measured
    """

    def __init__(
        self, selection: Selection, history: SchemaHistory, activity: Activity, durations: Durations | None
    ) -> None:
        super().__init__(selection, history)
        self._activity = activity
        self._durations = durations

    def passes(self) -> tuple[Pass, Pass]:
        """Return what reads a log: events first, because durations are measured by them."""
        return self.read_events, self.read_transactions

    def count_events(self, numbers: Numbers) -> None:
        if self._durations is not None:
            self._durations.add(numbers)
        super().count_events(numbers)

    def read_transactions(self, read_into: ReadInto, file: str, stop: int | None = None) -> None:
        if self._durations is not None:
            self._activity.begin_file(self._durations.end_file())
        super().read_transactions(read_into, file, stop)

    def count_transactions(self, closed: ClosedTransactions, complete: ClosedTransactions) -> None:
        self._activity.add(closed)
        super().count_transactions(closed, complete)


def _count(
    sources: Sequence[LogSource], selection: Selection, history: SchemaHistory
) -> tuple[Contents, Activity, Durations]:
    """Count what is selected of logs. Durations are only measured if everything is."""
    activity, durations = Activity(), Durations()
    if not all(map(can_count_in_bulk, sources)):
        return _count_by_event(sources, selection, history, activity), activity, durations
    counter = _ReportContents(selection, history, activity, durations if selection == _ALL else None)
    for source in sources:
        try:
            counter.count(source)
        except (DecodeError, SourceError):
            continue  # verify reports it
    return counter.finish(), activity, durations


def _count_by_event(
    sources: Sequence[LogSource], selection: Selection, history: SchemaHistory, activity: Activity
) -> Contents:
    """Count logs that kernels do not read twice: of old versions, or from a pipe. They have no durations."""
    counts = None if selection.where is None else ConditionCounts(selection, history)
    counter = SelectedContents(selection, counts, activity.add_transaction)
    for source in sources:
        try:
            if counts is None:
                counter.read(source_events(source), source.start)
            else:
                counts.begin_source(source)
                counter.read(counts.follow(source_events(source)), source.start)
        except DecodeError:
            continue  # verify reports it
    return counter.finish()


def _keys(selection: Selection) -> Selection:
    """Return what selects the keys of rows that are changed."""
    operations = selection.operations & _CHANGING
    return replace(selection, columns=(), operations=operations, metadata_columns=frozenset({Metadata.KEY}))


def _by_table(activity: Activity) -> Series:
    rows = activity.rows
    totals: dict[str, int] = {}
    for table, operation in rows.keys:
        totals[table] = totals.get(table, 0) + rows.total((table, operation))
    names = sorted(totals, key=lambda name: (-totals[name], name))
    shown, others = names[:_MAX_SHOWN_TABLES], names[_MAX_SHOWN_TABLES:]
    values = {name: _summed(rows, [key for key in rows.keys if key[0] == name]) for name in shown}
    if others:
        hidden = set(others)
        values[_ALL_OTHERS] = _summed(rows, [key for key in rows.keys if key[0] in hidden])
    return Series(rows.width, rows.times, values)


def _by_operation(activity: Activity) -> Series:
    rows = activity.rows
    names = sorted({operation for _, operation in rows.keys}, key=("insert", "update", "delete", "truncate").index)
    values = {name: _summed(rows, [key for key in rows.keys if key[1] == name]) for name in names}
    return Series(rows.width, rows.times, values)


def _summed(rows: Timeline[tuple[str, str]], keys: Sequence[tuple[str, str]]) -> list[float]:
    found: list[float] = np.sum([rows.sums(key) for key in keys], axis=0).tolist()
    return found


def _series(timeline: Timeline[str], names: Sequence[str]) -> Series:
    return Series(timeline.width, timeline.times, {name: list(map(float, timeline.sums(name))) for name in names})


def _parallelism(timeline: Timeline[str]) -> Series:
    counts = zip(timeline.sums("transactions"), timeline.sums("steps"), strict=True)
    averages = [round(transactions / steps, 3) if steps else 0.0 for transactions, steps in counts]
    return Series(timeline.width, timeline.times, {"average": averages})


def _histogram(counts: Numbers, bounds: list[int]) -> Histogram:
    """Return a histogram without the empty ends."""
    used = np.flatnonzero(counts)
    if not len(used):
        return Histogram([], [])
    first, last = int(used[0]), int(used[-1]) + 1
    return Histogram(bounds[first:last], counts[first:last].tolist())


def _gtids(verification: Verification) -> GtidSet | None:
    """Return all GTIDs in the logs; None for MariaDB, whose reports have only the last ones."""
    found = GtidSet()
    for file in verification.files:
        if file.gtids and ":" not in file.gtids:
            return None
        found |= GtidSet(file.gtids)
    return found


def _gaps(gtids: GtidSet) -> Iterator[GtidGap]:
    """Yield what is missing between the first and the last number of each source."""
    for source, intervals in gtids.parts:
        complete = GtidSet.from_parts([(source, ((intervals[0][0], intervals[-1][1]),))])
        missing = complete - GtidSet.from_parts([(source, intervals)])
        if missing:
            yield GtidGap(source[0], str(missing), missing.count())
