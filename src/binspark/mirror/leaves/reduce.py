"""Change records reduced to one for each key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from binspark.mirror.leaves.key_order import is_sorted, sorted_order, starts_of_groups
from binspark.mirror.records.format import (
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


def last_per_key(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return what all changes of a key come to, one record for each key, in the order of keys.

    Of complete rows and deletions the last one counts. Merges after it are made in it. A merge of all columns is a
    complete row.
    """
    records = _with_complete_rows(records)
    order, keys = _order(records)
    starts = starts_of_groups(keys)
    ops = operations(records)
    if len(starts) == len(keys) or (ops < RecordOp.MERGE).all():
        return _taken(records, order, _ends(starts, len(keys)))
    records = _taken(records, order)
    return _merged(records, operations(records), starts, _ends(starts, len(keys)))


def without_superseded(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records without those that a later one of the same key makes void, in the order of keys.

    Other records of a key may be between these, so merges are not made in one another.
    """
    order, keys = _order(records)
    starts = starts_of_groups(keys)
    ends = _ends(starts, len(keys))
    ops = operations(records)[order]
    if (ops < RecordOp.MERGE).all():
        return _taken(records, order, ends)
    firsts = np.maximum(_last_where(_is_base(ops), ends), starts)
    is_needed = np.arange(len(keys)) >= np.repeat(firsts, ends - starts + 1)
    return _taken(records, order, np.flatnonzero(is_needed))


def net_copies(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return changes of a table without a key, in the order of rows, without copies that were written and deleted."""
    order, keys = _order(records)
    starts = starts_of_groups(keys)
    if len(starts) == len(keys):
        return _taken(records, order)
    counts = np.diff(np.concatenate([starts, [len(keys)]]))
    is_put = operations(records)[order] == RecordOp.PUT
    net = np.add.reduceat(np.where(is_put, 1, -1), starts)
    # Of each kind as many are left as there are more of it than of the other. Which of them does not matter.
    is_left_over = is_put == np.repeat(net > 0, counts)
    seen = np.cumsum(is_left_over)
    before = (seen - is_left_over)[starts]
    number = seen - np.repeat(before, counts)
    chosen = np.flatnonzero(is_left_over & (number <= np.repeat(np.abs(net), counts)))
    return _taken(records, order, chosen)


def _order(records: pa.RecordBatch) -> tuple[np.ndarray, pa.Array]:
    """Return the indices that put records in the order of keys, then of the log; and the keys in that order."""
    order, keys = np.arange(records.num_rows), records.column(KEY)
    sequences = records.column(SEQ).cast(pa.binary())
    if not is_sorted(sequences):
        by_sequence = sorted_order(sequences)
        order = order if by_sequence is None else by_sequence
        keys = keys.take(pa.array(order))
    by_key = sorted_order(keys)
    return (order, keys) if by_key is None else (order[by_key], keys.take(pa.array(by_key)))


def _with_complete_rows(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records in which merges without an absent column put their row."""
    ops = operations(records)
    is_partial = (ops == RecordOp.MERGE) | (ops == RecordOp.ORPHAN)
    is_complete = is_partial & np.asarray(records.column(ABSENT).is_null()) if is_partial.any() else is_partial
    if not is_complete.any():
        return records
    complete = pa.array(np.where(is_complete, RecordOp.PUT, ops), pa.int8())
    return records.set_column(records.schema.get_field_index(OP), records.schema.field(OP), complete)


def _ends(starts: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the last records of keys."""
    return np.concatenate([starts[1:], [count]]) - 1 if count else starts


def _taken(records: pa.RecordBatch, order: np.ndarray, chosen: np.ndarray | None = None) -> pa.RecordBatch:
    """Return records in another order, all or some of them. It copies them only if something changes."""
    indices = order if chosen is None else order[chosen]
    is_same = len(indices) == records.num_rows and bool((indices == np.arange(len(indices))).all())
    return records if is_same else records.take(pa.array(indices))


def _merged(records: pa.RecordBatch, ops: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> pa.RecordBatch:
    """Return the last record of each key, with what is absent in it taken from those before it."""
    bases = _last_where(_is_base(ops), ends)
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
    is_orphan = (base_ops == RecordOp.DELETE) & (ops[ends] != RecordOp.DELETE)
    results = np.where(is_orphan, RecordOp.ORPHAN, base_ops)
    is_complete = ~missing.any(axis=1) & (results != RecordOp.DELETE)
    results = np.where(is_complete, RecordOp.PUT, results)
    missing[results == RecordOp.DELETE] = False
    arrays[OP] = pa.array(results, pa.int8())
    arrays[ABSENT] = absent_lists(missing)
    return pa.RecordBatch.from_arrays(list(arrays.values()), schema=records.schema)


def _is_base(ops: np.ndarray) -> np.ndarray:
    """Return which records do not depend on those before them. Before an orphan its row was deleted."""
    is_base: np.ndarray = (ops <= RecordOp.PUT) | (ops == RecordOp.ORPHAN)
    return is_base


def _last_where(condition: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the index of the last record up to each end for which a condition is true, -1 if there is none."""
    indices = np.where(condition, np.arange(len(condition)), -1)
    return np.take(np.maximum.accumulate(indices), ends)
