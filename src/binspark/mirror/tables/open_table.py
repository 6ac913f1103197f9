"""A mirrored table while the mirror runs: what is known of its newest version, and how changes are committed to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from binspark.columns.options import ColumnOptions
from binspark.errors import BinlogError, SchemaError
from binspark.mirror.files.access import remove
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves import (
    ColumnRewrite,
    LeafLimits,
    RangeTask,
    Rewritten,
    plan_tasks,
    rewrite_columns,
    with_bounds,
)
from binspark.mirror.records.keys import key_kinds
from binspark.mirror.runners.runner import TableWork
from binspark.mirror.schema.column_changes import SchemaChange, replacement
from binspark.mirror.schema.definitions import ColumnType, as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import versioned
from binspark.mirror.state import Phase, TableState
from binspark.mirror.tables.staged_files import ColumnsChanged, remove_forgotten
from binspark.mirror.targets.target import Commit, CommitConflict, OtherMirror, TableVersion, TargetTable
from binspark.replication.position import BinlogPosition
from binspark.schema.definition import TableDefinition
from binspark.schema.table import TableName

_ATTEMPTS = 5


class ForeignChanges(BinlogError):
    """Another program has changed rows of a mirrored table: it no longer equals its source."""


class OpenTable:
    """A table of the target that has a state. `version` is its newest version, if that has been read.

    position   the log before it does not matter for the table: that of the last commit or, if later, of the last cut
    """

    version: TableVersion
    table: MirroredTable

    def __init__(
        self,
        target: TargetTable,
        column_type: ColumnType,
        options: ColumnOptions,
        version: TableVersion | None = None,
        *,
        accept_foreign: bool = False,
    ) -> None:
        self.target = target
        self._column_type = column_type
        self._options = options
        self._accept_foreign = accept_foreign
        self._known: dict[str, DataFile] = {}
        self._key_kinds: tuple[tuple[str, str], ...] = ()
        self._planned: tuple[TableVersion, tuple[RangeTask, ...], LeafLimits] | None = None
        self._take(version or target.read())
        self._refuse_foreign()
        self.position = self.state.reads_from

    @property
    def name(self) -> TableName:
        """The name of the table in the source."""
        return self.target.name

    @property
    def state(self) -> TableState:
        """What the table stores of itself."""
        assert self.version.state is not None
        return self.version.state

    def reread(self) -> None:
        """Read the newest version, which others may have written."""
        self._take(self.target.read())
        self._refuse_foreign()

    def _refuse_foreign(self) -> None:
        if self.version.foreign and not self._accept_foreign and self.state.staged is None:
            message = f"another program has changed rows of {self.target.address}: {'; '.join(self.version.foreign)}"
            advice = f"--resnapshot {self.name} copies it again, --accept-foreign keeps those changes"
            if self.has_versions:
                advice = "--accept-foreign keeps those changes; without the table, versions of rows begin again"
            raise ForeignChanges(f"{message}. {advice}")

    def skip_to(self, position: BinlogPosition) -> None:
        """Note that no change of the table comes before a position."""
        if not self.position.reaches(position):
            self.position = position

    @property
    def files(self) -> list[DataFile]:
        """Its data files, with the bounds of their keys."""
        if all(file.low is not None for file in self.version.files):
            return list(self.version.files)
        files = with_bounds(self.version.files, self.target.directory, self.table)
        self._known = {file.path: file for file in files}
        self.version = replace(self.version, files=tuple(files))
        return files

    def rewritten(self, rewrite: ColumnRewrite, limits: LeafLimits) -> Rewritten:
        """Return its files, rewritten with other columns."""
        own = limits.of_table(sum(file.size for file in self.version.files))
        return rewrite_columns(self.files, self.target.directory, self.table, rewrite, own)

    def work(self, number: int, limits: LeafLimits) -> TableWork:
        """Return the table as something that changes are made in."""
        if self.is_merged:
            return self._merging_work(number, limits)
        if self._planned is None or self._planned[0] is not self.version:
            own = limits.of_table(sum(file.size for file in self.version.files))
            tasks = tuple(plan_tasks(self.files, own))
            self._planned = self.version, tasks, own
        _, tasks, own = self._planned
        return TableWork(number, self.table, self.target.directory, tasks, own)

    def _merging_work(self, number: int, limits: LeafLimits) -> TableWork:
        """Return the table as something that the target merges changes into: keys of its files are not needed."""
        task = RangeTask(0, None, None, self.version.files)
        return TableWork(number, self.table, self.target.directory, (task,), limits, merges=True)

    def commit(
        self,
        state: TableState,
        added: Iterable[DataFile] = (),
        removed: Iterable[DataFile] = (),
        schema_change: SchemaChange | None = None,
        changes: Iterable[DataFile] = (),
    ) -> None:
        """Commit a change of this version, and continue with the next. Files of changes are removed."""
        added, removed = tuple(added), tuple({file.path: file for file in removed}.values())
        changes = tuple(changes)
        try:
            version = self.target.commit(Commit(self.version, state, added, removed, schema_change, changes))
        finally:
            for file in changes:
                remove(self.target.directory, file.path)
        self._take(version, added)
        self.position = state.reads_from
        self._refuse_foreign()  # a target that merges takes the rows of the newest version, which may be another's

    def directory_for(self, schema: pa.Schema) -> TableDirectory:
        """Return where files are that replace all rows of the table, with columns that may be others."""
        change = replacement(self.version.schema, schema)
        return self.target.directory if change is None else self.target.directory_after(change)

    def replace_rows(
        self, state: TableState, schema: pa.Schema, files: Sequence[DataFile], directory: TableDirectory | None = None
    ) -> None:
        """Replace the rows of the table, and its columns if needed, in one commit; its earlier versions stay.

        Whatever another program did to the rows meanwhile does not matter, but columns must be as they were when the
        files were written to their directory.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            before = self.state
            if directory is not None and self.directory_for(schema) != directory:
                raise ColumnsChanged(f"another program changed the columns of {self.target.address}")
            try:
                self.commit(state, files, self.version.files, replacement(self.version.schema, schema))
                return
            except CommitConflict:
                if attempt == _ATTEMPTS:
                    raise
            self.reread()
            if self.state != before:
                raise OtherMirror(f"another process of this mirror writes {self.target.address}; stop one of them")

    def clean_up(self, seconds: float, needed: Collection[int]) -> None:
        """Remove versions older than this, and files that no version needs; cuts refer to the needed versions."""
        self.target.clean_up(seconds, needed)
        self.reread()
        remove_forgotten(self.target.directory, self.state.staged)

    def _take(self, version: TableVersion, added: Iterable[DataFile] = ()) -> None:
        """Take a version; what is known of its files is kept, unless the key of the table has become another."""
        if version.state is None:
            raise SchemaError(f"{self.target.address} is not a mirrored table")
        self.version = version
        self.source_name, self.definition = read_stored(version.state.definition)
        self.table = self._mirrored(self.definition)
        kinds = key_kinds(self.table)
        new = {file.path: replace(file, footer=b"") for file in added}
        if kinds == self._key_kinds:
            files = (_with_bounds(file, new.get(file.path) or self._known.get(file.path)) for file in version.files)
        else:
            files = (new.get(file.path) or _without_bounds(file) for file in version.files)
        self.version = replace(version, files=tuple(files))
        self._known, self._key_kinds = {file.path: file for file in self.version.files}, kinds

    def _mirrored(self, definition: TableDefinition) -> MirroredTable:
        table = as_mirrored(self.source_name, definition, self._column_type, self._options)
        if self.has_versions:
            table = versioned(table, self._column_type)
        return replace(table, key=self.state.key)

    @property
    def has_versions(self) -> bool:
        """Whether it has all versions of the rows of another table."""
        return self.state.has_versions

    @property
    def is_merged(self) -> bool:
        """Whether the target merges changes into its rows: it finds rows by their key, and does not count them.

        Zeros of both signs are two keys, but equal for a target: rows whose key has a floating-point number are not
        merged.
        """
        return self.target.merges and self.table.has_exact_key and not self.has_versions

    @property
    def is_applied(self) -> bool:
        """Whether changes are applied to it: its rows were copied, and the source has it."""
        return self.state.phase in (Phase.CATCH_UP, Phase.CURRENT)


def _with_bounds(file: DataFile, known: DataFile | None) -> DataFile:
    return file if known is None or file.low is not None else known


def _without_bounds(file: DataFile) -> DataFile:
    return replace(file, low=None, high=None, row_groups=())
