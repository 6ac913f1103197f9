"""A typed table: its columns as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from binspark.columns.metadata import BEFORE, Metadata, metadata_names
from binspark.columns.selection import Selection
from binspark.spark.options import SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.views.base import LogReader, batch_readers
from binspark.spark.views.conform import ERROR_METADATA, Conformer, wanted_columns


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
        selected = self.options.selection
        metadata = metadata_names(selected.metadata_prefix, Metadata)
        present = {metadata[name] for name in self.target.names if name in metadata}
        absent = Metadata.ABSENT in present
        return replace(
            selected,
            tables=frozenset({self.version.table.name}),
            wanted={self.version.table.name: wanted_columns(self.target, self.version, self.options)},
            before=f"{selected.metadata_prefix}{BEFORE}" in self.target.names,
            metadata_columns=frozenset(present | ERROR_METADATA),
            absent=absent,
            images=absent,
        )
