"""The view `changes`: the rows of every table, each as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.reader import TableBatch
from binspark.columns.selection import Selection
from binspark.columns.types import ZeroDates
from binspark.documents.row_objects import RowImages, json_rows, variant_rows
from binspark.schema.table import TableSchema
from binspark.spark.options import RowsAs, SourceOptions
from binspark.spark.views.base import LogReader, batch_readers

_INSERT, _UPDATE, _DELETE = 0, 1, 2
_MOST_ROWS = 1 << 14  # every VARIANT brings the names of its columns along
_IMAGES = ("_key", "_before", "_after")
_Arrays = list[pa.Array]
_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ChangesView:
    """Makes one value of each row, and of its key. Only what the target asks for is decoded."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the changes of a split."""
        for found in reader.batches(part, batch_readers(self.selection, self.options)):
            yield self._batch(found)

    @property
    def selection(self) -> Selection:
        """What must be decoded for the columns that are asked for."""
        chosen = self.options.selection
        wanted = [name for name in _IMAGES if name in self.target.names]
        policies = chosen.options
        if self.options.rows is RowsAs.JSON:
            policies = replace(policies, zero_dates=ZeroDates.STRING)
        return replace(
            chosen,
            columns=None if wanted else (),
            before="_before" in wanted or "_key" in wanted,
            images=bool(wanted),
            max_rows=min(chosen.max_rows, _MOST_ROWS),
            options=policies,
        )

    def _batch(self, found: TableBatch) -> pa.RecordBatch:
        rows = _Rows(found, json_rows if self.options.rows is RowsAs.JSON else variant_rows)
        return pa.RecordBatch.from_arrays([rows.column(field.name) for field in self.target], schema=self.target)


class _Rows:
    """The rows of a batch, before and after the change."""

    def __init__(self, found: TableBatch, write: Callable[..., pa.Array]) -> None:
        self._found = found
        self._write = write
        self._count = found.batch.num_rows
        self._operations = found.batch.column("_op").indices.to_numpy()

    def column(self, name: str) -> pa.Array:
        table = self._found.table
        match name:
            case "_schema":
                return pa.repeat(table.schema, self._count)
            case "_table":
                return pa.repeat(table.table, self._count)
            case "_after":
                return self._objects(self._new, self._operations != _DELETE, after=True)
            case "_before":
                return self._objects(self._old, self._operations != _INSERT, after=False)
            case "_key":
                return self._keys()
        array = self._found.batch.column(name)
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array

    @property
    def _new(self) -> _Arrays:
        """The columns of new rows, and of deleted ones."""
        first = self._found.batch.schema.get_field_index(self._found.table.column_names[0])
        return [self._found.batch.column(first + index) for index in range(len(self._found.table.columns))]

    @property
    def _old(self) -> _Arrays:
        """The columns of rows before the change; those of inserts mean nothing."""
        updates = self._operations == _UPDATE
        if not updates.any():
            return self._new
        before = self._found.batch.column("_before").flatten()
        if not (self._operations == _DELETE).any():
            return list(before)
        chosen = pa.array(updates)
        return [pc.if_else(chosen, old, new) for old, new in zip(before, self._new, strict=True)]

    def _objects(self, arrays: _Arrays, valid: _Flags, *, after: bool) -> pa.Array:
        images = self._images(after=after)
        return self._write(self._found.table.columns, arrays, valid=valid, images=images)

    def _images(self, *, after: bool) -> RowImages | None:
        images = self._found.images
        if images is None or images.complete:
            return None
        return RowImages(images.numbers, images.after if after else images.before)

    def _keys(self) -> pa.Array:
        """The primary keys, from before the change where there was a row. NULL where an image leaves part of it out."""
        table, images = self._found.table, self._images(after=False)
        key = table.primary_key
        if not key:
            return self._write(table.columns[:1], self._new[:1], valid=np.zeros(self._count, dtype=np.bool_))
        old, new = self._old, self._new
        inserts = pa.array(self._operations == _INSERT)
        arrays = [_chosen(inserts, new[index], old[index]) for index in key]
        valid: _Flags | None = None
        if images is not None:
            valid = np.logical_and.reduce(images.present[images.numbers][:, list(key)], axis=1)
        return self._write([_named(table, index) for index in key], arrays, valid=valid)


def _chosen(which: pa.Array, first: pa.Array, second: pa.Array) -> pa.Array:
    return first if first is second else pc.if_else(which, first, second)


def _named(table: TableSchema, index: int) -> object:
    column = table.columns[index]
    return column if column.name is not None else replace(column, name=table.column_names[index])
