"""`MERGE` of Delta's own jar, in a JVM beside this process."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.mirror.orders import SCHEMA, table_rows
from binspark.mirror.change_records import OP, RecordOp, row_columns
from tools.delta_spark import DeltaSpark


class JarMerge:
    """A Delta table that Spark writes.

    vectors   whether deleted rows are marked, and their files not written anew
    """

    def __init__(self, spark: DeltaSpark, path: Path, vectors: bool) -> None:
        self.name = f"Delta MERGE{', vectors' if vectors else ''}"
        self.path = path
        self._spark = spark
        self._vectors = vectors
        self._cpu = 0.0

    def fill(self, count: int) -> None:
        """Write the rows of a new table."""
        source = self._source(pa.Table.from_batches(table_rows(count), SCHEMA))
        properties = f"'delta.enableDeletionVectors' = '{str(self._vectors).lower()}'"
        self._spark.sql(
            f"CREATE TABLE delta.`{self.path}` USING delta TBLPROPERTIES ({properties}) AS SELECT * FROM {source}"
        )

    def apply(self, batch: pa.RecordBatch) -> None:
        """Merge changes: what is deleted, updated and inserted follows from their operations."""
        columns = row_columns(batch)
        source = self._source(pa.Table.from_batches([columns.append_column(OP, batch.column(OP))]))
        is_deletion = f"s.{OP} = {int(RecordOp.DELETE)}"
        names, values = ", ".join(SCHEMA.names), ", ".join(f"s.{name}" for name in SCHEMA.names)
        updates = ", ".join(f"t.{name} = s.{name}" for name in SCHEMA.names)
        answer = self._spark.sql(
            f"MERGE INTO delta.`{self.path}` t USING {source} s ON t.id = s.id"
            f" WHEN MATCHED AND {is_deletion} THEN DELETE WHEN MATCHED THEN UPDATE SET {updates}"
            f" WHEN NOT MATCHED AND NOT ({is_deletion}) THEN INSERT ({names}) VALUES ({values})"
        )
        self._cpu += answer.jvm_cpu

    def cpu_seconds(self) -> float:
        """Return the CPU time that the JVM has taken to merge."""
        return self._cpu

    def finish(self) -> None:
        """Copy a table that may have deletion vectors, which delta-rs does not read into Arrow tables."""
        if self._vectors:
            copy = self.path.with_name(f"{self.path.name}-copy")
            self._spark.sql(f"CREATE TABLE delta.`{copy}` USING delta AS SELECT * FROM delta.`{self.path}`")
            self.path = copy

    def _source(self, rows: pa.Table) -> str:
        """Write rows for Spark to read; return the table."""
        path = self.path.with_name(f"{self.path.name}.parquet")
        pq.write_table(rows, path)
        return f"parquet.`{path}`"
