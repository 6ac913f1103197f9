"""The rows of a batch as documents: each before and after its change, and its primary key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.documents.row_objects import PresentColumns, Valid
from binspark.event.column_types import ColumnType
from binspark.kernels.layout import Operation
from binspark.schema.table import TableSchema
from binspark.values.column import Column


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


_ANY_COLUMN = (Column(ColumnType.TINY, name="any"),)
_WITH_BEFORE = (Operation.UPDATE, Operation.DELETE)
_WITH_AFTER = (Operation.INSERT, Operation.UPDATE)


class RowImages:
    """The row images of a batch as documents.

    The batch must have all columns, and of its metadata OP; for `before` also before images, for `keys` the keys, and
    for documents without the columns that are not in an image the `images` of the selection.
    """

    def __init__(self, found: TableBatch, write: RowWriter) -> None:
        self._found = found
        self._table = found.table
        self._images = None if found.images is None or found.images.complete else found.images
        self._write = write

    @cached_property
    def operations(self) -> npt.NDArray[np.int32]:
        """The operation of each row."""
        operations: npt.NDArray[np.int32] = self._found.origin(Metadata.OP).indices.to_numpy()
        return operations

    def before(self) -> pa.Array:
        """Return the rows before the change: of updates and deletes."""
        images = self._found.before
        columns = [images.field(index) for index in range(images.type.num_fields)]
        return self._rows(columns, _WITH_BEFORE, self._present(after=False))

    def after(self) -> pa.Array:
        """Return the rows after the change: of inserts and updates."""
        return self._rows(self._found.values, _WITH_AFTER, self._present(after=True))

    def keys(self) -> pa.Array:
        """Return the primary keys, from before the change where there was a row.

        NULL where the table has no primary key, and where a part of it is not in the image.
        """
        if Metadata.KEY not in self._found.metadata:
            return self._no_rows()
        keys = self._found.origin(Metadata.KEY)
        columns = [_named(self._table, index) for index in self._table.primary_key or ()]
        parts = [keys.field(index) for index in range(keys.type.num_fields)]
        valid = keys.is_valid().to_numpy(zero_copy_only=False) if keys.null_count else None
        return self._write(columns, parts, valid=valid)

    def _rows(
        self, arrays: list[pa.Array], operations: tuple[Operation, ...], present: PresentColumns | None
    ) -> pa.Array:
        if not self._table.columns:
            return self._no_rows()
        valid = np.isin(self.operations, operations)
        return self._write(self._table.columns, arrays, valid=valid, present=present)

    def _no_rows(self) -> pa.Array:
        count = len(self.operations)
        return self._write(_ANY_COLUMN, [pa.nulls(count, pa.int8())], valid=np.zeros(count, dtype=np.bool_))

    def _present(self, *, after: bool) -> PresentColumns | None:
        images = self._images
        return None if images is None else PresentColumns(images.numbers, images.after if after else images.before)


def _named(table: TableSchema, index: int) -> Column:
    column = table.columns[index]
    return column if column.name is not None else replace(column, name=table.column_names[index])
