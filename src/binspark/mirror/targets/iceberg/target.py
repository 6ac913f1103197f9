"""A catalog of Iceberg tables: a namespace for each schema of the source."""

from __future__ import annotations

import contextlib
import uuid

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchNamespaceError, NoSuchTableError
from pyiceberg.table import Table

from binspark.files.storage.options import Storage
from binspark.mirror.files.directory import child_directory, open_directory
from binspark.mirror.state import TableState
from binspark.mirror.targets.commits import check_mirror
from binspark.mirror.targets.cuts import CUT_TABLE
from binspark.mirror.targets.iceberg.cuts import IcebergCuts
from binspark.mirror.targets.iceberg.errors import iceberg_errors
from binspark.mirror.targets.iceberg.schemas import iceberg_type, new_schema
from binspark.mirror.targets.iceberg.state import properties_of
from binspark.mirror.targets.iceberg.table import IcebergTargetTable
from binspark.mirror.targets.names import directory_name, name_of_directory
from binspark.mirror.targets.target import TargetError
from binspark.position import Position
from binspark.schema.table import TableName

PROPERTIES = {
    "commit.retry.num-retries": "0",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}
_SUFFIX = 8


class IcebergTarget:
    """A catalog, and the directory in which new tables are; None for where the catalog puts them."""

    def __init__(self, catalog: Catalog, uri: str | None, storage: Storage) -> None:
        self._catalog = catalog
        self._uri = uri
        self._storage = storage
        self.cuts = IcebergCuts(catalog, None if uri is None else child_directory(uri, CUT_TABLE), storage)

    def column_type(self, kind: pa.DataType) -> pa.DataType:
        """Return the type that a column of a type gets here."""
        return iceberg_type(kind)

    def tables(self) -> list[TableName]:
        """Return the tables that are there."""
        with iceberg_errors(self._catalog.name, self._storage):
            found = [
                identifier
                for namespace in self._catalog.list_namespaces()
                if namespace != (CUT_TABLE,)
                for identifier in self._catalog.list_tables(namespace)
            ]
        return sorted(
            TableName(name_of_directory(".".join(namespace)), name_of_directory(table)) for *namespace, table in found
        )

    def table(self, name: TableName) -> IcebergTargetTable | None:
        """Return a table, None if it is not there."""
        with iceberg_errors(str(name), self._storage):
            table = self._load(name)
        return None if table is None else IcebergTargetTable(name, self._catalog, table, self._storage)

    def create(self, name: TableName, schema: pa.Schema, state: TableState) -> IcebergTargetTable:
        """Create an empty table."""
        if existing := self.table(name):
            check_mirror(existing.read().state, state.mirror, existing.address)
            raise TargetError("the table exists already in the target", Position(file=existing.address))
        with iceberg_errors(str(name), self._storage):
            self._create_namespace(name)
            table = self._catalog.create_table(
                _identifier(name),
                new_schema(schema),
                location=self._new_location(name),
                properties={**PROPERTIES, **properties_of(state)},
            )
        return IcebergTargetTable(name, self._catalog, table, self._storage)

    def drop(self, name: TableName) -> None:
        """Drop a table with its files: from the catalog first, so that what is left after a crash is not a table."""
        with iceberg_errors(str(name), self._storage):
            table = self._load(name)
            if table is None:
                return
            if self._uri is None:
                self._catalog.purge_table(_identifier(name))
                return
            self._catalog.drop_table(_identifier(name))
            directory = open_directory(table.location(), self._storage)
            directory.files.delete_dir(directory.root)

    def rename(self, name: TableName, new_name: TableName) -> IcebergTargetTable:
        """Rename a table: its files stay where they are."""
        table, existing = self.table(name), self.table(new_name)
        if table is None:
            if existing is None:
                raise TargetError(f"{name} cannot be renamed: it is not in the target")
            return existing
        if existing is not None:
            raise TargetError(f"{name} cannot be renamed: there is another table", Position(file=str(new_name)))
        with iceberg_errors(str(new_name), self._storage):
            self._create_namespace(new_name)
            renamed = self._catalog.rename_table(_identifier(name), _identifier(new_name))
        return IcebergTargetTable(new_name, self._catalog, renamed, self._storage)

    def close(self) -> None:
        """Release the connections to the catalog."""
        self._catalog.close()

    def _load(self, name: TableName) -> Table | None:
        try:
            return self._catalog.load_table(_identifier(name))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _create_namespace(self, name: TableName) -> None:
        with contextlib.suppress(NamespaceAlreadyExistsError):
            self._catalog.create_namespace(_identifier(name)[:1])

    def _new_location(self, name: TableName) -> str | None:
        """Return a directory that no other table has ever had: a renamed table keeps that of its old name."""
        if self._uri is None:
            return None
        schema, table = _identifier(name)
        return child_directory(self._uri, schema, f"{table}-{uuid.uuid4().hex[:_SUFFIX]}")


def _identifier(name: TableName) -> tuple[str, str]:
    return directory_name(name.schema), directory_name(name.table)
