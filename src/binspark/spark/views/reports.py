"""The views `tables` and `_corrupt`: what is in the logs, and what of them cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from binspark.columns.metadata_fields import Metadata
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Operations
from binspark.files.split_reader import Damage, SplitReader
from binspark.schema.history import SchemaHistory
from binspark.spark.options import SourceOptions
from binspark.spark.views.base import LogReader, batch_readers
from binspark.spark.views.events import record_batch

_OPERATIONS = ("insert", "update", "delete")


@dataclass(frozen=True)
class TablesView:
    """How many rows each split has of each table, by operation, and the bytes of their events."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Count the rows of a split. No value of theirs is decoded."""
        selection = replace(
            self.options.selection,
            columns=(),
            metadata_columns=frozenset({Metadata.OP}),
            operations=self.options.selection.operations & ~Operations.TRUNCATE,
        )
        make, made = batch_readers(selection, self.options), list[BatchReader]()

        def make_reader(history: SchemaHistory) -> BatchReader:
            made.append(make(history))
            return made[-1]

        rows: dict[str, Any] = {}
        for found in reader.batches(part, make_reader):
            operations = found.origin(Metadata.OP).indices.to_numpy()
            counted = np.bincount(operations, minlength=len(_OPERATIONS))
            rows[found.table.name] = rows.get(found.table.name, 0) + counted
        bytes_: dict[str, Any] = {}
        for one in made:
            for name, counted in one.tables.event_bytes().items():
                bytes_[name] = bytes_.get(name, 0) + counted
        records = [
            record
            for name, counted in rows.items()
            for record in _records(name, counted.tolist(), bytes_[name].tolist())
        ]
        if records:
            yield record_batch(records, self.target)


def _records(table: str, rows: list[int], sizes: list[int]) -> Iterator[dict[str, Any]]:
    schema, _, name = table.partition(".")
    for operation, count, size in zip(_OPERATIONS, rows, sizes, strict=True):
        if count:
            yield {"schema": schema, "table": name, "operation": operation, "rows": count, "bytes": size}


@dataclass(frozen=True)
class CorruptView:
    """Decodes everything and reports what could not be decoded."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the damage of a split."""
        damages: list[Damage] = []
        assert isinstance(reader, SplitReader)
        thorough = replace(reader, on_damage=damages.append)
        selection = replace(self.options.selection, before=True)
        for _ in thorough.batches(part, batch_readers(selection, self.options)):
            pass
        if damages:
            yield record_batch([_record(damage) for damage in damages], self.target)


def _record(damage: Damage) -> dict[str, Any]:
    error = damage.error
    return {
        "file": damage.file.rpartition("/")[2],
        "pos": damage.start,
        "end_pos": damage.end,
        "event": error.position.event,
        "error": type(error).__name__,
        "message": error.message,
    }
