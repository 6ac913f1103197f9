"""The columns of listed events and transactions. Light: planning a query needs no kernels."""

from __future__ import annotations

import pyarrow as pa

from binspark.columns.types import TIMESTAMP

EVENT_FIELDS = (
    pa.field("file", pa.string()),
    pa.field("pos", pa.int64()),
    pa.field("end_pos", pa.int64()),
    pa.field("inner", pa.int32()),
    pa.field("type", pa.string()),
    pa.field("type_code", pa.int16()),
    pa.field("timestamp", TIMESTAMP),
    pa.field("server_id", pa.int64()),
    pa.field("size", pa.int64()),
    pa.field("flags", pa.int32()),
    pa.field("checksum", pa.string()),
)
"""Of events, as `binspark events --format jsonl` names them, without the decoded body."""

BODY = "body"

CHANGED = pa.struct(
    [
        pa.field("schema", pa.string()),
        pa.field("table", pa.string()),
        pa.field("operation", pa.string()),
        pa.field("events", pa.int64()),
        pa.field("bytes", pa.int64()),
        pa.field("rows", pa.int64()),
    ]
)
"""How a transaction changes a table: rows events, their bytes and their rows, NULL if those cannot be counted."""

TRANSACTION_FIELDS = (
    pa.field("file", pa.string()),
    pa.field("pos", pa.int64()),
    pa.field("end_pos", pa.int64()),
    pa.field("gtid", pa.string()),
    pa.field("tag", pa.string()),
    pa.field("timestamp", TIMESTAMP),
    pa.field("server_id", pa.int64()),
    pa.field("immediate_commit_timestamp", TIMESTAMP),
    pa.field("original_commit_timestamp", TIMESTAMP),
    pa.field("length", pa.int64()),
    pa.field("last_committed", pa.int64()),
    pa.field("sequence_number", pa.int64()),
    pa.field("events", pa.int64()),
    pa.field("rows", pa.list_(CHANGED)),
    pa.field("xid", pa.decimal128(20, 0)),
    pa.field("xa", pa.string()),
    pa.field("ddl", pa.string()),
    pa.field("end", pa.string()),
    pa.field("complete", pa.bool_()),
    pa.field("end_file", pa.string()),
    pa.field("declared_length", pa.int64()),
    pa.field("commit_id", pa.decimal128(20, 0)),
    pa.field("gtid_flags", pa.int32()),
    pa.field("statements", pa.int64()),
    pa.field("texts", pa.list_(pa.string())),
    pa.field("thread_id", pa.int64()),
    pa.field("schema", pa.string()),
    pa.field("compressed", pa.bool_()),
)
"""Of transactions, as `binspark transactions --format jsonl` names them."""
