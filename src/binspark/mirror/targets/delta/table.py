"""A mirrored table in Delta."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator

import pyarrow as pa
from deltalake import DeltaTable, PostCommitHookProperties, Schema, TableFeatures
from deltalake.transaction import AddAction, RemoveAction

from binspark.files.storage.options import Storage
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.files.directory import open_directory
from binspark.mirror.schema.column_changes import AddColumn, SchemaChange
from binspark.mirror.state import TableState
from binspark.mirror.targets.commits import check_commit, kept_seconds, version_after
from binspark.mirror.targets.delta.errors import delta_errors
from binspark.mirror.targets.delta.log import (
    commit_properties,
    foreign_commits,
    is_kept,
    kept_state,
    oldest_needed,
    own_transaction,
    read_state,
)
from binspark.mirror.targets.delta.schemas import arrow_schema, check_writable, only_adds, ordered_schema
from binspark.mirror.targets.delta.statistics import statistics
from binspark.mirror.targets.storage_options import delta_options
from binspark.mirror.targets.target import Commit, TableVersion, TargetError
from binspark.position import Position
from binspark.schema.table import TableName

_UNKNOWN_ROWS = -1
_HOUR = 3600
_SUFFIX = ".parquet"
_LOG_RETENTION = "delta.logRetentionDuration"
_KEEP_LOG = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)


class DeltaTargetTable:
    """A Delta table at a URI."""

    def __init__(self, name: TableName, uri: str, storage: Storage) -> None:
        self._name = name
        self._uri = uri
        self._storage = storage
        self._options = delta_options(uri, storage)
        self._newest: DeltaTable | None = None

    @property
    def name(self) -> TableName:
        """The name of the source's table."""
        return self._name

    @property
    def address(self) -> str:
        """Where users find it: its URI."""
        return self._uri

    @property
    def directory(self) -> TableDirectory:
        """Where its data files are."""
        return TableDirectory(self._uri, storage=self._storage)

    @property
    def merges(self) -> bool:
        """Whether a commit may have changes instead of data files: no."""
        return False

    def read(self, version: int | None = None) -> TableVersion:
        """Return the newest version, or an older one."""
        with delta_errors(self._uri, self._storage):
            table = self._load_newest() if version is None else self._load(version)
            check_writable(table, self._uri)
            directory = open_directory(self._uri, self._storage)
            return TableVersion(
                version=table.version(),
                schema=arrow_schema(table),
                state=read_state(table, directory),
                files=tuple(_data_files(table)),
                foreign=tuple(foreign_commits(table, directory, self._schema_of)),
            )

    def transaction(self) -> int | None:
        """Return the number of the mirror's last commit, as of the version that was read last."""
        return None if self._newest is None else own_transaction(self._newest)

    def directory_at(self, version: int) -> TableDirectory:  # noqa: ARG002 (Delta has no numbers of columns)
        """Return where the data files of a version are."""
        return self.directory

    def needs_rewrite(self, change: SchemaChange) -> bool:
        """Return whether all data files have to be rewritten: for all but new columns, which become the last."""
        return not only_adds(change)

    def directory_after(self, change: SchemaChange) -> TableDirectory:  # noqa: ARG002 (Delta has no numbers of columns)
        """Return where data files are that are committed together with a schema change."""
        return self.directory

    def commit(self, commit: Commit) -> TableVersion:
        """Commit a change atomically; raise CommitConflict if the table has changed since it was read."""
        check_commit(commit, self._uri)
        with delta_errors(self._uri, self._storage):
            table, change = self._at(commit.base), commit.schema_change
            if change is None:
                version = self._write(table, commit, "append", table.schema())
            elif _replaces_all(commit):
                self._enable_types(table, commit, change.schema)
                version = self._write(table, commit, "overwrite", ordered_schema(change.schema))
            elif only_adds(change):
                version = self._add_columns(table, commit, change)
            else:
                raise TargetError("this schema change needs all data files to be rewritten", Position(file=self._uri))
            table.update_incremental()
            return version_after(commit, version, arrow_schema(table))

    def clean_up(self, retention_seconds: float, needed: Collection[int] | None = None) -> int:  # noqa: ARG002
        """Remove versions, and files that no version needs, older than this. Return how many data files that were."""
        version = self.read()
        retention_seconds = kept_seconds(version.state, retention_seconds)
        with delta_errors(self._uri, self._storage):
            table = self._at(version)
            removed = _vacuum(table, math.ceil(retention_seconds / _HOUR))
            state = version.state
            if state is not None and not version.foreign and not is_kept(table):
                self._clean_up_log(table, state, retention_seconds)
            return sum(path.endswith(_SUFFIX) for path in removed)

    def _clean_up_log(self, table: DeltaTable, state: TableState, retention_seconds: float) -> None:
        """Remove old commits from the log, once the state is in the table's properties.

        This is a commit of the mirror: it would hide those of others that have not been reported yet, so it is not made
        after them. The version that was the newest when the retention began is kept: cuts of later refer to it.
        """
        number = table.version() + 1
        oldest = oldest_needed(open_directory(self._uri, self._storage), time.time() - retention_seconds)
        interval = f"interval {math.ceil(time.time() - oldest) + 1} seconds"
        properties = {**kept_state(number, state), _LOG_RETENTION: interval}
        commit = commit_properties(number, state)
        table.alter.set_table_properties(properties, raise_if_not_exists=False, commit_properties=commit)
        newest = self._load_newest()
        newest.create_checkpoint()
        newest.cleanup_metadata()

    def _add_columns(self, table: DeltaTable, commit: Commit, change: SchemaChange) -> int:
        """Add columns, then commit the files, if there are any.

        These are two commits: the first has the state from before, so that the second is made again if only the first
        was made. A column that is there is not added twice.
        """
        known = {field.name for field in table.schema().fields}
        added = [step.field for step in change.steps if isinstance(step, AddColumn) and step.field.name not in known]
        has_files = bool(commit.added or commit.removed)
        state = commit.base.state if has_files and commit.base.state else commit.state
        if added:
            properties = commit_properties(table.version() + 1, state)
            fields = Schema.from_arrow(pa.schema(added)).fields
            table.alter.add_columns(fields, commit_properties=properties, post_commithook_properties=_KEEP_LOG)
        return self._write(table, commit, "append", table.schema()) if has_files or not added else table.version()

    @staticmethod
    def _enable_types(table: DeltaTable, commit: Commit, schema: pa.Schema) -> None:
        """Allow the table to have times without a zone, in a commit of its own: an overwrite does not do that."""
        has_times = any(pa.types.is_timestamp(field.type) and field.type.tz is None for field in schema)
        if has_times and "timestampNtz" not in (table.protocol().writer_features or ()):
            properties = commit_properties(table.version() + 1, commit.base.state or commit.state)
            feature = TableFeatures.TimestampWithoutTimezone
            table.alter.add_feature(feature, allow_protocol_versions_increase=True, commit_properties=properties)

    def _write(self, table: DeltaTable, commit: Commit, mode: str, schema: Schema) -> int:
        now, version = int(time.time() * 1000), table.version() + 1
        columns = commit.schema_change.schema if commit.schema_change else commit.base.schema
        actions: list[AddAction | RemoveAction] = [
            AddAction(file.path, file.size, {}, now, True, statistics(file, columns)) for file in commit.added
        ]
        if mode == "append":
            actions += [RemoveAction(file.path, True, now, file.size, {}) for file in commit.removed]
        table.create_write_transaction(
            actions,
            mode,
            schema,
            commit_properties=commit_properties(version, commit.state),
            post_commithook_properties=_KEEP_LOG,
        )
        return version

    def _at(self, base: TableVersion) -> DeltaTable:
        """Return the table as it was read: a commit to it fails if there is a newer version."""
        if self._newest is None or self._newest.version() != base.version:
            self._newest = self._load(base.version)
        return self._newest

    def _load_newest(self) -> DeltaTable:
        """Return the newest version. It is not read into what is known: the table may be another one of this name."""
        self._newest = DeltaTable(self._uri, storage_options=self._options)
        return self._newest

    def _load(self, version: int) -> DeltaTable:
        return DeltaTable(self._uri, version, storage_options=self._options)

    def _schema_of(self, version: int) -> Schema:
        return self._load(version).schema()


def _vacuum(table: DeltaTable, hours: int) -> list[str]:
    """Remove files that no version needs. Commits are made of it only if there are any."""
    if not table.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=True):
        return []
    return table.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)


def _replaces_all(commit: Commit) -> bool:
    """Return whether no data file of the base stays."""
    return {file.path for file in commit.base.files} <= {file.path for file in commit.removed}


def _data_files(table: DeltaTable) -> Iterator[DataFile]:
    found = pa.table(table.get_add_actions(flatten=True))
    counts = found["num_records"].to_pylist() if "num_records" in found.column_names else [None] * len(found)
    for path, size, rows in zip(found["path"].to_pylist(), found["size_bytes"].to_pylist(), counts, strict=True):
        yield DataFile(path, size, _UNKNOWN_ROWS if rows is None else rows)
