"""The lowest latency that Spark has: a stream that generates its rows when they are due, without a server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit
from pyspark.sql.types import StructType

SCHEMA = "committed double"
_POLL_SECONDS = 0.25


class TickSource(DataSource):
    """Generates a row every `period` seconds, with the time at which it was due."""

    @classmethod
    def name(cls) -> str:
        return "ticks"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 (Spark's signature)
        return TickReader(float(self.options["period"]))


class TickReader(DataSourceStreamReader):
    def __init__(self, period: float) -> None:
        self._period = period

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        return {"tick": -1}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        """Wait a little for the next row, as a source does that is notified of new rows."""
        due = (start["tick"] + 1) * self._period
        time.sleep(min(max(due - time.time(), 0.0), _POLL_SECONDS))
        return {"tick": max(int(time.time() / self._period), start["tick"])}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        first = start["tick"] + 1 if start["tick"] >= 0 else end["tick"]
        return [InputPartition((first, end["tick"]))] if first <= end["tick"] else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        first, last = partition.value
        times = [tick * self._period for tick in range(first, last + 1)]
        yield pa.RecordBatch.from_pydict({"committed": pa.array(times, pa.float64())})
