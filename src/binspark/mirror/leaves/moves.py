"""Updates that change the key of a row of which the log has only some columns: the others are those at the old key.

The changes of a range are put in the order of the log, and completed in windows of them. A row that moves in a window
has the columns of the row at its old key: as changes of the same window have left it, or those of the windows before
it, or as it is stored. What windows have made of rows is kept by key, in temporary files if it is much, so that memory
is bounded however many rows move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.mirror.leaves.key_order import find, sorted_order, starts_of_groups
from binspark.mirror.leaves.leaf_reader import KeyedRows, joined_rows
from binspark.mirror.leaves.merge import merge
from binspark.mirror.leaves.reduce import last_per_key
from binspark.mirror.leaves.sorter import RecordSorter
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
from binspark.mirror.records.keys import KEY_TYPE

StoredRows = Callable[[Sequence[bytes]], Iterable[KeyedRows]]
"""Returns the rows that are stored with some keys, which are in order."""

Part = TypeVar("Part", KeyedRows, pa.RecordBatch)
_SHARE_OF_A_WINDOW = 8


def has_moves(records: pa.RecordBatch) -> bool:
    """Return whether some of these records need the columns of a row at another key."""
    return bool(records.column(FROM).null_count < records.num_rows)


class MoveResolver:
    """Completes rows whose key was changed: takes all changes of a range, and returns what they come to."""

    def __init__(self, stored: StoredRows, memory_bytes: int) -> None:
        self._stored = stored
        self._max_bytes = max(1, memory_bytes // _SHARE_OF_A_WINDOW)
        self._max_rows: int | None = None
        self._log = RecordSorter(_in_log_order, _in_log_order, memory_bytes, by=SEQ)
        self._made = RecordSorter(last_per_key, last_per_key, memory_bytes)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._log)
        self._stack.enter_context(self._made)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, records: pa.RecordBatch) -> None:
        """Add changes, not reduced, in any order. The two records of a move follow one another, and have one SEQ."""
        self._log.add(records)

    def resolved(self) -> Iterator[pa.RecordBatch]:
        """Yield what all changes come to, reduced; later batches have later changes, which may be of the same keys.

        None of them needs a row at another key. A record whose old row is not known is an ORPHAN.
        """
        self._log.finish()
        for records in self._log.chunks(None, None):
            begin = 0
            while begin < records.num_rows:
                window = _Window(records.slice(begin, self._window_rows(records, begin)))
                known = self._known(window)
                if known is None:
                    self._max_rows = window.rows // 2
                    continue
                made = last_per_key(window.resolved(known))
                self._made.add(made)
                yield made
                begin += window.rows

    def _window_rows(self, records: pa.RecordBatch, begin: int) -> int:
        """Return how many records from one on are completed together. Both records of a move are among them."""
        count = max(1, records.num_rows * self._max_bytes // max(1, records.nbytes))
        end = begin + (count if self._max_rows is None else min(count, self._max_rows))
        moved = records.column(FROM)
        while end < records.num_rows and moved[end].is_valid:
            end += 1
        return int(min(end, records.num_rows)) - begin

    def _known(self, window: _Window) -> KeyedRows | None:
        """Return the rows at the old keys of a window before it, in the order of keys.

        Return None if they are too many for memory, and the window can be divided.
        """
        keys = window.wanted
        left = self._max_bytes if window.moves > 1 else None
        changes = _within_bytes(self._made.with_keys(keys) if len(keys) else (), left)
        if changes is None:
            return None
        records = last_per_key(pa.concat_batches(changes)) if changes else window.records.slice(0, 0)
        is_partial = pc.greater_equal(records.column(OP), int(RecordOp.MERGE))
        complete = records.column(KEY).filter(pc.invert(is_partial))
        others = keys.filter(pc.invert(pc.is_in(keys, complete))).to_pylist()
        rows = _within_bytes(self._stored(others) if others else (), left)
        if rows is None:
            return None
        stored = joined_rows(rows, row_columns(window.records).schema)
        return merge(stored, records).rows if changes else stored


class _Window:
    """Changes that follow one another in the log, and are completed together.

    The state of a row after a change is a node: first those of the rows before the window, then those of its changes,
    and last that of a row that is not known. A change without a column has it from another node, which may have it from
    another, and so on; such chains are followed for all rows at a time, twice as far in each step.
    """

    def __init__(self, records: pa.RecordBatch) -> None:
        self.records = records
        self.rows = records.num_rows
        self._ops = operations(records)
        self._moved = np.flatnonzero(np.asarray(records.column(FROM).is_valid()))
        self.moves = len(self._moved)
        order = sorted_order(records.column(KEY))
        self._order = np.arange(self.rows) if order is None else order
        keys = records.column(KEY).take(pa.array(self._order))
        self._starts = starts_of_groups(keys)
        self._first_keys = keys.take(pa.array(self._starts))

    @property
    def wanted(self) -> pa.Array:
        """The keys, in order, whose rows before the window are needed: rows move from them as they were there."""
        firsts = self._order[self._starts]
        begins = (self._ops[firsts] == RecordOp.PUT) | np.isin(firsts, self._moved)
        is_old = np.asarray(pc.is_in(self._first_keys, self.records.column(FROM).drop_null()))
        return self._first_keys.filter(pa.array(is_old & ~begins))

    def resolved(self, known: KeyedRows) -> pa.RecordBatch:
        """Return the changes with the columns of all rows that moved and are known."""
        if not self.moves:
            return self.records
        count = len(known.keys)
        own, unknown = np.arange(self.rows) + count, count + self.rows
        parents = self._parents(known.keys)
        is_partial = self._ops == RecordOp.MERGE
        ends = np.where(is_partial, parents, np.where(self._ops == RecordOp.PUT, own, unknown))
        is_found = _followed(ends, count)[self._moved] != unknown
        found = self._moved[is_found]
        absent = absent_matrix(self.records)
        arrays = {name: self.records.column(name) for name in self.records.schema.names}
        for column, name in enumerate(self.records.schema.names[len(RECORD_FIELDS) :]):
            if absent[found, column].any():
                sources = own.copy()
                sources[found] = _followed(np.where(is_partial & absent[:, column], parents, own), count)[found]
                arrays[name] = pa.concat_arrays([known.rows.column(name), arrays[name]]).take(pa.array(sources))
        absent[found] = False
        ops = self._ops.copy()
        ops[self._moved] = np.where(is_found, RecordOp.PUT, RecordOp.ORPHAN)
        arrays |= {OP: pa.array(ops), ABSENT: absent_lists(absent), FROM: pa.nulls(self.rows, KEY_TYPE)}
        return pa.RecordBatch.from_arrays(list(arrays.values()), schema=self.records.schema)

    def _parents(self, known: pa.Array) -> np.ndarray:
        """Return the node that each change has other columns from: that before it, or, if it moves, at the old key."""
        before = np.empty(self.rows, np.int64)
        before[self._order[1:]] = self._order[:-1] + len(known)
        at, is_known = find(self._first_keys, known)
        before[self._order[self._starts]] = np.where(is_known, at, len(known) + self.rows)
        before[self._moved] = before[self._moved - 1]  # the change before a move deletes its old key
        return before


def _followed(nodes: np.ndarray, count: int) -> np.ndarray:
    """Return the last node of the chain that begins with each change; `nodes` has the next, or the change itself.

    The first `count` nodes, and that after all changes, are the ends of chains.
    """
    chain = np.concatenate([np.arange(count), nodes, [count + len(nodes)]])
    while not np.array_equal(further := chain[chain], chain):
        chain = further
    changes: np.ndarray = chain[count:-1]
    return changes


def _in_log_order(records: pa.RecordBatch) -> pa.RecordBatch:
    order = sorted_order(records.column(SEQ).cast(pa.binary()))
    return records if order is None else records.take(pa.array(order))


def _within_bytes(parts: Iterable[Part], max_bytes: int | None) -> list[Part] | None:
    """Return parts as a list; None if they are more bytes than a maximum."""
    found: list[Part] = []
    size = 0
    for part in parts:
        found.append(part)
        size += part.nbytes
        if max_bytes is not None and size > max_bytes:
            return None
    return found
