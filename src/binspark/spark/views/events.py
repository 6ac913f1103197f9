"""The views `events` and `transactions`: what the log is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from binspark.columns.event_list import EventReader
from binspark.columns.list_fields import BODY
from binspark.columns.list_reader import ListReader
from binspark.columns.transaction_batch import TransactionColumns
from binspark.columns.transaction_list import TransactionReader
from binspark.documents.variant import variant_documents
from binspark.render.event_bodies import EventBodies
from binspark.spark.options import SourceOptions
from binspark.spark.views.base import LogReader


@dataclass(frozen=True)
class EventsView:
    """One row for each event, with the decoded body if that is a column of the target."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the events of a split."""
        names = self.target.names
        events = EventReader(
            self.options.selection,
            names,
            expand_payloads=self.options.expand_payloads,
            bodies=EventBodies() if BODY in names else None,
        )
        for batch in _scanned(part, reader, events):
            arrays = [_column(batch, name) for name in names]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.target)


@dataclass(frozen=True)
class TransactionsView:
    """One row for each transaction."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the transactions of a split."""
        names = self.target.names
        columns = TransactionColumns(self.options.selection, names)
        transactions = TransactionReader(columns, expand_payloads=self.options.expand_payloads)
        for batch in _scanned(part, reader, transactions):
            yield pa.RecordBatch.from_arrays([batch.column(name) for name in names], schema=self.target)


def _scanned(part: Any, reader: LogReader, scan: ListReader) -> Iterator[pa.RecordBatch]:
    yield from reader.scan(part, scan)
    yield from scan.finish()


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    array = batch.column(name)
    return variant_documents(array) if name == BODY else array
