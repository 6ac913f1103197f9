"""The table of cuts in Delta."""

from __future__ import annotations

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from binspark.files.storage.options import Storage
from binspark.mirror.targets.cuts import CUT_SCHEMA, FILES_TO_JOIN, check_cut, cut_rows, cuts_of_rows, kept_cuts
from binspark.mirror.targets.delta.errors import delta_errors
from binspark.mirror.targets.storage_options import delta_options
from binspark.mirror.targets.target import Cut

_APPLICATION = "binspark"


class DeltaCuts:
    """Cuts in a Delta table. The number of the last one is that of its application transaction."""

    def __init__(self, uri: str, storage: Storage) -> None:
        self._uri = uri
        self._storage = storage
        self._options = delta_options(uri, storage)
        self._last: Cut | None = None

    def append(self, cut: Cut) -> None:
        """Append a cut."""
        with delta_errors(self._uri, self._storage):
            table = self._table() or DeltaTable.create(self._uri, CUT_SCHEMA, storage_options=self._options)
            check_cut(cut, self._last_of(table), self._uri)
            write_deltalake(table, cut_rows(cut), mode="append", commit_properties=_properties(cut.number))
            if len(table.file_uris()) > FILES_TO_JOIN:
                table.optimize.compact()
        self._last = cut

    def last(self) -> Cut | None:
        """Return the newest cut."""
        with delta_errors(self._uri, self._storage):
            table = self._table()
            return self._last_of(table) if table else None

    def _last_of(self, table: DeltaTable) -> Cut | None:
        number = table.transaction_version(_APPLICATION)
        if number is None:
            return None
        if self._last is None or self._last.number != number:
            self._last = cuts_of_rows(pa.table(table.to_pyarrow_table(filters=[("number", "=", number)])))[-1]
        return self._last

    def all(self) -> list[Cut]:
        """Return all cuts, the oldest first."""
        with delta_errors(self._uri, self._storage):
            table = self._table()
            return cuts_of_rows(pa.table(table.to_pyarrow_table())) if table else []

    def clean_up(self, retention_seconds: float) -> list[Cut]:
        """Remove old cuts, but not the newest, and join small files."""
        cuts = self.all()
        kept = kept_cuts(cuts, retention_seconds)
        with delta_errors(self._uri, self._storage):
            table = self._table()
            if table is None:
                return []
            if len(kept) < len(cuts):
                table.delete(f"number < {kept[0].number}")
            table.optimize.compact()
            table.vacuum(0, dry_run=False, enforce_retention_duration=False)
            table.create_checkpoint()
            table.cleanup_metadata()
        return kept

    def _table(self) -> DeltaTable | None:
        if not DeltaTable.is_deltatable(self._uri, self._options):
            return None
        return DeltaTable(self._uri, storage_options=self._options)


def _properties(number: int) -> CommitProperties:
    return CommitProperties(max_commit_retries=0, app_transactions=[Transaction(_APPLICATION, number)])
