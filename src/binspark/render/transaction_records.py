"""A transaction as one record of JSON lines."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from binspark.render.text import readable
from binspark.transactions import TableChanges, Transaction

if TYPE_CHECKING:
    from binspark.changes.counts import RowCounts


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
    return record if counts is None else {**record, "rows": rows_of(changes, counts)}


def rows_of(changes: TableChanges, counts: RowCounts) -> int:
    return counts[changes.schema, changes.table, changes.operation]
