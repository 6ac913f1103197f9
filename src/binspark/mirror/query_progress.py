"""The progress of a mirror as that of a streaming query of Spark: in its user interface, and for its listeners.

A mirror is not a streaming query: its position is in its tables, not in a checkpoint. Spark has no other way to show
the figures of a program, so a small query reads them: its offsets are the reports of the mirror, its rows the tables.
The reports are in a file on the driver, where the process of Spark's that plans batches reads it.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from binspark.monitoring.status import Status
from binspark.spark.schemas import arrow_schema

log = logging.getLogger("binspark.mirror")
SOURCE = "binspark_mirror_progress"
METRICS = "mirror"
"""The name of the observed metrics in the progress of the query."""

_NUMBER = "number"
_REPORT = "report.json"
_TRIGGER = "1 second"
_ROWS = "table string, phase string, rows bigint, expected_rows bigint, rows_per_second bigint, position string"
_OF_MIRROR = "mirror_position string, gtids string, lag_bytes bigint, lag_seconds double, error string"
_SCHEMA = f"{_ROWS}, {_OF_MIRROR}"
_SHOWN = ("position", "gtids", "lag_bytes", "lag_seconds", "error", "tables")
"""What is shown of a report. The rest changes with each heartbeat, which is not progress."""


class QueryProgress:
    """Shows what a mirror reports as the progress of a query, which runs from now on until `close`."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="binspark-progress-")
        self._path = Path(self._folder.name) / _REPORT
        self._number = 0
        self._last: dict[str, Any] = {}
        spark.dataSource.register(ProgressSource)
        reports = spark.readStream.format(SOURCE).load(str(self._path))
        observed = reports.observe(METRICS, *_metrics())
        started = observed.writeStream.format("noop").queryName(name).trigger(processingTime=_TRIGGER)
        self._query: StreamingQuery = started.start()

    def show(self, report: Status) -> None:
        """Report this through the query, if it is new."""
        reported = report.to_json()
        fields = {name: reported[name] for name in _SHOWN}
        if fields == self._last:
            return
        self._last = fields
        self._number += 1
        written = self._path.with_suffix(".new")
        written.write_text(json.dumps({_NUMBER: self._number, **fields}))
        written.replace(self._path)

    def close(self) -> None:
        """End the query, after it has reported the last figures. Whatever becomes of it, the mirror is not affected."""
        try:
            self._query.processAllAvailable()
            self._query.stop()
        except PySparkException as error:
            log.warning("the progress could not be shown in Spark: %s", error)
        self._folder.cleanup()


def _metrics() -> list[Column]:
    tables = F.array_sort(F.collect_list(F.struct("table", "phase", "rows", "rows_per_second", "position")))
    return [
        F.max("mirror_position").alias("position"),
        F.max("gtids").alias("gtids"),
        F.max("lag_bytes").alias("lag_bytes"),
        F.max("lag_seconds").alias("lag_seconds"),
        F.sum("rows").alias("rows"),
        F.sum("rows_per_second").alias("rows_per_second"),
        F.max("error").alias("error"),
        tables.alias("tables"),
    ]


class ProgressSource(DataSource):
    """The reports of a mirror as a stream: a row for each table and report."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return SOURCE

    def schema(self) -> str:
        """Return the columns."""
        return _SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """Return what reads the file with the reports."""
        return _Reports(Path(self.options["path"]), schema)


class _Reports(DataSourceStreamReader):
    """Reads the newest report; those between two batches are not shown."""

    def __init__(self, path: Path, schema: StructType) -> None:
        self._path = path
        self._schema = schema
        self._report: dict[str, Any] = {_NUMBER: 0}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Return the offset before the first report."""
        return {_NUMBER: 0}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        """Return the newest report without its tables."""
        if self._path.exists():
            self._report = json.loads(self._path.read_text())
        return {name: value for name, value in self._report.items() if name != "tables"}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the newest report as one part."""
        return [] if start == end else [InputPartition(json.dumps(self._report))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the tables of a report."""
        report = json.loads(partition.value)
        of_mirror = {name: report[name] for name in ("gtids", "lag_bytes", "lag_seconds", "error")}
        common = {**of_mirror, "mirror_position": report["position"]}
        rows = [{**table, **common} for table in report["tables"]]
        yield pa.RecordBatch.from_pylist(rows, schema=arrow_schema(self._schema))
