"""The table of cuts in Iceberg: `_binspark.cuts`."""

from __future__ import annotations

import contextlib

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchNamespaceError, NoSuchTableError
from pyiceberg.table import Table

from binspark.files.storage.options import Storage
from binspark.mirror.targets.cuts import (
    CUT_SCHEMA,
    CUT_TABLE,
    FILES_TO_JOIN,
    check_cut,
    cut_rows,
    cuts_of_rows,
    hourly_cuts,
    kept_cuts,
)
from binspark.mirror.targets.iceberg.clean_up import expire, remove_orphans
from binspark.mirror.targets.iceberg.errors import iceberg_errors
from binspark.mirror.targets.iceberg.schemas import new_schema
from binspark.mirror.targets.target import Cut

_IDENTIFIER = (CUT_TABLE, "cuts")
_ADDRESS = ".".join(_IDENTIFIER)
_LAST = "binspark.lastCut"
_FILES = "total-data-files"
_PROPERTIES = {"commit.retry.num-retries": "0", "write.metadata.delete-after-commit.enabled": "true"}


class IcebergCuts:
    """Cuts in an Iceberg table. The number of the last one is a property of the table."""

    def __init__(self, catalog: Catalog, location: str | None, storage: Storage) -> None:
        self._catalog = catalog
        self._location = location
        self._storage = storage
        self._last: Cut | None = None

    def append(self, cut: Cut) -> None:
        """Append a cut."""
        with iceberg_errors(_ADDRESS, self._storage):
            table = self._table() or self._create()
            check_cut(cut, self._last_of(table), _ADDRESS)
            with table.transaction() as transaction:
                transaction.append(cut_rows(cut))
                transaction.set_properties({_LAST: str(cut.number)})
            if _file_count(table) > FILES_TO_JOIN:
                _replace(table, table.scan().to_arrow())
        self._last = cut

    def last(self) -> Cut | None:
        """Return the newest cut."""
        with iceberg_errors(_ADDRESS, self._storage):
            table = self._table()
            return self._last_of(table) if table else None

    def _last_of(self, table: Table) -> Cut | None:
        number = table.properties.get(_LAST)
        if number is None:
            return None
        if self._last is None or self._last.number != int(number):
            self._last = cuts_of_rows(table.scan(row_filter=f"number = {int(number)}").to_arrow())[-1]
        return self._last

    def all(self) -> list[Cut]:
        """Return all cuts, the oldest first."""
        with iceberg_errors(_ADDRESS, self._storage):
            table = self._table()
            return cuts_of_rows(table.scan().to_arrow()) if table else []

    def clean_up(self, retention_seconds: float) -> list[Cut]:
        """Remove old cuts, but not the newest, and join small files."""
        with iceberg_errors(_ADDRESS, self._storage):
            table = self._table()
            if table is None:
                return []
            rows = table.scan().to_arrow()
            kept = hourly_cuts(kept_cuts(cuts_of_rows(rows), retention_seconds))
            numbers = pa.array([cut.number for cut in kept], pa.int64())
            _replace(table, rows.filter(pa.compute.is_in(rows["number"], numbers)))
            remove_orphans(expire(table.refresh(), 0), self._storage, retention_seconds)
        return kept

    def _table(self) -> Table | None:
        try:
            return self._catalog.load_table(_IDENTIFIER)
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _create(self) -> Table:
        with contextlib.suppress(NamespaceAlreadyExistsError):
            self._catalog.create_namespace(_IDENTIFIER[:1])
        schema = new_schema(CUT_SCHEMA)
        return self._catalog.create_table(_IDENTIFIER, schema, location=self._location, properties=_PROPERTIES)


def _file_count(table: Table) -> int:
    snapshot = table.current_snapshot()
    summary = snapshot.summary if snapshot else None
    return int(summary.additional_properties.get(_FILES, "0")) if summary else 0


def _replace(table: Table, rows: pa.Table) -> None:
    with table.transaction() as transaction:
        transaction.overwrite(rows)
