"""The views `tables` and `_corrupt`: what is in the logs, and what of them cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pyarrow as pa

from binspark.columns.table_counts import TableCount, TableCounts
from binspark.columns.transaction_list import TransactionReader
from binspark.event import RowOperation
from binspark.files.split_reader import Damage, SplitReader
from binspark.spark.options import SourceOptions
from binspark.spark.views.base import LogReader, batch_readers


@dataclass(frozen=True)
class TablesView:
    """How many rows each split has of each table, by operation, and the bytes of their events."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Count the rows of a split. No value is decoded, so that none can be wrong."""
        counts = TableCounts(self.options.selection)
        transactions = TransactionReader(counts)
        for _ in chain(reader.scan(part, transactions), transactions.finish()):
            pass
        if counts.counts:
            yield _record_batch([_count_record(*item) for item in counts.counts.items()], self.target)


def _count_record(name: tuple[str, str, RowOperation], count: TableCount) -> dict[str, Any]:
    schema, table, operation = name
    return {
        "schema": schema,
        "table": table,
        "operation": operation.value,
        "rows": count.rows,
        "bytes": count.bytes,
        "uncounted_events": count.uncounted,
    }


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
            yield _record_batch([_record(damage) for damage in damages], self.target)


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


def _record_batch(records: list[dict[str, Any]], target: pa.Schema) -> pa.RecordBatch:
    """Return records as a batch."""
    arrays = [pa.array([record[field.name] for record in records], field.type) for field in target]
    return pa.RecordBatch.from_arrays(arrays, schema=target)
