"""Versions of rows in leaves: a new version ends the one before.

New versions come as records at the key of the version that is valid, followed by their SEQ: so they are after it in the
order of keys, in the order of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.leaves.leaf_reader import KeyedRows
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.plan import RangeTask
from binspark.mirror.leaves.rewrite import Rewritten, rewrite
from binspark.mirror.records.format import OP, RecordOp, row_columns
from binspark.mirror.records.keys import key_bytes, row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import IS_CURRENT, OPEN, SEQ, UNTIL, VALID_FROM, VALID_TO, current_table


@dataclass(frozen=True, slots=True)
class Ending:
    """A moment at which versions end: when, and the SEQ of the change that ended them."""

    time: datetime
    seq: str


def rewrite_versions(
    task: RangeTask,
    directory: TableDirectory,
    table: MirroredTable,
    changes: Iterable[pa.RecordBatch],
    limits: LeafLimits,
) -> Rewritten:
    """Rewrite the versions of a task with new ones: batches of change records, in any order."""
    closer = VersionCloser(table)
    return rewrite(task, directory, table, closer.without_endings(changes), limits, closer.closed)


class VersionCloser:
    """Ends versions that others follow. It takes versions in the order of keys, and returns them in that order.

    replaces   the new versions are all rows that the table has: the others end then, and those that are the same go on
    """

    def __init__(self, versions: MirroredTable, replaces: Ending | None = None) -> None:
        self._versions = versions
        self._current = current_table(versions)
        self._compared = self._current.schema.names
        self._replaces = replaces
        self._ending = replaces

    def without_endings(self, changes: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield changes without the records that end all versions, which are kept for `closed`."""
        for records in changes:
            is_ending = pc.equal(records.column(OP), int(RecordOp.END))
            if not pc.any(is_ending).as_py():
                yield records
                continue
            for row in row_columns(records.filter(is_ending)).select([VALID_FROM, SEQ]).to_pylist():
                if self._ending is None or self._ending.seq < row[SEQ]:
                    self._ending = Ending(row[VALID_FROM], row[SEQ])
            yield records.filter(pc.invert(is_ending))

    def closed(self, merged: Iterable[KeyedRows]) -> Iterator[KeyedRows]:
        """Yield versions with the time at which they ended. The last is held back until it is known what follows."""
        held: KeyedRows | None = None
        for part in merged:
            if not len(part.keys):
                continue
            rows = self._in_order(part if held is None else _joined(held, part))
            count = self._first_held(rows)
            held = rows.slice(count, len(rows.keys)) if count < len(rows.keys) else None
            if count:
                yield self._ended(rows, count)
        if held is not None:
            yield self._ended(held, len(held.keys))

    def _in_order(self, part: KeyedRows) -> KeyedRows:
        """Return versions none of which begins before the one that it ends, or before the end of the one before.

        A row that was copied counts from then on, and the log may have changes of it from before.
        """
        rows = part.rows
        times = found = rows.column(VALID_FROM)
        if self._replaces is not None:
            ended = _shifted(rows.column(VALID_TO))
            is_early = _same_as_before(row_keys(self._current, rows)) & _flags(
                pc.fill_null(pc.less(times, ended), False)
            )
            if is_early.any():
                times = pc.if_else(pa.array(is_early), ended, times)
        follows = _same_as_before(row_keys(self._versions, rows))
        follows &= _flags(pc.equal(rows.column(UNTIL), OPEN))
        while (is_early := follows & _before_last(times)).any():
            times = pc.if_else(pa.array(is_early), _shifted(times), times)
        if times is found:
            return part
        return KeyedRows(part.keys, rows.set_column(rows.schema.get_field_index(VALID_FROM), VALID_FROM, times))

    def _first_held(self, rows: KeyedRows) -> int:
        """Return the index from which on versions are held back; where they are compared, two with the same key."""
        count = len(rows.keys)
        if rows.rows.column(UNTIL)[count - 1].as_py() != OPEN:
            return count
        if self._replaces is not None and count > 1:
            before, last = row_keys(self._versions, rows.rows.slice(count - 2)).to_pylist()
            return count - 2 if before == last else count - 1
        return count - 1

    def _ended(self, part: KeyedRows, count: int) -> KeyedRows:
        """Return the first of some versions, as those after them have ended them."""
        rows = part.rows
        keys = row_keys(self._versions, rows)
        is_open = _flags(pc.equal(rows.column(UNTIL), OPEN))
        is_new = is_open & _flags(pc.not_equal(keys, part.keys))
        is_kept = _flags(rows.column(IS_CURRENT).is_valid())
        is_followed = _before(is_open & _same_as_before(keys)) & is_open
        goes_on = np.zeros(len(keys), bool)
        if self._replaces is not None:
            values = key_bytes([rows.column(name) for name in self._compared], nullable=True)
            repeats = is_new & _same_as_before(keys) & _same_as_before(values)
            goes_on = _before(repeats)
            is_kept &= ~repeats
            is_followed &= ~goes_on
        ends = [
            _after(rows.column(VALID_FROM)),
            _after(rows.column(SEQ)),
        ]
        if self._ending is not None:
            is_last = is_open & ~is_followed & ~goes_on
            if self._replaces is not None:
                is_last &= ~is_new
            begins = rows.column(VALID_FROM)  # the time of an ending is in full seconds, or that of another clock
            time = pa.scalar(self._ending.time, begins.type)
            times = pc.if_else(pc.less(begins, time), time, begins)
            ends = [
                pc.if_else(pa.array(is_last), other, end)
                for other, end in zip((times, pa.scalar(self._ending.seq)), ends, strict=True)
            ]
            is_followed |= is_last
        changed = {
            VALID_TO: ends[0],
            IS_CURRENT: pa.scalar(False),
            UNTIL: ends[1],
        }
        mask = pa.array(is_followed)
        arrays = [
            pc.if_else(mask, changed[field.name], array).cast(field.type) if field.name in changed else array
            for field, array in zip(rows.schema, rows.columns, strict=True)
        ]
        found = pa.RecordBatch.from_arrays(arrays, schema=rows.schema).slice(0, count)
        found = found.filter(pa.array(is_kept[:count]))
        return KeyedRows(row_keys(self._versions, found), found)


def _flags(array: pa.Array) -> np.ndarray:
    flags: np.ndarray = array.to_numpy(zero_copy_only=False)
    return flags


def _same_as_before(values: pa.Array) -> np.ndarray:
    """Return which values are equal to those before them."""
    same = np.zeros(len(values), bool)
    if len(values) > 1:
        same[1:] = _flags(pc.equal(values.slice(1), values.slice(0, len(values) - 1)))
    return same


def _shifted(array: pa.Array) -> pa.Array:
    """Return the values of the rows before each."""
    return pa.concat_arrays([pa.nulls(1, array.type), array.slice(0, len(array) - 1)])


def _before_last(times: pa.Array) -> np.ndarray:
    """Return which times are before those of the rows before them."""
    return _flags(pc.fill_null(pc.less(times, _shifted(times)), False))


def _before(flags: np.ndarray) -> np.ndarray:
    """Return the flags of the rows after each."""
    return np.append(flags[1:], False)


def _after(array: pa.Array) -> pa.Array:
    """Return the values of the rows after each."""
    return pa.concat_arrays([array.slice(1), pa.nulls(1, array.type)])


def _joined(one: KeyedRows, other: KeyedRows) -> KeyedRows:
    return KeyedRows(pa.concat_arrays([one.keys, other.keys]), pa.concat_batches([one.rows, other.rows]))
