"""What is in a log, listed by kernels and by the object API."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from binspark.columns.event_list import EventReader
from binspark.columns.list_fields import BODY, EVENT_FIELDS, TRANSACTION_FIELDS
from binspark.columns.list_reader import ListReader
from binspark.columns.row_counts import count_rows
from binspark.columns.transaction_batch import TransactionColumns
from binspark.columns.transaction_list import TransactionReader
from binspark.errors import BinlogError
from binspark.event import Event, EventDecoder, TransactionPayload
from binspark.frames import Framer
from binspark.render.event_bodies import EventBodies
from binspark.render.records import event_record, transaction_record
from binspark.transactions import Assembler

FILE = "binlog.000001"
Record = dict[str, Any]
MICROSECONDS = 1_000_000
TIMES = ("timestamp", "immediate_commit_timestamp", "original_commit_timestamp")


class Listing(NamedTuple):
    """What was listed, and the error after it: its class, its offset and its message."""

    records: list[Record]
    error: tuple[str, int | None, str] | None


def outcome(items: Iterator[Record]) -> Listing:
    """Take all, up to an error."""
    found: list[Record] = []
    try:
        for item in items:
            found.append(item)  # noqa: PERF402 (what came before an error counts)
    except BinlogError as error:
        return Listing(found, (type(error).__name__, error.position.offset, error.message))
    return Listing(found, None)


def reference_events(content: bytes, *, expand: bool = True) -> Iterator[Event]:
    """Yield the events of a log as the object API does."""
    framer, decoder = Framer(), EventDecoder(FILE)
    for frame in framer.feed(content):
        event = decoder.decode(frame)
        yield event
        if isinstance(event.body, TransactionPayload) and expand:
            yield from decoder.inner_events(event)
    framer.finish()


def expected_events(content: bytes, *, expand: bool = True, body: bool = True) -> Listing:
    """Return the records of the command `events`."""

    def listed() -> Iterator[Record]:
        for event in reference_events(content, expand=expand):
            record = {"inner": None, **json.loads(json.dumps(event_record(event)))}
            if not body:
                del record[BODY]
            yield record

    return outcome(listed())


def expected_transactions(content: bytes, *, expand: bool = True) -> Listing:
    """Return the records of the command `transactions`, with rows counted."""
    assembler = Assembler(count_rows=count_rows)

    def listed() -> Iterator[Record]:
        for event in reference_events(content, expand=expand):
            for transaction in assembler.feed(event):
                yield transaction_record(transaction)

    found = outcome(listed())
    ended = [transaction_record(transaction) for transaction in assembler.finish()]
    for record in (*found.records, *ended):
        for change in record["rows"]:
            change.setdefault("rows", None)
    return Listing(found.records + ended, found.error)


def listed_events(content: bytes, *, expand: bool = True, body: bool = True) -> Listing:
    """Return what a kernel lists of events."""
    reader = EventReader(expand_payloads=expand, bodies=EventBodies() if body else None)
    return outcome(records_of(reader, content))


def listed_transactions(content: bytes, *, expand: bool = True) -> Listing:
    """Return what a kernel lists of transactions, those that are in progress at the end included."""
    reader = TransactionReader(TransactionColumns(), expand_payloads=expand)
    found = outcome(batch_records(reader.read(io.BytesIO(content).readinto, FILE)))
    return Listing(found.records + list(batch_records(reader.finish())), found.error)


def records_of(reader: ListReader, content: bytes) -> Iterator[Record]:
    """Yield what a reader lists."""
    yield from batch_records(reader.read(io.BytesIO(content).readinto, FILE))
    yield from batch_records(reader.finish())


def batch_records(batches: Iterator[pa.RecordBatch]) -> Iterator[Record]:
    """Yield rows as the records of commands: seconds and microseconds since 1970, whole numbers."""
    for batch in batches:
        columns = [plain(batch.schema.field(index), column) for index, column in enumerate(batch.columns)]
        for row in zip(*columns, strict=True):
            yield dict(zip(batch.schema.names, row, strict=True))


def plain(field: pa.Field, column: pa.Array) -> list[Any]:
    if field.name == BODY:
        return [json.loads(text) for text in column.to_pylist()]
    if pa.types.is_timestamp(field.type):
        unit = MICROSECONDS if field.name == "timestamp" else 1
        return [None if value is None else value // unit for value in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_decimal(field.type):
        return [None if value is None else int(value) for value in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    return values


def names(fields: tuple[pa.Field, ...]) -> list[str]:
    return [field.name for field in fields]


ALL_EVENT_NAMES = [*names(EVENT_FIELDS), BODY]
ALL_TRANSACTION_NAMES = names(TRANSACTION_FIELDS)
Make = Callable[[bytes], Listing]
