"""Changes out of batches: the same values as those of `changes.reader`, made column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.changes.change import Change
from binspark.changes.column_values import values_of
from binspark.columns.arrow import word_numbers
from binspark.columns.batches import TableBatch
from binspark.columns.image_table import Flags
from binspark.columns.metadata import Metadata
from binspark.event.rows import RowOperation
from binspark.event.rows_query import shown_statement
from binspark.values.value import ABSENT, PartialRow, Row

_ROWS_AT_A_TIME = 1024
_NO_THREAD = 0xFFFFFFFF


def changes_of(batches: Sequence[TableBatch], file: str) -> Iterator[Change]:
    """Yield the changes of the batches of a window, in the order of the log."""
    found = [item for item in batches if item.batch.num_rows]
    parts = [_changes(item, file) for item in found]
    positions, rows = ([_numbers(item, name) for item in found] for name in (Metadata.LOG_POS, Metadata.LOG_ROW))
    ends = [((at[0], row[0]), (at[-1], row[-1])) for at, row in zip(positions, rows, strict=True)]
    if all(last < first for (_, last), (first, _) in pairwise(ends)):
        return chain.from_iterable(parts)
    part_of_row = np.repeat(np.arange(len(parts)), [len(numbers) for numbers in rows])
    order = part_of_row[np.lexsort((np.concatenate(rows), np.concatenate(positions)))]
    return map(next, map(parts.__getitem__, order.tolist()))


def _numbers(item: TableBatch, name: Metadata) -> npt.NDArray[Any]:
    numbers: npt.NDArray[Any] = item.origin(name).to_numpy()
    return numbers


def _changes(item: TableBatch, file: str) -> Iterator[Change]:
    """Yield the changes of a batch. Values are converted when they are needed, some rows at a time."""
    assert item.origins is not None
    origins = item.origins
    if item.images is not None and item.images.complete:
        item = replace(item, images=None)
    statements = [*map(shown_statement, origins.texts), None]
    words = [RowOperation(word) for word in item.origin(Metadata.OP).dictionary.to_pylist()]
    gtids = [*item.origin(Metadata.GTID).dictionary.to_pylist(), None]
    for start in range(0, item.batch.num_rows, _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        part = replace(item, batch=item.batch.slice(start, _ROWS_AT_A_TIME))
        operations = list(map(words.__getitem__, word_numbers(part.origin(Metadata.OP)).tolist()))
        yield from map(
            tuple.__new__,
            repeat(Change),
            zip(
                repeat(file),
                _numbers(part, Metadata.LOG_POS).tolist(),
                _numbers(part, Metadata.LOG_ROW).tolist(),
                map(gtids.__getitem__, word_numbers(part.origin(Metadata.GTID)).tolist()),
                origins.times[rows].tolist(),
                _numbers(part, Metadata.SERVER_ID).tolist(),
                [None if thread == _NO_THREAD else thread for thread in origins.threads[rows].tolist()],
                map(statements.__getitem__, origins.statements[rows].tolist()) if origins.texts else repeat(None),
                operations,
                repeat(item.table),
                *_images(part, start, operations),
            ),
        )


def _images(
    item: TableBatch, start: int, operations: Sequence[RowOperation]
) -> tuple[Iterable[Row | None], Iterable[Row | None]]:
    """Return the old and the new rows of consecutive changes, which a part of a batch has from `start` on."""
    kinds = set(operations)
    if kinds == {RowOperation.TRUNCATE}:
        return repeat(None), repeat(None)
    present = _Present(item, slice(start, start + len(operations)))
    columns = _columns(item, item.values)
    for (row, index), diffs in item.diffs.items():
        if start <= row < start + len(operations):
            columns[index][row - start] = diffs
    # What a delete has is its old row, though it is in the columns of new ones.
    new = present.rows(columns, before=False)
    if kinds == {RowOperation.INSERT}:
        return repeat(None), new
    if kinds == {RowOperation.DELETE}:
        return new, repeat(None)
    old = new
    if RowOperation.UPDATE in kinds:
        old = present.rows(_columns(item, item.before.flatten()), before=True)
    if kinds == {RowOperation.UPDATE}:
        return old, new
    return _mixed(operations, old, new)


def _columns(item: TableBatch, arrays: Iterable[pa.Array]) -> list[list[Any]]:
    return [values_of(array, column) for array, column in zip(arrays, item.table.columns, strict=True)]


def _mixed(
    operations: Sequence[RowOperation], old: Iterable[Row], new: Iterable[Row]
) -> tuple[list[Row | None], list[Row | None]]:
    before: list[Row | None] = []
    after: list[Row | None] = []
    for kind, was, now in zip(operations, old, new, strict=True):
        before.append(was if kind is RowOperation.UPDATE else now if kind is RowOperation.DELETE else None)
        after.append(now if kind in _WITH_NEW_ROW else None)
    return before, after


_WITH_NEW_ROW = (RowOperation.INSERT, RowOperation.UPDATE)


class _Present:
    """Which columns are in the images of some rows of a batch, and the rows without the others."""

    def __init__(self, item: TableBatch, rows: slice) -> None:
        images = item.images
        self._before: Flags | None = None
        self._after: Flags | None = None
        if images is not None:
            numbers = images.numbers[rows]
            self._before, self._after = images.before[numbers], images.after[numbers]

    def rows(self, columns: list[list[Any]], *, before: bool) -> list[Row]:
        """Return the rows that columns have, ABSENT where a column is not in the image of the row."""
        present = self._before if before else self._after
        if present is None or present.all():
            return list(zip(*columns, strict=True))
        for index, values in enumerate(columns):
            for row in np.flatnonzero(~present[:, index]).tolist():
                values[row] = ABSENT
        rows = zip(*columns, strict=True)
        complete: list[bool] = np.all(present, axis=1).tolist()
        return [row if is_complete else PartialRow(row) for row, is_complete in zip(rows, complete, strict=True)]
