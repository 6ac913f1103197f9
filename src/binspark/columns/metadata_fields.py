"""The columns that say where a row comes from, as fields. Light: planning a query needs no kernels."""

from __future__ import annotations

import pyarrow as pa

from binspark.columns.types import TIMESTAMP

WORDS = pa.dictionary(pa.int32(), pa.string())
METADATA_FIELDS = (
    pa.field("_op", WORDS),
    pa.field("_gtid", WORDS),
    pa.field("_commit_time", TIMESTAMP),
    pa.field("_log_file", WORDS),
    pa.field("_log_pos", pa.int64()),
    pa.field("_log_row", pa.int32()),
    pa.field("_tx_row", pa.int64()),
    pa.field("_server_id", pa.int64()),
)
METADATA_NAMES = frozenset(field.name for field in METADATA_FIELDS)
