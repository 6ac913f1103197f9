"""`MERGE` of Delta's own jar, in a JVM beside this process."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.mirror.orders import ORDERS, SCHEMA, table_rows
from binspark.mirror.leaves import LeafLimits, write_changes, write_leaves
from binspark.mirror.records.format import OP, row_columns
from binspark.mirror.state import TableState
from binspark.mirror.targets.delta.merge import Merge
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Commit
from tools.delta_spark import DeltaSpark
from tools.delta_spark.session import MergeSession

ONE_PARTITION = {"spark.databricks.delta.snapshotPartitions": "1"}
"""Delta reads the log of a table in 50 tasks by default, which take longer than one if the table has few files."""


class MirrorMerge:
    """What a mirror of the format `delta-merge` does with changes: a file of them, and one commit of the jar."""

    name = "mirror, delta-merge"

    def __init__(self, spark: DeltaSpark, path: Path, state: TableState) -> None:
        self.path = path / "shop" / "orders"
        self._session = MergeSession(spark)
        target = parse_target(str(path), Format.DELTA_MERGE, spark=self._session)  # type: ignore[arg-type]
        self._table = target.create(ORDERS.name, SCHEMA, state)
        self._version = self._table.read()
        self._state = state

    def fill(self, count: int) -> None:
        """Write the rows of a new table."""
        added = write_leaves(table_rows(count), self._table.directory, ORDERS, LeafLimits())
        self._version = self._table.commit(Commit(self._version, self._state, added))

    def apply(self, batch: pa.RecordBatch) -> None:
        """Write what the changes come to, and let the jar merge it."""
        written = write_changes((), self._table.directory, ORDERS, [batch], LeafLimits())
        commit = Commit(self._version, self._state, changes=written.changes)
        self._version = self._table.commit(commit)

    def cpu_seconds(self) -> float:
        """Return the CPU time of this process, and that of the JVM for statements."""
        now = os.times()
        return now.user + now.system + self._session.jvm_cpu

    def finish(self) -> None:
        """Everybody can read the table."""


class JarMerge:
    """A Delta table that Spark alone writes, with deletion vectors: files are not written anew for deleted rows."""

    name = "Delta MERGE, vectors"

    def __init__(self, spark: DeltaSpark, path: Path) -> None:
        self.path = path
        self._spark = spark
        spark.configure("spark.databricks.delta.merge.deletionVectors.persistent", None)  # which mirrors switch off
        self._cpu = 0.0

    def fill(self, count: int) -> None:
        """Write the rows of a new table."""
        source = self._written(pa.Table.from_batches(table_rows(count), SCHEMA))
        self._spark.sql(
            f"CREATE TABLE delta.`{self.path}` USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
            f" AS SELECT * FROM parquet.`{source}`"
        )

    def apply(self, batch: pa.RecordBatch) -> None:
        """Merge changes: what is deleted, updated and inserted follows from their operations."""
        source = self._written(pa.Table.from_batches([row_columns(batch).append_column(OP, batch.column(OP))]))
        merge = Merge(str(self.path), (str(source),), tuple(SCHEMA.names), ORDERS.key)
        self._cpu += self._spark.sql(merge.sql()).jvm_cpu

    def cpu_seconds(self) -> float:
        """Return the CPU time that the JVM has taken to merge."""
        return self._cpu

    def finish(self) -> None:
        """Copy the table: delta-rs does not read deletion vectors into Arrow tables."""
        copy = self.path.with_name(f"{self.path.name}-copy")
        self._spark.sql(f"CREATE TABLE delta.`{copy}` USING delta AS SELECT * FROM delta.`{self.path}`")
        self.path = copy

    def _written(self, rows: pa.Table) -> Path:
        """Write rows for Spark to read; return the file."""
        path = self.path.with_name(f"{self.path.name}.parquet")
        pq.write_table(rows, path)
        return path
