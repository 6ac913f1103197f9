"""A mirrored table in Iceberg."""

from __future__ import annotations

from pyiceberg.catalog import Catalog
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.table import Table, Transaction
from pyiceberg.table.snapshots import Snapshot

from binspark.files.storage.options import Storage
from binspark.mirror.column_changes import SchemaChange
from binspark.mirror.data_file import TableDirectory
from binspark.mirror.targets.commits import check_commit, version_after
from binspark.mirror.targets.iceberg.clean_up import expire, remove_orphans
from binspark.mirror.targets.iceberg.errors import iceberg_errors
from binspark.mirror.targets.iceberg.files import known_file, new_files, relative_path, stored_files
from binspark.mirror.targets.iceberg.schemas import apply, arrow_schema, field_ids, needs_rewrite
from binspark.mirror.targets.iceberg.state import foreign_commits, properties_of, read_state, summary_of
from binspark.mirror.targets.target import Commit, CommitConflict, TableVersion, TargetError
from binspark.position import Position
from binspark.schema.table import TableName

NO_SNAPSHOT = -1
DATA = "data"
_RETRIES = "commit.retry.num-retries"
_MAX_MANIFESTS = 64


class IcebergTargetTable:
    """A table of a catalog."""

    def __init__(self, name: TableName, catalog: Catalog, table: Table, storage: Storage) -> None:
        self._name = name
        self._catalog = catalog
        self._table = table
        self._storage = storage
        self._address = ".".join(table.name())
        self._files: dict[str, IcebergFile] = {}
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

    def read(self, version: int | None = None) -> TableVersion:
        """Return the newest version, or an older one."""
        with iceberg_errors(self._address, self._storage):
            self._table = self._catalog.load_table(self._table.name())
            metadata = self._table.metadata
            snapshot = metadata.current_snapshot() if version is None else self._snapshot(version)
            files = stored_files(self._table, snapshot.snapshot_id if snapshot else None, self._address)
            if version is None:
                self._remember(_number(snapshot), files)
            schema = metadata.schema()
            if version is not None and snapshot is not None and snapshot.schema_id is not None:
                schema = next(each for each in metadata.schemas if each.schema_id == snapshot.schema_id)
            return TableVersion(
                version=_number(snapshot),
                schema=arrow_schema(schema),
                state=read_state(metadata, snapshot),
                files=tuple(known_file(path, file) for path, file in files.items()),
                foreign=tuple(foreign_commits(metadata, snapshot)),
            )

    def needs_rewrite(self, change: SchemaChange) -> bool:
        """Return whether all data files have to be written anew: if a type changes in another way than widening."""
        return needs_rewrite(arrow_schema(self._table.metadata.schema()), change)

    def directory_after(self, change: SchemaChange) -> TableDirectory:
        """Return where data files are that are committed together with a schema change."""
        with iceberg_errors(self._address, self._storage):
            transaction = Transaction(self._table)
            apply(transaction, change)
            metadata = transaction.table_metadata
        return TableDirectory(metadata.location, DATA, self._storage, field_ids(metadata.schema()))

    def commit(self, commit: Commit) -> TableVersion:
        """Commit a change, at once or not at all; raise CommitConflict if the table has changed since it was read."""
        check_commit(commit, self._address)
        with iceberg_errors(self._address, self._storage):
            self._expect(commit.base)
            transaction = Transaction(_without_retries(self._table, self._catalog))
            change = commit.schema_change
            if change is not None:
                if self.needs_rewrite(change) and len(commit.removed) < len(commit.base.files):
                    raise TargetError(
                        "this schema change needs all data files written anew", Position(file=self._address)
                    )
                apply(transaction, change)
            transaction.set_properties(properties_of(commit.state))
            added = list(new_files(commit.added, transaction.table_metadata))
            self._produce(transaction, commit, added)
            self._table = transaction.commit_transaction()
            self._remember_commit(commit, added)
        return version_after(commit, self._current(), arrow_schema(self._table.metadata.schema()))

    def clean_up(self, retention_seconds: float) -> int:
        """Remove versions, and files that no version needs, older than this. Return how many data files that were."""
        with iceberg_errors(self._address, self._storage):
            self._table = expire(self._catalog.load_table(self._table.name()), retention_seconds)
            return remove_orphans(self._table, self._storage, retention_seconds)

    def _produce(self, transaction: Transaction, commit: Commit, added: list[IcebergFile]) -> None:
        """Add a snapshot to a transaction. Each commit has one, even without files: it makes other plans stale."""
        update = transaction.update_snapshot(snapshot_properties=summary_of(commit.state))
        with update.overwrite() if commit.removed else update.fast_append() as producer:
            for file in added:
                producer.append_data_file(file)
            for removed in commit.removed:
                producer.delete_data_file(self._files[removed.path])

    def _expect(self, base: TableVersion) -> None:
        """Raise CommitConflict if the table is known to be newer than a plan's base; know the files of the base."""
        if self._version != base.version:
            self.read()
        if self._version != base.version:
            raise CommitConflict("another program changed the table since it was read", Position(file=self._address))

    def _remember(self, version: int, files: dict[str, IcebergFile]) -> None:
        self._version, self._files = version, files

    def _remember_commit(self, commit: Commit, added: list[IcebergFile]) -> None:
        location = self._table.metadata.location
        removed = {file.path for file in commit.removed}
        files = {path: file for path, file in self._files.items() if path not in removed}
        self._remember(self._current(), {**files, **{relative_path(location, each.file_path): each for each in added}})

    def _current(self) -> int:
        return _number(self._table.metadata.current_snapshot())

    def _snapshot(self, version: int) -> Snapshot | None:
        if version == NO_SNAPSHOT:
            return None
        snapshot = self._table.metadata.snapshot_by_id(version)
        if snapshot is None:
            raise TargetError(f"snapshot {version} is not there any more", Position(file=self._address))
        return snapshot


def _number(snapshot: Snapshot | None) -> int:
    return NO_SNAPSHOT if snapshot is None else snapshot.snapshot_id


def _without_retries(table: Table, catalog: Catalog) -> Table:
    """Return the table as a transaction shall see it: a stale commit fails, whatever the table's properties say."""
    properties = {**table.metadata.properties, _RETRIES: "0"}
    metadata = table.metadata.model_copy(update={"properties": properties})
    return Table(table.name(), metadata, table.metadata_location, table.io, catalog)
