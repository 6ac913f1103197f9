"""Events and transactions as JSON objects, and events as lines of text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from binspark.event import Event
from binspark.render.json_values import body_json, readable
from binspark.render.summary import summarize
from binspark.transactions import TableChanges, Transaction

if TYPE_CHECKING:
    from binspark.changes.reader import RowCounts


def event_record(event: Event) -> dict[str, Any]:
    """Return an event as the record that `binspark events --format jsonl` prints."""
    header = event.header
    record = {
        "file": PurePath(event.file).name,
        "pos": event.offset,
        "end_pos": event.end_offset,
        "type": event.type,
        "type_code": event.type_code,
        "timestamp": header.timestamp,
        "server_id": header.server_id,
        "size": header.event_size,
        "flags": header.flags,
        "checksum": event.checksum.value,
        "body": body_json(event),
    }
    if event.inner is not None:
        record["inner"] = event.inner
    return record


def event_line(event: Event) -> str:
    """Return an event as a line of text: position, type, size, time, summary."""
    position = f"{event.offset:>10}" if event.inner is None else f"{'+' + str(event.inner):>10}"
    mark = " CHECKSUM BAD" if event.checksum == "bad" else ""
    moment = _moment(event.header.timestamp)
    return f"{position}  {event.type:<20} {event.header.event_size:>8}  {moment}  {summarize(event)}{mark}"


def _moment(timestamp: int) -> str:
    return f"{datetime.fromtimestamp(timestamp, UTC):%Y-%m-%d %H:%M:%S}" if timestamp else " " * 19


def transaction_record(transaction: Transaction, counts: RowCounts | None = None) -> dict[str, Any]:
    """Return a transaction as the record that `--format jsonl` prints."""
    return {
        "file": PurePath(transaction.file).name,
        "pos": transaction.start,
        "end_pos": transaction.end,
        "gtid": transaction.gtid,
        "tag": transaction.tag,
        "timestamp": transaction.timestamp,
        "server_id": transaction.server_id,
        "immediate_commit_timestamp": transaction.immediate_commit_timestamp,
        "original_commit_timestamp": transaction.original_commit_timestamp,
        "length": transaction.length,
        "last_committed": transaction.last_committed,
        "sequence_number": transaction.sequence_number,
        "events": transaction.events,
        "rows": [_changes_record(changes, counts) for changes in transaction.changes],
        "xid": transaction.xid,
        "xa": transaction.xa,
        "ddl": None if transaction.ddl is None else readable(transaction.ddl),
        "end": transaction.ending.value,
        "complete": transaction.complete,
        "end_file": PurePath(transaction.end_file).name,
        "declared_length": transaction.declared_length,
        "commit_id": transaction.commit_id,
        "gtid_flags": transaction.gtid_flags,
        "statements": transaction.statements,
        "texts": [readable(text) for text in transaction.texts],
        "thread_id": transaction.thread_id,
        "schema": transaction.schema,
        "compressed": transaction.compressed,
    }


def _changes_record(changes: TableChanges, counts: RowCounts | None) -> dict[str, Any]:
    record = {
        "schema": changes.schema,
        "table": changes.table,
        "operation": changes.operation.value,
        "events": changes.events,
        "bytes": changes.bytes,
    }
    rows = changes.rows if counts is None else rows_of(changes, counts)
    return record if counts is None and rows is None else {**record, "rows": rows}


def rows_of(changes: TableChanges, counts: RowCounts) -> int:
    """Return how many rows of a table a transaction changes with one operation."""
    return counts[changes.schema, changes.table, changes.operation]
