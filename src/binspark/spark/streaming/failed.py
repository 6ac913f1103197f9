"""A stream that cannot begin: raises its error when Spark first calls it.

PySpark 4.3 hides an error of `streamReader()`: it then stops a reader that does not exist, and reports that instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow


class FailedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Stands in for the reader of a stream whose options are wrong, or whose table does not exist."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Raise the error."""
        self._fail()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Raise the error."""
        self._fail()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Raise the error."""
        self._fail()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: ARG002, N802
        """Raise the error."""
        self._fail()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:  # noqa: ARG002
        """Raise the error."""
        self._fail()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """Raise the error."""
        self._fail()

    def _fail(self) -> NoReturn:
        raise self._error
