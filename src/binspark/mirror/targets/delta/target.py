"""A directory of Delta tables: `<target>/<schema>/<table>`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from deltalake import DeltaTable, Schema

from binspark.files.storage.options import Storage
from binspark.mirror.files.directory import child_directory, open_directory
from binspark.mirror.state import TableState
from binspark.mirror.targets.commits import check_mirror
from binspark.mirror.targets.cuts import CUT_TABLE
from binspark.mirror.targets.delta.cuts import DeltaCuts
from binspark.mirror.targets.delta.errors import delta_errors
from binspark.mirror.targets.delta.log import commit_properties, kept_state
from binspark.mirror.targets.delta.schemas import delta_type
from binspark.mirror.targets.delta.table import DeltaTargetTable
from binspark.mirror.targets.names import directory_name, name_of_directory
from binspark.mirror.targets.storage_options import delta_options
from binspark.mirror.targets.target import TargetError
from binspark.position import Position
from binspark.schema.table import TableName

_LOG = "_delta_log"
_PROPERTIES = {"delta.enableExpiredLogCleanup": "false"}
"""Other programs do not remove old commits when they write: the mirror does, once its state is safe."""


class DeltaTarget:
    """A directory of Delta tables, on this machine or in an object store."""

    def __init__(self, uri: str, storage: Storage) -> None:
        self._uri = uri
        self._storage = storage
        self.cuts = DeltaCuts(child_directory(uri, CUT_TABLE), storage)

    def column_type(self, kind: pa.DataType) -> pa.DataType:
        """Return the type that a column of a type gets here."""
        return delta_type(kind)

    def tables(self) -> list[TableName]:
        """Return the tables that are there."""
        with delta_errors(self._uri, self._storage):
            schemas = [schema for schema in self._directories() if schema != CUT_TABLE]
            found = [(schema, table) for schema in schemas for table in self._directories(schema)]
            are_tables = self._are_tables(found)
        return sorted(
            TableName(name_of_directory(schema), name_of_directory(table))
            for (schema, table), is_table in zip(found, are_tables, strict=True)
            if is_table
        )

    def table(self, name: TableName) -> DeltaTargetTable | None:
        """Return a table, None if it is not there."""
        with delta_errors(self._table_uri(name), self._storage):
            [is_there] = self._are_tables([_directory(name)])
        return self._opened(name) if is_there else None

    def create(self, name: TableName, schema: pa.Schema, state: TableState) -> DeltaTargetTable:
        """Create an empty table."""
        uri = self._table_uri(name)
        if existing := self.table(name):
            check_mirror(existing.read().state, state.mirror, uri)
            raise TargetError("the table exists already in the target", Position(file=uri))
        with delta_errors(uri, self._storage):
            DeltaTable.create(
                uri,
                Schema.from_arrow(schema),
                name=str(name),
                configuration={**_PROPERTIES, **kept_state(0, state)},
                raise_if_key_not_exists=False,
                commit_properties=commit_properties(0, state),
                storage_options=delta_options(uri, self._storage),
            )
        return self._opened(name)

    def drop(self, name: TableName) -> None:
        """Drop a table with its files: its log first, so that what is left after a crash is not a table."""
        from pyarrow.fs import FileType

        uri = self._table_uri(name)
        with delta_errors(uri, self._storage):
            directory = open_directory(uri, self._storage)
            for path in (directory.path(_LOG), directory.root):
                if directory.files.get_file_info(path).type is FileType.Directory:
                    directory.files.delete_dir(path)

    def rename(self, name: TableName, new_name: TableName) -> DeltaTargetTable:
        """Rename a table: its directory is moved, or copied where a store has no directories.

        After a crash the copy may be complete with the old table still there: then only that is dropped.
        """
        from pyarrow.fs import LocalFileSystem

        uri = self._table_uri(new_name)
        table = self.table(name)
        existing = self.table(new_name)
        if table is None:
            if existing is None:
                raise TargetError(f"{name} cannot be renamed: it is not in the target", Position(file=self._uri))
            return existing
        if existing is not None and existing.read().state != table.read().state:
            raise TargetError(f"{name} cannot be renamed: there is another table", Position(file=uri))
        with delta_errors(uri, self._storage):
            old, new = open_directory(table.address, self._storage), open_directory(uri, self._storage)
            if isinstance(old.files, LocalFileSystem):
                new.files.create_dir(new.root.rpartition("/")[0])
                old.files.move(old.root, new.root)
            elif existing is None:
                _copy(old.files, old.root, new.root)
        self.drop(name)
        return self._opened(new_name)

    def close(self) -> None:
        """Release nothing: a directory needs no connection."""

    def _opened(self, name: TableName) -> DeltaTargetTable:
        return DeltaTargetTable(name, self._table_uri(name), self._storage)

    def _table_uri(self, name: TableName) -> str:
        return child_directory(self._uri, *_directory(name))

    def _are_tables(self, directories: Sequence[tuple[str, str]]) -> list[bool]:
        """Return which directories have a log. A store is asked for all of them at once."""
        from pyarrow.fs import FileType

        root = open_directory(self._uri, self._storage)
        found = root.files.get_file_info([root.path(f"{schema}/{table}/{_LOG}") for schema, table in directories])
        return [info.type is FileType.Directory for info in found]

    def _directories(self, *names: str) -> Iterator[str]:
        from pyarrow.fs import FileSelector, FileType

        directory = open_directory(child_directory(self._uri, *names), self._storage)
        found = directory.files.get_file_info(FileSelector(directory.root, allow_not_found=True))
        return (entry.base_name for entry in found if entry.type is FileType.Directory)


def _directory(name: TableName) -> tuple[str, str]:
    return directory_name(name.schema), directory_name(name.table)


def _copy(files: object, old: str, new: str) -> None:
    """Copy the objects below a path: the log last, so that a copy that is not complete is not a table."""
    from pyarrow.fs import FileSelector, copy_files

    entries = files.get_file_info(FileSelector(old))  # type: ignore[attr-defined]
    for entry in sorted(entries, key=lambda entry: bool(entry.base_name == _LOG)):
        copy_files(entry.path, f"{new}/{entry.base_name}", source_filesystem=files, destination_filesystem=files)
