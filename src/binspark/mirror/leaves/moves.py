"""Updates that change the key of a row of which the log has only some columns: the others are those at the old key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from binspark.mirror.leaves.key_order import sorted_order
from binspark.mirror.leaves.leaf_reader import KeyedRows
from binspark.mirror.records.format import (
    ABSENT,
    FROM,
    KEY,
    OP,
    RECORD_FIELDS,
    SEQ,
    RecordOp,
    absent_lists,
    absent_matrix,
    operations,
    row_columns,
)

StoredRows = Callable[[Sequence[bytes]], KeyedRows]
"""Returns the rows that are stored with some keys."""


def has_moves(records: pa.RecordBatch) -> bool:
    """Return whether some of these records need the columns of a row at another key."""
    return bool(records.column(FROM).null_count < records.num_rows)


def resolve_moves(records: pa.RecordBatch, stored: StoredRows) -> pa.RecordBatch:
    """Return records with the columns of all rows whose key was changed, in the order of the log.

    The records are all changes of a range of the log, not reduced: the row at the old key may have been changed before.
    A record whose old row is not known is an ORPHAN then.
    """
    if not has_moves(records):
        return records
    order = sorted_order(records.column(SEQ).cast(pa.binary()))
    if order is not None:
        records = records.take(pa.array(order))
    old_keys = [key for key in records.column(FROM).to_pylist() if key is not None]
    known = stored(sorted(set(old_keys)))
    rows = _Rows(records, known, set(old_keys))
    ops, absent = operations(records).copy(), absent_matrix(records)
    sources = {name: np.arange(records.num_rows) + len(known.keys) for name in row_columns(records).schema.names}
    for number, is_found, found in rows.moved():
        ops[number] = RecordOp.PUT if is_found else RecordOp.ORPHAN
        absent[number] &= not is_found
        for column, source in zip(sources.values(), found, strict=True):
            column[number] = source
    return _resolved(records, known.rows, sources, ops, absent)


class _Rows:
    """Where the values of rows are while changes are replayed: an index of stored rows and records for each column."""

    def __init__(self, records: pa.RecordBatch, known: KeyedRows, old_keys: set[bytes]) -> None:
        self._columns = records.num_columns - len(RECORD_FIELDS)
        self._stored = len(known.keys)
        self._absent = absent_matrix(records)
        self._ops = operations(records)
        self._keys = records.column(KEY)
        self._from = records.column(FROM)
        self._old_keys = old_keys
        self._rows: dict[bytes, np.ndarray] = {
            key: np.full(self._columns, number) for number, key in enumerate(known.keys.to_pylist())
        }
        self._deleted: dict[bytes, np.ndarray | None] = {}

    def moved(self) -> list[tuple[int, bool, np.ndarray]]:
        """Return for each record with an old key its number, whether its row is known, and where its values are."""
        found: list[tuple[int, bool, np.ndarray]] = []
        for number, (key, old) in enumerate(zip(self._keys.to_pylist(), self._from.to_pylist(), strict=True)):
            if old is None:
                if key in self._old_keys:
                    self._replay(number, key)
                continue
            row = self._deleted.get(old)
            known = self._own(number) if row is None else self._merged(row, number)
            found.append((number, row is not None, known))
            if row is not None and key in self._old_keys:
                self._rows[key] = known
        return found

    def _replay(self, number: int, key: bytes) -> None:
        op, row = self._ops[number], self._rows.get(key)
        if op == RecordOp.DELETE:
            self._deleted[key] = self._rows.pop(key, None)
        elif op == RecordOp.PUT:
            self._rows[key] = self._own(number)
        elif row is not None:
            self._rows[key] = self._merged(row, number)

    def _own(self, number: int) -> np.ndarray:
        return np.full(self._columns, self._stored + number)

    def _merged(self, row: np.ndarray, number: int) -> np.ndarray:
        return np.where(self._absent[number], row, self._stored + number)


def _resolved(
    records: pa.RecordBatch,
    known: pa.RecordBatch,
    sources: dict[str, np.ndarray],
    ops: np.ndarray,
    absent: np.ndarray,
) -> pa.RecordBatch:
    arrays = {field.name: records.column(field.name) for field in RECORD_FIELDS}
    arrays[OP] = pa.array(ops, pa.int8())
    arrays[ABSENT] = absent_lists(absent)
    arrays[FROM] = pa.nulls(records.num_rows, arrays[FROM].type)
    for name, indices in sources.items():
        arrays[name] = pa.concat_arrays([known.column(name), records.column(name)]).take(pa.array(indices))
    return pa.RecordBatch.from_arrays(list(arrays.values()), schema=records.schema)
