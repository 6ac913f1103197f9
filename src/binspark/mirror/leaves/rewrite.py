"""Leaves rewritten with changes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from binspark.mirror.files.access import remove
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves.key_order import first_not_less, is_rising, is_sorted
from binspark.mirror.leaves.leaf_reader import KeyedRows, LeafReader
from binspark.mirror.leaves.leaf_writer import LeafWriter
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.merge import Merged, merge, merge_copies
from binspark.mirror.leaves.plan import RangeTask
from binspark.mirror.leaves.reduce import last_per_key, net_copies, without_superseded
from binspark.mirror.leaves.sorter import RecordSorter
from binspark.mirror.records.format import KEY, RecordOp, complete_records, record_schema
from binspark.mirror.records.keys import row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable

_BEFORE_ALL = ""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What became of a task.

    added, removed   data files
    incomplete       the keys of rows of which only some columns are known: the log changed rows that are not stored;
                     the columns of the key, None if there are no such rows
    changes          files of changes, where the target merges them into its rows by itself
    """

    added: tuple[DataFile, ...]
    removed: tuple[DataFile, ...]
    incomplete: pa.RecordBatch | None = None
    changes: tuple[DataFile, ...] = ()


def rewrite(
    task: RangeTask,
    directory: TableDirectory,
    table: MirroredTable,
    changes: Iterable[pa.RecordBatch],
    limits: LeafLimits,
    finish: Callable[[Iterable[KeyedRows]], Iterable[KeyedRows]] = iter,
) -> Rewritten:
    """Rewrite the rows of a task with changes: batches of change records, in any order.

    `finish` gets the rows with the changes, in the order of keys, and returns those that are written.
    """
    reader = LeafReader(directory, table)
    leaves, others = _divided(task.files, is_counted=not table.key)
    incomplete: list[pa.RecordBatch] = []
    with _sorter(table, limits) as sorter:
        for batch in changes:
            sorter.add(batch)
        new_rows = sorter.records
        for file in others:
            for rows in reader.within(file, task.low, task.high):
                sorter.add(_stored_records(rows))
        sorter.finish()
        with LeafWriter(directory, table, limits, _goal_bytes(task, new_rows, limits)) as writer:
            stored = _stored(leaves, reader, task, table)
            for rows in finish(_complete(_merged(stored, sorter, task, table), table, incomplete)):
                writer.write(rows)
            added = writer.finish()
    return Rewritten(added, task.files, pa.concat_batches(incomplete) if incomplete else None)


def _complete(merged: Iterable[Merged], table: MirroredTable, incomplete: list[pa.RecordBatch]) -> Iterator[KeyedRows]:
    """Yield the rows after changes; the keys of changes that could not be made are added to a list."""
    for part in merged:
        if part.incomplete.num_rows:
            incomplete.append(part.incomplete.select(list(table.key)))
        yield part.rows


def write_leaves(
    rows: Iterable[pa.RecordBatch], directory: TableDirectory, table: MirroredTable, limits: LeafLimits
) -> list[DataFile]:
    """Write rows, in any order, as leaves. Of rows with the same key the last is written.

    Rows in the order of keys are written as they come, all others are sorted and merged with them.
    """
    keyed = (KeyedRows(row_keys(table, batch), batch) for batch in rows if batch.num_rows)
    with LeafWriter(directory, table, limits) as writer:
        last: bytes | None = None
        for part in keyed:
            if not _follows(part.keys, last, is_counted=not table.key):
                others = (_stored_records(other) for other in chain([part], keyed))
                return _with_others(writer.finish(), others, directory, table, limits)
            writer.write(part)
            last = part.keys[-1].as_py()
        return list(writer.finish())


def _follows(keys: pa.Array, last: bytes | None, *, is_counted: bool) -> bool:
    """Return whether keys are in order, and after a last key; copies of a row have the same."""
    if is_counted:
        return is_sorted(keys) and (last is None or keys[0].as_py() >= last)
    return is_rising(keys) and (last is None or keys[0].as_py() > last)


def _with_others(
    written: tuple[DataFile, ...],
    others: Iterable[pa.RecordBatch],
    directory: TableDirectory,
    table: MirroredTable,
    limits: LeafLimits,
) -> list[DataFile]:
    """Return leaves with the rows of those that are written, which are removed, and others."""
    merged = rewrite(RangeTask(0, None, None, written), directory, table, others, limits)
    for file in written:
        remove(directory, file.path)
    return list(merged.added)


def _sorter(table: MirroredTable, limits: LeafLimits) -> RecordSorter:
    if not table.key:
        return RecordSorter(net_copies, net_copies, limits.memory_bytes)
    return RecordSorter(without_superseded, last_per_key, limits.memory_bytes)


def _divided(files: Sequence[DataFile], *, is_counted: bool) -> tuple[list[DataFile], list[DataFile]]:
    """Return leaves whose ranges follow one another, and files whose rows have to be sorted."""
    leaves: list[DataFile] = []
    others: list[DataFile] = []
    for file in sorted(files, key=lambda file: (file.low or b"", file.high or b"")):
        last = leaves[-1].high if leaves else None
        follows = last is None or file.low is None or file.low > last or (is_counted and file.low == last)
        (leaves if file.row_groups and follows else others).append(file)
    return leaves, others


def _goal_bytes(task: RangeTask, new_rows: int, limits: LeafLimits) -> int:
    """Return the size of new leaves: so that all have about the same, and are not divided for a few bytes too much.

    At the end of the table leaves are filled up: new rows usually come there, into a small leaf.
    """
    if task.high is None:
        return limits.leaf_bytes
    size, rows = sum(file.size for file in task.files), sum(file.rows for file in task.files)
    expected = size + new_rows * size // max(1, rows)
    if expected <= limits.leaf_bytes * 3 // 2:
        return limits.leaf_bytes * 3 // 2
    return expected // -(-expected // limits.leaf_bytes) + 1


def _stored(
    leaves: Iterable[DataFile], reader: LeafReader, task: RangeTask, table: MirroredTable
) -> Iterator[KeyedRows]:
    """Yield the stored rows of a range in the order of keys. All copies of a row are in one batch."""
    groups = (rows for file in leaves for rows in reader.row_groups(file, task.low, task.high))
    if table.key:
        yield from groups
        return
    held: KeyedRows | None = None
    for group in groups:
        rows = group if held is None else _joined(held, group)
        cut = first_not_less(rows.keys, rows.keys[-1].as_py())
        held = rows.slice(cut, len(rows.keys))
        if cut:
            yield rows.slice(0, cut)
    if held is not None:
        yield held


def _merged(
    stored: Iterable[KeyedRows], sorter: RecordSorter, task: RangeTask, table: MirroredTable
) -> Iterator[Merged]:
    """Yield the stored rows with the changes, in the order of keys."""
    low = task.low
    nothing = KeyedRows(pa.array([], pa.binary()), _empty(table.schema))
    for rows in stored:
        # Changes up to the last of these rows. Those of keys after it may belong to the next ones.
        after_last = rows.keys[-1].as_py() + b"\x00"
        yield from _merged_rows(rows, sorter.chunks(low, after_last), table)
        low = after_last
    yield from _merged_rows(nothing, sorter.chunks(low, task.high), table)


def _merged_rows(stored: KeyedRows, changes: Iterable[pa.RecordBatch], table: MirroredTable) -> Iterator[Merged]:
    begin, count = 0, len(stored.keys)
    for records in changes:
        end = first_not_less(stored.keys, records.column(KEY)[-1].as_py() + b"\x00")
        part = stored.slice(begin, max(begin, end))
        yield merge(part, records) if table.key else merge_copies(part, records, table)
        begin = max(begin, end)
    if begin < count:
        yield Merged(stored.slice(begin, count), _empty(record_schema(table.schema)))


def _stored_records(rows: KeyedRows) -> pa.RecordBatch:
    """Return stored rows as records before all changes."""
    return complete_records(rows.keys, _BEFORE_ALL, RecordOp.PUT, rows.rows)


def _joined(one: KeyedRows, other: KeyedRows) -> KeyedRows:
    return KeyedRows(pa.concat_arrays([one.keys, other.keys]), pa.concat_batches([one.rows, other.rows]))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema)
