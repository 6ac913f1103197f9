"""Changes on their way from the log to a table's data files: Arrow batches of records.

A record is what becomes of one key: it is deleted, or its row is put, or some columns of its row are. Its own columns
come before those of the table in the target.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEY = "__key"
"""The key as bytes that sort as keys do, see `mirror.records.keys`."""

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
    ORPHAN   the same after its row was deleted, or may have been replaced: the row to put them into is not known
    END      all versions of rows end, whatever their keys are: the table was emptied
    """

    DELETE = 0
    PUT = 1
    MERGE = 2
    ORPHAN = 3
    END = 4


def record_schema(table: pa.Schema) -> pa.Schema:
    """Return the schema of the records of a table with these columns in the target."""
    return pa.schema([*RECORD_FIELDS, *table])


def complete_records(keys: pa.Array, seq: pa.Array | str, operation: RecordOp, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return records that have all columns, one for each of the rows; `seq` is that of each, or of all."""
    count = len(keys)
    order = pa.repeat(pa.scalar(seq), count) if isinstance(seq, str) else seq
    operations = pa.repeat(pa.scalar(int(operation), pa.int8()), count)
    nothing = (pa.nulls(count, field.type) for field in RECORD_FIELDS if field.name in (ABSENT, FROM))
    return pa.RecordBatch.from_arrays(
        [keys, order, operations, *nothing, *rows.columns], schema=record_schema(rows.schema)
    )


def row_columns(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns of the table alone."""
    return records.select(records.schema.names[len(RECORD_FIELDS) :])


def operations(records: pa.RecordBatch) -> np.ndarray:
    """Return what becomes of the keys of records, as numbers."""
    return np.asarray(records.column(OP))


def absent_lists(absent: np.ndarray) -> pa.Array:
    """Return the column ABSENT for a matrix with a row for each record and a truth value for each column."""
    counts = absent.sum(axis=1)
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
    numbers = np.nonzero(absent)[1].astype(np.int16)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers), mask=pa.array(counts == 0))


def absent_matrix(records: pa.RecordBatch) -> np.ndarray:
    """Return which columns are absent in which record, the inverse of `absent_lists`."""
    lists = records.column(ABSENT)
    matrix = np.zeros((records.num_rows, records.num_columns - len(RECORD_FIELDS)), bool)
    if lists.null_count < len(lists):
        counts = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
        matrix[np.repeat(np.arange(len(lists)), counts), np.asarray(lists.flatten())] = True
    return matrix
