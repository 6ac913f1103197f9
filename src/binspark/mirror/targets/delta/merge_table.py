"""A mirrored table in Delta, into which Delta's own jar merges changes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from binspark.files.storage.options import Storage
from binspark.mirror.files.directory import child_directory
from binspark.mirror.leaves.change_files import remove_changes
from binspark.mirror.targets.commits import check_commit
from binspark.mirror.targets.delta.merge import DeltaMerge, Merge
from binspark.mirror.targets.delta.table import DeltaTargetTable
from binspark.mirror.targets.target import Commit, CommitConflict, TableVersion
from binspark.position import Position
from binspark.schema.table import TableName


class DeltaMergeTable(DeltaTargetTable):
    """A Delta table. All commits are those of delta-rs, but for those with changes, which are a `MERGE` of the JVM."""

    def __init__(self, name: TableName, uri: str, storage: Storage, jvm: DeltaMerge) -> None:
        super().__init__(name, uri, storage)
        self._jvm = jvm

    @property
    def merges(self) -> bool:
        """Whether a commit may have changes instead of data files: yes."""
        return True

    def commit(self, commit: Commit) -> TableVersion:
        """Commit a change atomically; raise CommitConflict if the table has changed since it was read."""
        if not commit.changes:
            return super().commit(commit)
        check_commit(commit, self.address)
        number = commit.base.version + 1
        files = tuple(child_directory(self.address, file.path) for file in commit.changes)
        merge = Merge(self.address, files, tuple(commit.base.schema.names), commit.state.key)
        self._jvm.execute(merge, number, commit.state)
        version = self.read()
        transaction = self.transaction()
        if transaction is None or transaction < number:  # nothing has changed, and there was no commit
            return super().commit(replace(commit, changes=()))
        if transaction > number or version.state != commit.state:  # the same number was that of another process
            raise CommitConflict("another process of the mirror changed the table", Position(file=self.address))
        return version

    def clean_up(self, retention_seconds: float, needed: Collection[int] | None = None) -> int:
        """Remove versions, and files that no version needs, older than this. Return how many data files that were."""
        remove_changes(self.directory)
        return super().clean_up(retention_seconds, needed)
