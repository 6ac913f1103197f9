"""The history of changes: one append-only table of the target, with every changed row of the mirrored tables.

A row has what the view `changes` has: operation, order, key, and the row before and after the change as JSON, so that
schema changes do not matter. It is stored as mirrored tables are, with `_seq` as its key and the position in the same
commit: each change is there exactly once. The same commit has the definitions that tables have in the log there, where
the mirror may have later ones (`mirror.logged`).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from binspark.columns.metadata import DEFAULT_PREFIX, Metadata
from binspark.columns.selection import Selection
from binspark.errors import SchemaError
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves import LeafLimits, RangeTask, plan_tasks, with_bounds
from binspark.mirror.records.format import RecordOp, complete_records
from binspark.mirror.records.keys import row_keys
from binspark.mirror.runners.runner import TableWork, TaskResult
from binspark.mirror.schema.mirrored_table import HISTORY, MirroredTable
from binspark.mirror.schema.version_table import seq_at
from binspark.mirror.source.change_source import ReadTask
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.commits import check_mirror
from binspark.mirror.targets.target import Commit, Cut, TableVersion, Target, TargetTable
from binspark.replication.position import BinlogPosition
from binspark.schema.as_json import from_json, to_json
from binspark.schema.catalog import Catalog, KnownTables
from binspark.schema.definition import TableDefinition
from binspark.schema.table import TableName, TableSchema
from binspark.spark.options import RowFormat, SourceOptions
from binspark.spark.schemas import arrow_schema, changes_schema
from binspark.spark.streaming.part_reader import reader_of
from binspark.spark.views.changes import ChangesView

log = logging.getLogger("binspark.mirror")
_SEQ = f"{DEFAULT_PREFIX}{Metadata.SEQ}"

Definitions = Mapping[TableName, TableDefinition | None]
"""Definitions of tables; None is one that is not known."""


class ChangeHistory:
    """Appends the changes of ranges of the log.

    tables, excluded   names and patterns of the tables whose changes are kept
    position           all changes before it are in the table; None before `begin`
    definitions        those that tables have in the log at the position, where the mirror may have later ones
    version            the version of the table
    """

    def __init__(self, target: Target, tables: frozenset[str], excluded: frozenset[str], limits: LeafLimits) -> None:
        self._target = target
        self._limits = limits
        options = SourceOptions(rows=RowFormat.JSON, selection=Selection(tables=tables, excluded=excluded, diffs=True))
        schema = arrow_schema(changes_schema(options))
        fields = [pa.field(field.name, target.column_type(field.type)) for field in schema]
        self._table = MirroredTable(TableSchema(*HISTORY, (), ()), pa.schema(fields), (_SEQ,))
        self._records = HistoryRecords(ChangesView(options, schema), self._table)
        self._files: dict[str, DataFile] = {}
        self._planned: TableVersion | None = None
        self.position: BinlogPosition | None = None
        self.definitions: Definitions = {}
        self.version = -1

    def begin(self, start: BinlogPosition, last_cut: Cut | None, mirror: str) -> bool:
        """Take the table, or create it, for a mirror, and return whether it was there and has no gap.

        `start` is where the log is read from; a cut there says that there is no gap.
        """
        is_new = self._target.table(HISTORY) is None
        if is_new:
            state = TableState(mirror, Phase.CURRENT, start, _stored({}), self._table.key)
            self._target.create(HISTORY, self._table.schema, state)
        _, version = self._read()
        state = self._state(version)
        check_mirror(state, mirror, str(HISTORY))
        is_in_cut = last_cut is not None and any(name == HISTORY for name, _ in last_cut.versions)
        if last_cut is not None:
            is_in_cut &= BinlogPosition.parse(last_cut.position).reaches(start)
        reaches = state.position.reaches(start)
        if not reaches and not is_in_cut and (last_cut is not None or version.files):
            log.warning(
                "%s lacks the changes from %s to %s: the mirror ran without --history, or all tables were copied again",
                HISTORY,
                state.position.describe(),
                start.describe(),
            )
        self.position = state.position if reaches else start
        self.definitions = _read_definitions(state.definition)
        self.version = version.version
        return not is_new and (reaches or is_in_cut)

    def end(self) -> None:
        """Forget what is known of the table: it may be read from elsewhere the next time."""
        self.position = None

    def work(self, number: int, parts: Sequence[ReadTask], end: BinlogPosition) -> TableWork | None:
        """Return the table as something that the changes of a range are made in; None if it has them already."""
        if self.position is None or self.position.reaches(end):
            return None
        table, self._planned = self._read()
        tasks = _tasks(self._with_bounds(table, self._planned.files), parts, self._limits)
        return TableWork(number, self._table, table.directory, tasks, self._limits, maker=self._records)

    def commit(self, results: Sequence[TaskResult], end: BinlogPosition, definitions: Definitions) -> None:
        """Append the changes of a range, which a runner has written; `definitions` are those after it."""
        if self._planned is not None and (results or definitions != self.definitions):
            added = [file for result in results for file in result.rewritten.added]
            removed = [file for result in results for file in result.rewritten.removed]
            state = replace(self._state(self._planned).moved(end), definition=_stored(definitions))
            self.version = self._read()[0].commit(Commit(self._planned, state, added, removed)).version
        self.position, self.definitions = end, definitions

    def store(self, definitions: Definitions) -> None:
        """Store definitions at the position, without changes."""
        if definitions == self.definitions:
            return
        assert self.position is not None
        table, version = self._read()
        state = replace(self._state(version).moved(self.position), definition=_stored(definitions))
        self.version = table.commit(Commit(version, state, (), ())).version
        self.definitions = definitions

    def clean_up(self, seconds: float, needed: Collection[int]) -> None:
        """Remove versions older than this, and files that no version needs; cuts refer to the needed versions.

        All changes stay: each commit fills up the last file, which is another one then.
        """
        table, _ = self._read()
        table.clean_up(seconds, needed)
        self.version = table.read().version

    def _with_bounds(self, table: TargetTable, files: Sequence[DataFile]) -> list[DataFile]:
        """Return the files with the bounds of their keys: only those of new files are read."""
        known = [self._files.get(file.path, file) for file in files]
        found = with_bounds(known, table.directory, self._table)
        self._files = {file.path: file for file in found}
        return found

    def _read(self) -> tuple[TargetTable, TableVersion]:
        table = self._target.table(HISTORY)
        if table is None:
            raise SchemaError(f"{HISTORY} was dropped from the target; start the mirror again to begin a new history")
        return table, table.read()

    def _state(self, version: TableVersion) -> TableState:
        if version.state is None:
            raise SchemaError(f"{HISTORY} of the target is not the history of a mirror")
        return version.state


@dataclass(frozen=True, slots=True)
class HistoryRecords:
    """Makes records of all changes in a part of the log. It is sent to executors."""

    view: ChangesView
    table: MirroredTable

    def records(self, read: ReadTask) -> Iterator[pa.RecordBatch]:
        """Yield the records of a part, in the order of the log."""
        for batch in self.view.read(read.part, reader_of(read.part, read.logged or read.history)):
            rows = batch.cast(self.table.schema)
            if rows.num_rows:
                yield complete_records(row_keys(self.table, rows), rows.column(_SEQ), RecordOp.PUT, rows)


def _stored(definitions: Definitions) -> str:
    """Return definitions as the state of the table stores them."""
    return to_json(Catalog(tables=KnownTables(definitions))) if definitions else ""


def _read_definitions(text: str) -> Definitions:
    return dict(from_json(text).tables) if text else {}


def _tasks(files: Sequence[DataFile], parts: Sequence[ReadTask], limits: LeafLimits) -> tuple[RangeTask, ...]:
    """Return tasks for about the changes of each part of the log, so that executors write them at the same time.

    Those of the first part usually come after all that are there: into the last leaf, which is filled up.
    """
    last = plan_tasks(files, limits)[-1]
    borders = sorted({border for part in parts[1:] if (border := _first_key(part)) > (last.low or b"")})
    added = [RangeTask(number, low, None, (), number) for number, low in enumerate(borders, 1)]
    tasks = [RangeTask(0, None, None, last.files), *added]
    ends = [*borders, None]
    return tuple(replace(task, high=high) for task, high in zip(tasks, ends, strict=True))


def _first_key(read: ReadTask) -> bytes:
    """Return a key that no change of a part comes before; changes of other parts may come after it."""
    from binspark.files.splits import Split

    part = read.part
    if isinstance(part, Split):
        return seq_at(BinlogPosition(part.logs[0].name, part.start)).encode()
    return seq_at(part.start).encode()
