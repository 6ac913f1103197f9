"""Change records reduced to one for each key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from binspark.mirror.change_records import (
    ABSENT,
    KEY,
    OP,
    RECORD_FIELDS,
    SEQ,
    RecordOp,
    absent_lists,
    absent_matrix,
    operations,
)
from binspark.mirror.leaves.key_order import is_sorted, sorted_order, starts_of_groups


def last_per_key(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return what all changes of a key come to, one record for each key, in the order of keys.

    Of complete rows and deletions the last one counts. Merges after it are made in it.
    """
    records = _ordered(records)
    starts = starts_of_groups(records.column(KEY))
    if len(starts) == records.num_rows:
        return records
    ends = np.concatenate([starts[1:], [records.num_rows]]) - 1
    ops = operations(records)
    if (ops < RecordOp.MERGE).all():
        return records.take(pa.array(ends))
    return _merged(records, ops, starts, ends)


def without_superseded(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records without those that a later one of the same key makes void, in the order of keys.

    Other records of a key may be between these, so merges are not made in one another.
    """
    records = _ordered(records)
    ops = operations(records)
    if (ops < RecordOp.MERGE).all():
        return last_per_key(records)
    starts = starts_of_groups(records.column(KEY))
    counts = np.diff(np.concatenate([starts, [records.num_rows]]))
    bases = _last_where(ops <= RecordOp.PUT, starts + counts - 1)
    firsts = np.maximum(bases, starts)
    is_needed = np.arange(records.num_rows) >= np.repeat(firsts, counts)
    return records if is_needed.all() else records.filter(pa.array(is_needed))


def net_copies(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return changes of a table without a key, in the order of rows, without copies that were written and deleted."""
    records = _ordered(records)
    starts = starts_of_groups(records.column(KEY))
    if len(starts) == records.num_rows:
        return records
    counts = np.diff(np.concatenate([starts, [records.num_rows]]))
    is_put = operations(records) == RecordOp.PUT
    net = np.add.reduceat(np.where(is_put, 1, -1), starts)
    # Of each kind as many are left as there are more of it than of the other. Which of them does not matter.
    is_left_over = is_put == np.repeat(net > 0, counts)
    seen = np.cumsum(is_left_over)
    before = (seen - is_left_over)[starts]
    number = seen - np.repeat(before, counts)
    chosen = np.flatnonzero(is_left_over & (number <= np.repeat(np.abs(net), counts)))
    return records.take(pa.array(chosen))


def _ordered(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records in the order of keys, and those of a key in the order of the log."""
    sequences = records.column(SEQ).cast(pa.binary())
    if not is_sorted(sequences):
        records = records.take(pa.array(sorted_order(sequences)))
    by_key = sorted_order(records.column(KEY))
    return records if by_key is None else records.take(pa.array(by_key))


def _merged(records: pa.RecordBatch, ops: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> pa.RecordBatch:
    """Return the last record of each key, with what is absent in it taken from those before it."""
    bases = _last_where(ops <= RecordOp.PUT, ends)
    has_base = bases >= starts
    firsts = np.where(has_base, bases, starts)
    absent = absent_matrix(records)
    absent[ops == RecordOp.DELETE] = True
    names = records.schema.names[len(RECORD_FIELDS) :]
    arrays = {name: records.column(name) for name in records.schema.names}
    missing = np.zeros((len(ends), len(names)), bool)
    for column, name in enumerate(names):
        sources = _last_where(~absent[:, column], ends)
        missing[:, column] = sources < firsts
        arrays[name] = arrays[name].take(pa.array(np.where(missing[:, column], ends, sources)))
    for field in RECORD_FIELDS:
        arrays[field.name] = arrays[field.name].take(pa.array(ends))
    base_ops = np.where(has_base, ops[firsts], RecordOp.MERGE)
    is_orphan = (base_ops == RecordOp.DELETE) & (ops[ends] != RecordOp.DELETE) | _has_orphan(ops, firsts, ends)
    results = np.where(is_orphan, RecordOp.ORPHAN, base_ops)
    is_complete = ~missing.any(axis=1) & (results != RecordOp.DELETE)
    results = np.where(is_complete, RecordOp.PUT, results)
    missing[results == RecordOp.DELETE] = False
    arrays[OP] = pa.array(results, pa.int8())
    arrays[ABSENT] = absent_lists(missing)
    return pa.RecordBatch.from_arrays(list(arrays.values()), schema=records.schema)


def _has_orphan(ops: np.ndarray, firsts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return for each key whether one of its records, from the first that counts, has a row that was deleted."""
    orphans = np.concatenate([[0], np.cumsum(ops == RecordOp.ORPHAN)])
    found: np.ndarray = orphans[ends + 1] > orphans[firsts]
    return found


def _last_where(condition: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the index of the last record up to each end for which a condition is true, -1 if there is none."""
    indices = np.where(condition, np.arange(len(condition)), -1)
    return np.take(np.maximum.accumulate(indices), ends)
