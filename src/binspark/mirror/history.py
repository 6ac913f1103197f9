"""The history of changes: one append-only table of the target, with every changed row of the mirrored tables.

A row has what the view `changes` has: operation, order, key, and the row before and after the change as JSON, so that
schema changes do not matter. It is stored as mirrored tables are, with `_seq` as its key and the position in the same
commit: each change is there exactly once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import pyarrow as pa

from binspark.columns.metadata import DEFAULT_PREFIX, Metadata
from binspark.columns.selection import Selection
from binspark.errors import SchemaError
from binspark.mirror.change_records import RecordOp, complete_records
from binspark.mirror.data_file import DataFile
from binspark.mirror.keys import row_keys
from binspark.mirror.leaves import LeafLimits, plan_tasks, rewrite, with_bounds
from binspark.mirror.mirrored_table import HISTORY, MirroredTable
from binspark.mirror.source import ReadTask
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.commits import check_mirror
from binspark.mirror.targets.target import Commit, Cut, TableVersion, Target, TargetTable
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableSchema
from binspark.spark.options import RowFormat, SourceOptions
from binspark.spark.schemas import arrow_schema, changes_schema
from binspark.spark.streaming.part_reader import reader_of
from binspark.spark.views.changes import ChangesView

log = logging.getLogger("binspark.mirror")
_SEQ = f"{DEFAULT_PREFIX}{Metadata.SEQ}"
_NO_DEFINITION = ""


class ChangeHistory:
    """Appends the changes of ranges of the log.

    tables, excluded   names and patterns of the tables whose changes are kept
    position           all changes before it are in the table; None before `begin`
    version            the version of the table
    """

    def __init__(self, target: Target, tables: frozenset[str], excluded: frozenset[str], limits: LeafLimits) -> None:
        self._target = target
        self._limits = limits
        options = SourceOptions(rows=RowFormat.JSON, selection=Selection(tables=tables, excluded=excluded))
        schema = arrow_schema(changes_schema(options))
        self._view = ChangesView(options, schema)
        fields = [pa.field(field.name, target.column_type(field.type)) for field in schema]
        self._table = MirroredTable(TableSchema(*HISTORY, (), ()), pa.schema(fields), (_SEQ,))
        self._files: dict[str, DataFile] = {}
        self.position: BinlogPosition | None = None
        self.version = -1

    def begin(self, start: BinlogPosition, last_cut: Cut | None, mirror: str) -> None:
        """Take the table, or create it, for a mirror; `start` is where the log is read from.

        A cut says that it is without a gap.
        """
        if self._target.table(HISTORY) is None:
            state = TableState(mirror, Phase.CURRENT, start, _NO_DEFINITION, self._table.key)
            self._target.create(HISTORY, self._table.schema, state)
        _, version = self._read()
        state = self._state(version)
        check_mirror(state, mirror, str(HISTORY))
        is_in_cut = last_cut is not None and any(name == HISTORY for name, _ in last_cut.versions)
        if not state.position.reaches(start) and not is_in_cut:
            log.warning(
                "%s lacks the changes from %s to %s: the mirror ran without --history",
                HISTORY,
                state.position.describe(),
                start.describe(),
            )
        self.position = state.position if state.position.reaches(start) else start
        self.version = version.version

    def append(self, reads: Iterable[ReadTask], end: BinlogPosition) -> int:
        """Append the changes of a range, unless they are there already; return how many there are."""
        if self.position is None or self.position.reaches(end):
            return 0
        counted = _Counted(self._records(reads))
        batches = iter(counted)
        first = next(batches, None)
        if first is not None:
            table, version = self._read()
            # New changes come after all that are there: into the last leaf, which is filled up.
            last = plan_tasks(self._with_bounds(table, version.files), self._limits)[-1]
            written = rewrite(last, table.directory, self._table, chain([first], batches), self._limits)
            state = self._state(version).moved(end)
            committed = table.commit(Commit(version, state, written.added, written.removed))
            self.version = committed.version
        self.position = end
        return counted.rows

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

    def _records(self, reads: Iterable[ReadTask]) -> Iterator[pa.RecordBatch]:
        for read in reads:
            for batch in self._view.read(read.part, reader_of(read.part, read.history)):
                rows = batch.cast(self._table.schema)
                if rows.num_rows:
                    yield complete_records(row_keys(self._table, rows), rows.column(_SEQ), RecordOp.PUT, rows)


class _Counted:
    """Records, counted as they are read."""

    def __init__(self, records: Iterable[pa.RecordBatch]) -> None:
        self._records = records
        self.rows = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._records:
            self.rows += batch.num_rows
            yield batch
