"""A typed table: its columns as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from binspark.columns.selection import Selection
from binspark.spark.options import SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.schemas import BEFORE
from binspark.spark.views.base import LogReader, batch_readers
from binspark.spark.views.conform import Conformer, wanted_columns


@dataclass(frozen=True)
class TableView:
    """Brings the rows of all schema versions of a table into one schema."""

    options: SourceOptions
    target: pa.Schema
    version: SchemaVersion

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split."""
        conformer = Conformer(self.target, self.version, self.options)
        for found in reader.batches(part, batch_readers(self.selection, self.options)):
            yield conformer.conform(found)

    @property
    def selection(self) -> Selection:
        """What must be decoded: the columns of the target, in every schema version of the table."""
        return replace(
            self.options.selection,
            tables=frozenset({self.version.table.name}),
            wanted={self.version.table.name: wanted_columns(self.target, self.version, self.options)},
            before=BEFORE in self.target.names,
        )
