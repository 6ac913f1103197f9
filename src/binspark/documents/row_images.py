"""The rows of a batch as documents: each before and after its change, and its primary key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.batches import TableBatch
from binspark.columns.metadata_fields import METADATA_FIELDS
from binspark.documents.row_objects import PresentColumns, Valid
from binspark.kernels.layout import Operation
from binspark.schema.table import TableSchema
from binspark.values.column import Column

_OP = [field.name for field in METADATA_FIELDS].index("_op")


class RowWriter(Protocol):
    """Writes rows as documents: `json_rows` or `variant_rows`."""

    def __call__(
        self,
        columns: Sequence[Column],
        arrays: Sequence[pa.Array],
        *,
        valid: Valid = None,
        present: PresentColumns | None = None,
    ) -> pa.Array:
        """Return a document for each row; NULL where `valid` is false."""
        ...


class RowImages:
    """The row images of a batch as documents.

    The batch must have its metadata and all columns; for `before` and `keys` also the before images of updates, and for
    documents without the columns that are not in an image the `images` of the selection.
    """

    def __init__(self, found: TableBatch, write: RowWriter) -> None:
        self._table = found.table
        self._batch = found.batch
        self._images = None if found.images is None or found.images.complete else found.images
        self._write = write

    @cached_property
    def operations(self) -> npt.NDArray[np.int32]:
        """The operation of each row."""
        operations: npt.NDArray[np.int32] = self._batch.column(_OP).indices.to_numpy()
        return operations

    def before(self) -> pa.Array:
        """Return the rows before the change; NULL for inserts."""
        valid = self.operations != Operation.INSERT
        return self._write(self._table.columns, self._old, valid=valid, present=self._present(after=False))

    def after(self) -> pa.Array:
        """Return the rows after the change; NULL for deletes."""
        valid = self.operations != Operation.DELETE
        return self._write(self._table.columns, self._new, valid=valid, present=self._present(after=True))

    def keys(self) -> pa.Array:
        """Return the primary keys, from before the change where there was a row.

        NULL where the table has no primary key, and where a part of it is not in the image.
        """
        key = self._table.primary_key
        if not key:
            no_row = np.zeros(len(self.operations), dtype=np.bool_)
            return self._write(self._table.columns[:1], self._new[:1], valid=no_row)
        inserts = pa.array(self.operations == Operation.INSERT)
        arrays = [_chosen(inserts, self._new[index], self._old[index]) for index in key]
        present, valid = self._present(after=False), None
        if present is not None:
            valid = np.logical_and.reduce(present.columns[present.images][:, list(key)], axis=1)
        return self._write([_named(self._table, index) for index in key], arrays, valid=valid)

    @cached_property
    def _new(self) -> list[pa.Array]:
        """The columns of rows after the change, and of deleted rows."""
        first = len(METADATA_FIELDS)
        return [self._batch.column(first + index) for index in range(len(self._table.columns))]

    @cached_property
    def _old(self) -> list[pa.Array]:
        """The columns of rows before the change; those of inserts mean nothing."""
        updates = self.operations == Operation.UPDATE
        if not updates.any():
            return self._new
        before = self._batch.column(self._batch.num_columns - 1).flatten()
        if not (self.operations == Operation.DELETE).any():
            return list(before)
        chosen = pa.array(updates)
        return [pc.if_else(chosen, old, new) for old, new in zip(before, self._new, strict=True)]

    def _present(self, *, after: bool) -> PresentColumns | None:
        images = self._images
        return None if images is None else PresentColumns(images.numbers, images.after if after else images.before)


def _chosen(which: pa.Array, first: pa.Array, second: pa.Array) -> pa.Array:
    return first if first is second else pc.if_else(which, first, second)


def _named(table: TableSchema, index: int) -> Column:
    column = table.columns[index]
    return column if column.name is not None else replace(column, name=table.column_names[index])
