"""The views `events` and `transactions`: what the log is made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from binspark.columns.selection import Operations, Selection
from binspark.documents.variant import VARIANT, variant_documents
from binspark.event import Event
from binspark.render.records import event_record, transaction_record
from binspark.spark.options import SourceOptions
from binspark.spark.views.base import LogReader
from binspark.transactions import Assembler, Transaction
from binspark.transactions.byte_tables import IDENTIFYING_CODES, OUTSIDE_CODES
from binspark.transactions.transaction import commit_of

_MICROSECONDS = 1_000_000
_MOST_ROWS = 10_000
_MOST_BYTES = 8 << 20


@dataclass(frozen=True)
class EventsView:
    """One row for each event, with the decoded body."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the events of a split."""
        wanted = WantedEvents(self.options.selection)
        batch = _Batch(self.target)
        for event in reader.events(part, expand=self.options.expand_payloads):
            if wanted.wants(event):
                record = event_record(event)
                record["timestamp"] *= _MICROSECONDS
                record["body"] = json.dumps(record["body"]) if batch.has_body else ""
                yield from batch.add(record, event.header.event_size)
        yield from batch.rest()


@dataclass(frozen=True)
class TransactionsView:
    """One row for each transaction."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the transactions of a split."""
        assembler, batch = Assembler(), _Batch(self.target)
        for event in reader.events(part, expand=self.options.expand_payloads):
            for transaction in assembler.feed(event):
                yield from self._add(batch, transaction)
        for transaction in assembler.finish():
            yield from self._add(batch, transaction)
        yield from batch.rest()

    def _add(self, batch: _Batch, transaction: Transaction) -> Iterator[pa.RecordBatch]:
        if _wants_transaction(self.options.selection, transaction):
            record = transaction_record(transaction)
            record["timestamp"] *= _MICROSECONDS
            yield from batch.add(record, sum(map(len, record["texts"])))


class WantedEvents:
    """Decides which events belong to the selected transactions."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._is_known = False
        self._wants = selection.wants_gtid(None)

    def wants(self, event: Event) -> bool:
        """Return whether an event is selected; events come in the order of the log."""
        if event.type_code in OUTSIDE_CODES:
            return self._selection.wants_gtid(None) and self._selection.wants_event(event, committed=True)
        selection = self._selection
        if event.type_code in IDENTIFYING_CODES:
            gtid, commit_time = commit_of(event)
            self._is_known = True
            self._wants = selection.wants_gtid(gtid) and selection.wants_commit(commit_time)
        return self._wants and selection.wants_event(event, committed=not self._is_known)


def _wants_transaction(selection: Selection, transaction: Transaction) -> bool:
    moment = transaction.immediate_commit_timestamp or transaction.timestamp * _MICROSECONDS
    if selection.server_id not in (None, transaction.server_id):
        return False
    if not selection.wants_commit(moment) or not selection.wants_gtid_text(transaction.gtid):
        return False
    if selection.tables is None and not selection.excluded and selection.operations is Operations.ALL:
        return True
    return any(
        selection.wants(f"{changes.schema}.{changes.table}") and selection.wants_operation(changes.operation)
        for changes in transaction.changes
    )


class _Batch:
    """Records that become a batch when there are enough of them."""

    def __init__(self, target: pa.Schema) -> None:
        self._target = target
        self._records: list[dict[str, Any]] = []
        self._bytes = 0
        self.has_body = "body" in target.names

    def add(self, record: dict[str, Any], size: int) -> Iterator[pa.RecordBatch]:
        self._records.append(record)
        self._bytes += size
        if len(self._records) >= _MOST_ROWS or self._bytes >= _MOST_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        if self._records:
            yield record_batch(self._records, self._target)
            self._records, self._bytes = [], 0


def record_batch(records: list[dict[str, Any]], target: pa.Schema) -> pa.RecordBatch:
    """Return records as a batch; a document becomes VARIANT."""
    arrays = [_array([record.get(field.name) for record in records], field.type) for field in target]
    return pa.RecordBatch.from_arrays(arrays, schema=target)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    convert = _CONVERSIONS.get(kind)
    return pa.array(values, kind) if convert is None else convert(values)


_CONVERSIONS: dict[pa.DataType, Callable[[list[Any]], pa.Array]] = {
    VARIANT: lambda values: variant_documents(pa.array(values, pa.string())),
    pa.timestamp("us", tz="UTC"): lambda values: pa.array(values, pa.int64()).cast(pa.timestamp("us", tz="UTC")),
}
