"""A mirrored table in Iceberg."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pyiceberg.catalog import Catalog
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.schema import Schema
from pyiceberg.table import Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import (
    AddSchemaUpdate,
    AddSnapshotUpdate,
    AssertCurrentSchemaId,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetCurrentSchemaUpdate,
    SetPropertiesUpdate,
    SetSnapshotRefUpdate,
    TableRequirement,
    TableUpdate,
    update_table_metadata,
)

from binspark.files.storage.options import Storage
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.schema.column_changes import SchemaChange
from binspark.mirror.targets.commits import check_commit, kept_seconds, version_after
from binspark.mirror.targets.iceberg.clean_up import expire, remove_orphans
from binspark.mirror.targets.iceberg.errors import iceberg_errors
from binspark.mirror.targets.iceberg.files import check_writable, known_files, new_files, relative_path
from binspark.mirror.targets.iceberg.schemas import apply, arrow_schema, field_ids, needs_rewrite
from binspark.mirror.targets.iceberg.snapshots import Manifest, SnapshotWriter, read_manifests
from binspark.mirror.targets.iceberg.state import foreign_commits, properties_of, read_state, summary_of
from binspark.mirror.targets.target import Commit, CommitConflict, TableVersion, TargetError
from binspark.position import Position
from binspark.schema.table import TableName

NO_SNAPSHOT = -1
DATA = "data"


class IcebergTargetTable:
    """A table of a catalog."""

    def __init__(self, name: TableName, catalog: Catalog, table: Table, storage: Storage) -> None:
        self._name = name
        self._catalog = catalog
        self._table = table
        self._storage = storage
        self._address = ".".join(table.name())
        self._manifests: tuple[Manifest, ...] = ()
        self._version: int | None = None

    @property
    def name(self) -> TableName:
        """The name of the source's table."""
        return self._name

    @property
    def address(self) -> str:
        """Where users find it: its identifier in the catalog."""
        return self._address

    @property
    def directory(self) -> TableDirectory:
        """Where its data files are."""
        metadata = self._table.metadata
        return TableDirectory(metadata.location, DATA, self._storage, field_ids(metadata.schema()))

    @property
    def merges(self) -> bool:
        """Whether a commit may have changes instead of data files: no."""
        return False

    def read(self, version: int | None = None) -> TableVersion:
        """Return the newest version, or an older one."""
        with iceberg_errors(self._address, self._storage):
            self._table = self._catalog.load_table(self._table.name())
            metadata = self._table.metadata
            snapshot = metadata.current_snapshot() if version is None else self._snapshot(version)
            check_writable(self._table, snapshot, self._address)
            manifests = read_manifests(snapshot, self._table.io)
            if version is None:
                self._version, self._manifests = _number(snapshot), manifests
            return TableVersion(
                version=_number(snapshot),
                schema=arrow_schema(metadata.schema() if version is None else _schema_at(metadata, snapshot)),
                state=read_state(metadata, snapshot),
                files=tuple(known_files(metadata.location, manifests)),
                foreign=tuple(foreign_commits(metadata, snapshot)),
            )

    def directory_at(self, version: int) -> TableDirectory:
        """Return where the data files of a version are, with the numbers that columns had then."""
        metadata = self._table.metadata
        return replace(self.directory, field_ids=field_ids(_schema_at(metadata, self._snapshot(version))))

    def needs_rewrite(self, change: SchemaChange) -> bool:
        """Return whether all data files have to be rewritten: if a type changes in another way than widening."""
        return needs_rewrite(arrow_schema(self._table.metadata.schema()), change)

    def directory_after(self, change: SchemaChange) -> TableDirectory:
        """Return where data files are that are committed together with a schema change."""
        with iceberg_errors(self._address, self._storage):
            metadata = update_table_metadata(self._table.metadata, self._schema_updates(change))
        return TableDirectory(metadata.location, DATA, self._storage, field_ids(metadata.schema()))

    def commit(self, commit: Commit) -> TableVersion:
        """Commit a change atomically; raise CommitConflict if the table has changed since it was read."""
        check_commit(commit, self._address)
        with iceberg_errors(self._address, self._storage):
            self._expect(commit.base)
            metadata, updates = self._changed(commit)
            added = list(new_files(commit.added, metadata))
            removed = self._stored(commit.removed)
            new = SnapshotWriter(metadata, self._table.io).write(
                self._manifests, added, removed, summary_of(commit.state)
            )
            updates += (AddSnapshotUpdate(snapshot=new.snapshot), _head(new.snapshot))
            response = self._catalog.commit_table(self._table, _requirements(self._table.metadata), updates)
            self._table = Table(
                self._table.name(), response.metadata, response.metadata_location, self._table.io, self._catalog
            )
            self._version, self._manifests = new.snapshot.snapshot_id, new.manifests
        return version_after(commit, self._version, arrow_schema(response.metadata.schema()))

    def clean_up(self, retention_seconds: float, needed: Collection[int] | None = None) -> int:
        """Remove versions, and files that no version needs, older than this. Return how many data files that were."""
        with iceberg_errors(self._address, self._storage):
            table = self._catalog.load_table(self._table.name())
            seconds = kept_seconds(read_state(table.metadata, table.metadata.current_snapshot()), retention_seconds)
            self._table = expire(table, seconds, needed)
            return remove_orphans(self._table, self._storage, seconds)

    def _changed(self, commit: Commit) -> tuple[TableMetadata, tuple[TableUpdate, ...]]:
        """Return the metadata after a commit's changes of columns and properties, and these as updates."""
        properties = SetPropertiesUpdate(updates=properties_of(commit.state))
        change = commit.schema_change
        if change is None:
            return self._table.metadata, (properties,)
        if self.needs_rewrite(change) and len(commit.removed) < len(commit.base.files):
            raise TargetError("this schema change needs all data files to be rewritten", Position(file=self._address))
        updates = (*self._schema_updates(change), properties)
        return update_table_metadata(self._table.metadata, updates), updates

    def _schema_updates(self, change: SchemaChange) -> tuple[TableUpdate, ...]:
        """Return a schema change as updates. It is the same each time, so that files can be written before."""
        metadata, transaction = self._table.metadata, Transaction(self._table)
        apply(transaction, change)
        schema = transaction.table_metadata.schema()
        for known in metadata.schemas:
            if known == schema:
                return (SetCurrentSchemaUpdate.model_validate({"schema-id": known.schema_id}),)
        number = max(known.schema_id for known in metadata.schemas) + 1
        new = schema.model_copy(update={"schema_id": number})
        return AddSchemaUpdate(schema=new), SetCurrentSchemaUpdate.model_validate({"schema-id": number})

    def _stored(self, files: Sequence[DataFile]) -> list[IcebergFile]:
        location = self._table.metadata.location
        known = {
            relative_path(location, entry.data_file.file_path): entry.data_file
            for manifest in self._manifests
            for entry in manifest.entries
        }
        return [known[file.path] for file in files]

    def _expect(self, base: TableVersion) -> None:
        """Raise CommitConflict if the table is known to be newer than a plan's base; know the manifests of the base."""
        if self._version != base.version:
            self.read()
        if self._version != base.version:
            raise CommitConflict("another program changed the table since it was read", Position(file=self._address))

    def _snapshot(self, version: int) -> Snapshot | None:
        if version == NO_SNAPSHOT:
            return None
        snapshot = self._table.metadata.snapshot_by_id(version)
        if snapshot is None:
            raise TargetError(f"snapshot {version} no longer exists", Position(file=self._address))
        return snapshot


def _schema_at(metadata: TableMetadata, snapshot: Snapshot | None) -> Schema:
    if snapshot is None or snapshot.schema_id is None:
        return metadata.schema()
    return next(each for each in metadata.schemas if each.schema_id == snapshot.schema_id)


def _number(snapshot: Snapshot | None) -> int:
    return NO_SNAPSHOT if snapshot is None else snapshot.snapshot_id


def _head(snapshot: Snapshot) -> TableUpdate:
    branch = {"ref-name": MAIN_BRANCH, "type": SnapshotRefType.BRANCH, "snapshot-id": snapshot.snapshot_id}
    return SetSnapshotRefUpdate.model_validate(branch)


def _requirements(metadata: TableMetadata) -> tuple[TableRequirement, ...]:
    """Return what must still hold when a commit arrives: it is the same table, with the same snapshot and columns."""
    snapshot = metadata.current_snapshot()
    head = {"ref": MAIN_BRANCH, "snapshot-id": snapshot.snapshot_id if snapshot else None}
    return (
        AssertTableUUID(uuid=metadata.table_uuid),
        AssertRefSnapshotId.model_validate(head),
        AssertCurrentSchemaId.model_validate({"current-schema-id": metadata.current_schema_id}),
    )
