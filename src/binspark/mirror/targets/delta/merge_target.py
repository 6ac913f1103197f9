"""A directory of Delta tables into which Delta's own jar merges changes."""

from __future__ import annotations

import pyarrow as pa

from binspark.files.storage.options import Storage
from binspark.mirror.state import TableState
from binspark.mirror.targets.delta.merge import DeltaMerge
from binspark.mirror.targets.delta.merge_table import DeltaMergeTable
from binspark.mirror.targets.delta.target import DeltaTarget
from binspark.schema.table import TableName


class DeltaMergeTarget(DeltaTarget):
    """A directory of Delta tables. They are those of `DeltaTarget`: either of both continues what the other began."""

    def __init__(self, uri: str, storage: Storage, jvm: DeltaMerge) -> None:
        super().__init__(uri, storage)
        self._jvm = jvm

    def create(self, name: TableName, schema: pa.Schema, state: TableState) -> DeltaMergeTable:
        """Create an empty table. Spark reads it, so that a jar that does not fit is found before rows are copied."""
        table = super().create(name, schema, state)
        self._jvm.check(table.address)
        return self._opened(name)

    def _opened(self, name: TableName) -> DeltaMergeTable:
        return DeltaMergeTable(name, self._table_uri(name), self._storage, self._jvm)
