"""Changes on their way from the log to a table's data files: Arrow batches of records.

A record is what becomes of one key: it is deleted, or its row is put, or some columns of its row are. Its own columns
come before those of the table in the target.
"""

from __future__ import annotations

from enum import IntEnum

import pyarrow as pa

KEY = "__key"
"""The key as bytes that sort as keys do, see `mirror.keys`."""

SEQ = "__seq"
"""The order of changes: the metadata column `_seq` of a row."""

OP = "__op"
"""What becomes of the key: a `RecordOp`."""

ABSENT = "__absent"
"""The numbers of the columns of the table that the record does not have; NULL if it has all."""

FROM = "__from"
"""The key that the row had before, if the record has only some columns and the update has changed the key."""

RECORD_FIELDS = (
    pa.field(KEY, pa.binary()),
    pa.field(SEQ, pa.string()),
    pa.field(OP, pa.int8()),
    pa.field(ABSENT, pa.list_(pa.int16())),
    pa.field(FROM, pa.binary()),
)


class RecordOp(IntEnum):
    """What becomes of a key.

    DELETE   there is no row with it
    PUT      its row is that of the record
    MERGE    the columns that the record has are put into its row
    """

    DELETE = 0
    PUT = 1
    MERGE = 2


def record_schema(table: pa.Schema) -> pa.Schema:
    """Return the schema of the records of a table with these columns in the target."""
    return pa.schema([*RECORD_FIELDS, *table])
