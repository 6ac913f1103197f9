"""Stored rows and changes of the same range of keys, merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from binspark.errors import BinlogError
from binspark.mirror.leaves.key_order import find, starts_of_groups
from binspark.mirror.leaves.leaf_reader import KeyedRows
from binspark.mirror.records.format import KEY, RecordOp, absent_matrix, operations, row_columns
from binspark.mirror.schema.mirrored_table import MirroredTable


class Merged(NamedTuple):
    """The rows after the changes; and the changes that could not be made: they change rows that are not stored."""

    rows: KeyedRows
    incomplete: pa.RecordBatch


def merge(stored: KeyedRows, changes: pa.RecordBatch) -> Merged:
    """Return the stored rows after changes. Both are in the order of keys, and have each key once."""
    keys = changes.column(KEY)
    ops = operations(changes)
    indices, found = find(keys, stored.keys)
    is_written = (ops == RecordOp.PUT) | ((ops == RecordOp.MERGE) & found)
    is_incomplete = ~is_written & (ops != RecordOp.DELETE)
    is_kept = np.ones(len(stored.keys), bool)
    is_kept[indices[found]] = False
    written = np.flatnonzero(is_written)
    order = _interleaved(np.flatnonzero(is_kept), written + len(stored.keys), indices[written])
    columns = [order] * stored.rows.num_columns
    if (ops[written] == RecordOp.MERGE).any():
        columns = _partial_orders(order, changes, ops, indices, len(stored.keys))
    return Merged(
        KeyedRows(_taken(stored.keys, keys, order), _taken_rows(stored.rows, row_columns(changes), columns)),
        changes.filter(pa.array(is_incomplete)),
    )


def merge_copies(stored: KeyedRows, changes: pa.RecordBatch, table: MirroredTable) -> Merged:
    """Return the stored rows of a table without a key after changes: more or less copies of rows.

    All copies of a row that are stored are among these rows, and changes of a row are all writes, or all deletions.
    """
    keys = changes.column(KEY)
    is_put: np.ndarray = operations(changes) == RecordOp.PUT
    starts = starts_of_groups(keys)
    counts = np.diff(np.concatenate([starts, [len(keys)]]))
    indices, found = find(keys.take(pa.array(starts)), stored.keys)
    stored_starts = starts_of_groups(stored.keys)
    stored_counts = np.zeros(len(stored.keys) + 1, np.int64)
    stored_counts[stored_starts] = np.diff(np.concatenate([stored_starts, [len(stored.keys)]]))
    copies = np.where(found, stored_counts[indices], 0)
    is_deletion = ~is_put[starts]
    missing = int(np.maximum(counts - copies, 0)[is_deletion].sum())
    if missing:
        raise BinlogError(
            f"{table.name} has no key, and the log deletes {missing} rows that the mirrored table does not have:"
            " another program has changed it, or its snapshot was not taken at one position; copy it again with"
            f" --resnapshot {table.name}"
        )
    is_kept = np.ones(len(stored.keys), bool)
    deleted_from, deleted = indices[is_deletion], counts[is_deletion]
    is_kept[np.repeat(deleted_from, deleted) + _numbers_in_groups(deleted)] = False
    written = np.flatnonzero(is_put)
    positions = np.repeat(indices, counts)[written]
    order = _interleaved(np.flatnonzero(is_kept), written + len(stored.keys), positions)
    rows = _taken_rows(stored.rows, row_columns(changes), [order] * stored.rows.num_columns)
    return Merged(KeyedRows(_taken(stored.keys, keys, order), rows), changes.slice(0, 0))


def _interleaved(kept: np.ndarray, written: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return indices of kept rows with written ones among them: each before the kept row with an index not less."""
    order = np.empty(len(kept) + len(written), np.int64)
    at = np.searchsorted(kept, positions) + np.arange(len(written))
    is_written = np.zeros(len(order), bool)
    is_written[at] = True
    order[at] = written
    order[~is_written] = kept
    return order


def _partial_orders(
    order: np.ndarray, changes: pa.RecordBatch, ops: np.ndarray, indices: np.ndarray, stored: int
) -> list[np.ndarray]:
    """Return for each column where its values come from: what is absent in a change comes from the stored row."""
    absent = absent_matrix(changes)
    absent[ops != RecordOp.MERGE] = False
    at = np.flatnonzero(order >= stored)
    numbers = order[at] - stored
    orders = []
    for column in range(absent.shape[1]):
        is_absent = absent[numbers, column]
        of_column = order
        if is_absent.any():
            of_column = order.copy()
            of_column[at[is_absent]] = indices[numbers[is_absent]]
        orders.append(of_column)
    return orders


def _numbers_in_groups(counts: np.ndarray) -> np.ndarray:
    """Return 0, 1, 2 … for the members of each group; `counts` has how many there are."""
    ends = np.cumsum(counts)
    numbers: np.ndarray = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    return numbers


def _taken_rows(stored: pa.RecordBatch, changed: pa.RecordBatch, orders: list[np.ndarray]) -> pa.RecordBatch:
    arrays = [
        _taken(one, other, order) for one, other, order in zip(stored.columns, changed.columns, orders, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=stored.schema)


def _taken(stored: pa.Array, changed: pa.Array, order: np.ndarray) -> pa.Array:
    both = changed if not len(stored) else pa.concat_arrays([stored, changed])
    return both.take(pa.array(order))
