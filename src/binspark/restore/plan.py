"""The plan of a recovery: which transactions of an archive are applied, which are not and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.changes.statements import statement_tables
from binspark.columns.selection import Operations, Selection
from binspark.columns.transaction_batch import (
    ClosedTransactions,
    changed_tables,
    selected,
    selects_changes,
    transaction_contents,
    transaction_numbers,
)
from binspark.columns.transaction_list import TransactionReader
from binspark.errors import OptionError, Truncated
from binspark.files.read import source_events
from binspark.files.sources import LogSource
from binspark.frames.format import Family, family_of
from binspark.gtid import GtidSet, MariadbGtid, MariadbState
from binspark.os_errors import source_errors
from binspark.position import log_name
from binspark.restore.stop import FoundStatement, StopAt, find_statement
from binspark.transactions.draft import is_ddl
from binspark.transactions.grammar import Ending
from binspark.transactions.gtids_before import find_gtids_before

_HEAD_EVENTS = 4
_HALF_ALTERS = (Ending.START_ALTER, Ending.ROLLBACK_ALTER)
_MAX_TABLES = 1000


class Decision(IntEnum):
    """What becomes of a transaction."""

    APPLY = 0
    ON_TARGET = 1
    EXCLUDED = 2
    STOPPED = 3
    INCOMPLETE = 4
    HALF_ALTER = 5


_REACHED = (Decision.APPLY, Decision.ON_TARGET)
HasTransaction = Callable[[str | None, str, int], bool]
"""Returns whether the target has a transaction: by its GTID, its file, and where it begins."""


@dataclass(slots=True)
class FilePlan:
    """The transactions that begin in one file: where, where they end, and what becomes of them."""

    source: LogSource
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    decisions: npt.NDArray[np.uint8]

    @property
    def count(self) -> int:
        """How many of them are applied."""
        return int((self.decisions == Decision.APPLY).sum())


@dataclass(slots=True)
class Plan:
    """What a recovery does.

    counts        how many transactions have which decision
    rows, bytes   of those that are applied
    first, last   the GTIDs (or positions) of the first and the last one that is applied, and their times
    gtids_before  the GTIDs before the archive, which the target must have; None if the archive does not say
    damage        where the last log is cut off, as that of a server that crashed
    hidden        MariaDB: domain and server of transactions that are not applied because the target has them
    positions     MariaDB: for each domain, the last GTID that the target has after the recovery
    """

    family: Family
    server_version: str
    files: list[FilePlan] = field(default_factory=list)
    counts: dict[Decision, int] = field(default_factory=lambda: dict.fromkeys(Decision, 0))
    rows: int = 0
    bytes: int = 0
    statements: int = 0
    ddl: int = 0
    anonymous: int = 0
    tables: set[str] = field(default_factory=set)
    first: str | None = None
    last: str | None = None
    first_time: int = 0
    last_time: int = 0
    gtids_before: GtidSet | MariadbState | None = None
    hidden: set[tuple[int, int]] = field(default_factory=set)
    positions: dict[str, str] = field(default_factory=dict)
    damage: str | None = None
    found: FoundStatement | None = None
    stopped_by: str | None = None

    @property
    def transactions(self) -> int:
        """How many transactions are applied."""
        return self.counts[Decision.APPLY]


def make_plan(logs: list[LogSource], selection: Selection, stop: StopAt, on_target: HasTransaction) -> Plan:
    """Read an archive and decide what becomes of each of its transactions."""
    version, gtids_before = _read_heads(logs)
    planner = _Planner(Plan(family_of(version), version, gtids_before=gtids_before), selection, stop, on_target)
    if stop.before_statement is not None:
        planner.plan.found = find_statement(logs, stop.before_statement)
        if planner.plan.found is None:
            raise OptionError(f"{stop.before_statement!r} is in no statement of the logs", option="--before-statement")
    reader = TransactionReader(planner)
    for log in logs:
        planner.begin(log)
        try:
            with source_errors(log.name), log.open() as file:
                for _ in reader.read(file.readinto, log.name):
                    pass
        except Truncated as error:  # a server that crashed leaves its last log so
            if log is not logs[-1]:
                raise
            planner.plan.damage = str(error)
    for _ in reader.finish():
        pass
    planner.end_file()
    if planner.waits_for is not None:
        option, gtid = planner.waits_for
        raise OptionError(f"{gtid} is not in the logs", option=option)
    return planner.plan


def _read_heads(logs: list[LogSource]) -> tuple[str, GtidSet | MariadbState | None]:
    events = list(islice(source_events(replace(logs[0], start=0, stop=None)), _HEAD_EVENTS))
    return events[-1].frame.format.server_version if events else "", find_gtids_before(events)


class _Planner:
    """Decides what becomes of transactions: the target of a `TransactionReader`."""

    def __init__(self, plan: Plan, selection: Selection, stop: StopAt, on_target: HasTransaction) -> None:
        self.plan = plan
        self._selection = selection
        # Times and positions end the recovery; they do not select single transactions.
        self._filter = replace(selection, committed_before=None, where=None)
        self._stop = stop
        self._on_target = on_target
        self._stopped = False
        self._log = LogSource("")
        self._parts: list[npt.NDArray[np.int64]] = []
        self._decisions: list[npt.NDArray[np.uint8]] = []
        self.waits_for: tuple[str, str] | None = None
        for option, gtid in (("--stop-before-gtid", stop.before_gtid), ("--stop-after-gtid", stop.after_gtid)):
            if gtid is not None:
                self.waits_for = (option, gtid)

    def begin(self, log: LogSource) -> None:
        """Begin with the next file."""
        if self._log.name:
            self.end_file()
        self._log, self._parts, self._decisions = log, [], []

    def end_file(self) -> None:
        """Keep what was decided about the transactions of a file."""
        numbers = np.concatenate([np.empty((2, 0), dtype=np.int64), *self._parts], axis=1)
        decisions = np.concatenate([np.empty(0, dtype=np.uint8), *self._decisions])
        self.plan.files.append(FilePlan(self._log, numbers[0], numbers[1], decisions))

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Take transactions that have ended."""
        numbers, contents = transaction_numbers(closed), transaction_contents(closed)
        wanted = self._wanted(closed)
        commit_times = closed.commit_times
        decisions = np.zeros(closed.count, dtype=np.uint8)
        gtids, endings = closed.gtids.to_pylist(), closed.endings
        for number, gtid in enumerate(gtids):
            transaction = _PlannedTransaction(
                gtid,
                closed.files[int(numbers["file"][number])],
                int(numbers["start"][number]),
                int(numbers["end"][number]),
                int(numbers["time"][number]),
                int(commit_times[number]),
                endings[number],
            )
            decision = decisions[number] = self._decide(transaction, is_wanted=bool(wanted[number]))
            if self.plan.family is Family.MARIADB and gtid is not None and decision in _REACHED:
                self.plan.positions[gtid.partition("-")[0]] = gtid
        self._parts.append(np.stack([numbers["start"], numbers["end"]]).astype(np.int64))
        self._decisions.append(decisions)
        self._count(closed, decisions, contents, numbers["time"])
        return iter(())

    def _wanted(self, closed: ClosedTransactions) -> npt.NDArray[np.bool_]:
        """Return which transactions are selected: by what they are, and by the tables that they change or name."""
        wanted = selected(self._filter, closed)
        if not selects_changes(self._filter):
            return wanted
        others = selected(replace(self._filter, tables=None, excluded=frozenset(), operations=Operations.ALL), closed)
        if self._filter.operations is Operations.ALL:
            for number, notes in closed.notes.items():
                if number < closed.count and others[number]:
                    named = {
                        table for text in notes.texts for table in statement_tables(text, closed.schema_of(number))
                    }
                    is_about_none = not named and self._filter.tables is None
                    wanted[number] |= is_about_none or any(map(self._filter.wants, named))
        return wanted

    def _decide(self, transaction: _PlannedTransaction, *, is_wanted: bool) -> Decision:
        if not self._stopped and self._stops_before(transaction):
            self._stopped = True
        if self._stopped:
            return Decision.STOPPED
        if transaction.gtid is not None and transaction.gtid == self._stop.after_gtid:
            self._stopped, self.waits_for = True, None
            self.plan.stopped_by = f"after {transaction.gtid}"
        if not transaction.ending.complete:
            return Decision.INCOMPLETE
        if not is_wanted or transaction.start < self._log.start or transaction.time < self._selection.start_time:
            return Decision.EXCLUDED
        if self._on_target(transaction.gtid, transaction.file, transaction.start):
            if transaction.gtid is not None and ":" not in transaction.gtid:
                gtid = MariadbGtid.parse(transaction.gtid)
                self.plan.hidden.add((gtid.domain, gtid.server))
            return Decision.ON_TARGET
        return Decision.HALF_ALTER if transaction.ending in _HALF_ALTERS else Decision.APPLY

    def _stops_before(self, transaction: _PlannedTransaction) -> bool:
        selection, found, plan = self._selection, self.plan.found, self.plan
        if transaction.gtid is not None and transaction.gtid == self._stop.before_gtid:
            self.waits_for, plan.stopped_by = None, f"before {transaction.gtid}"
        elif selection.stop_time and transaction.time >= selection.stop_time:
            plan.stopped_by = "--stop-datetime"
        elif selection.committed_before and transaction.commit_time >= selection.committed_before:
            plan.stopped_by = "--committed-before"
        elif self._log.stop is not None and transaction.start >= self._log.stop:
            plan.stopped_by = "--stop-position"
        elif found is not None and transaction.has(found.file, found.offset):
            of = "" if transaction.gtid is None else f", transaction {transaction.gtid}"
            plan.stopped_by = f"before the statement at {log_name(found.file)}:{found.offset}{of}"
        else:
            return False
        return True

    def _count(
        self,
        closed: ClosedTransactions,
        decisions: npt.NDArray[np.uint8],
        contents: dict[str, npt.NDArray[np.int64]],
        times: npt.NDArray[np.int64],
    ) -> None:
        plan = self.plan
        for decision in Decision:
            plan.counts[decision] += int((decisions == decision).sum())
        applied = decisions == Decision.APPLY
        if not applied.any():
            return
        plan.rows += int(contents["rows"][applied].sum())
        plan.bytes += int(contents["length"][applied].sum())
        if len(plan.tables) < _MAX_TABLES:
            plan.tables |= changed_tables(closed, applied)
        chosen = np.flatnonzero(applied).tolist()
        gtids = closed.gtids.to_pylist()
        starts, files = transaction_numbers(closed)["start"], transaction_numbers(closed)["file"]
        names = [gtids[n] or f"{closed.files[int(files[n])]}:{int(starts[n])}" for n in (chosen[0], chosen[-1])]
        if plan.first is None:
            plan.first, plan.first_time = names[0], int(times[chosen[0]])
        plan.last, plan.last_time = names[1], int(times[chosen[-1]])
        plan.anonymous += sum(gtids[number] is None for number in chosen)
        for number, notes in closed.notes.items():
            if number < closed.count and applied[number]:
                defines = notes.ddl is not None
                plan.ddl += defines
                plan.statements += sum(not is_ddl(text) for text in notes.texts)


@dataclass(frozen=True, slots=True)
class _PlannedTransaction:
    """What is known of a transaction when it is decided whether it is applied."""

    gtid: str | None
    file: str
    start: int
    end: int
    time: int
    commit_time: int
    ending: Ending

    def has(self, file: str, offset: int) -> bool:
        """Return whether an offset of a file is in it."""
        return file == self.file and self.start <= offset < self.end
