"""The types of the metadata columns. Light: planning a query needs no kernels."""

from __future__ import annotations

import pyarrow as pa

from binspark.columns.metadata import Metadata
from binspark.columns.types import TIMESTAMP

WORDS = pa.dictionary(pa.int32(), pa.string())
_TYPES = {
    Metadata.OP: WORDS,
    Metadata.SEQ: pa.string(),
    Metadata.GTID: WORDS,
    Metadata.COMMIT_TIME: TIMESTAMP,
    Metadata.LOG_FILE: WORDS,
    Metadata.LOG_POS: pa.int64(),
    Metadata.LOG_ROW: pa.int32(),
    Metadata.TX_ROW: pa.int64(),
    Metadata.SERVER_ID: pa.int64(),
    Metadata.ABSENT: pa.list_(pa.string()),
}


def metadata_type(name: Metadata, key: pa.DataType | None = None) -> pa.DataType:
    """Return the type of a metadata column; that of KEY depends on the table."""
    return key if name is Metadata.KEY else _TYPES[name]
