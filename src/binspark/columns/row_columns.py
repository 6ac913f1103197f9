"""The columns of a batch, made of what was decoded: the rows, their keys, and the rows before the change."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arrow import flag_array, number_array
from binspark.columns.image_table import BatchImages
from binspark.columns.plan import TablePlan
from binspark.kernels.layout import Operation
from binspark.kernels.layout import Table as T

Mask = npt.NDArray[np.bool_]


class RowBuilder(Protocol):
    """Collects the rows of a table: `TableBuilder` or `ReferenceBuilder`."""

    plan: TablePlan

    @property
    def rows(self) -> int:
        """How many rows were collected."""
        ...

    @property
    def is_partial(self) -> bool:
        """Whether some row image does not have all columns."""
        ...

    def numbers(self, meta: T, kind: Any) -> npt.NDArray[Any]:
        """Return one of the metadata columns."""
        ...

    def arrays(self, *, before: bool = False) -> list[pa.Array | None]:
        """Return the columns of the table, None for those that are not decoded."""
        ...


class RowColumns:
    """The columns that a builder has collected.

    For a delete they have the deleted row, for a truncation nothing but NULL. A part of the key that the after image of
    an update does not contain has its value in the before image: an update that does not name it does not change it.
    """

    def __init__(self, builder: RowBuilder) -> None:
        self._builder = builder
        self._plan = builder.plan
        self.operations: npt.NDArray[np.int8] = builder.numbers(T.META_OP, np.int8)

    def _are(self, operation: Operation) -> Mask:
        return np.asarray(self.operations == operation)

    @cached_property
    def _updates(self) -> Mask:
        return self._are(Operation.UPDATE)

    @cached_property
    def _has_updates(self) -> bool:
        return bool(self._updates.any())

    @cached_property
    def _old(self) -> list[pa.Array | None]:
        """The values of before images, where there are updates."""
        return self._builder.arrays(before=True)

    @cached_property
    def _new(self) -> list[pa.Array | None]:
        arrays = self._builder.arrays()
        if self._builder.is_partial and self._has_updates:
            for index in self._plan.schema.primary_key or ():
                new, old = arrays[index], self._old[index]
                if new is not None and new.null_count:
                    absent = self._updates & new.is_null().to_numpy(zero_copy_only=False)
                    arrays[index] = _chosen(absent, old, new)
        return arrays

    def rows(self) -> list[pa.Array]:
        """Return the columns of the batch."""
        return [self._new[index] for index in self._plan.shown]

    def keys(self) -> pa.Array:
        """Return the keys: those before the change, and of the row for inserts. NULL where a part is not in the log."""
        parts = [self._old_part(index) for index in self._plan.key]
        missing = self._are(Operation.TRUNCATE)
        if self._builder.is_partial:
            for part in parts:
                if part.null_count:
                    missing |= part.is_null().to_numpy(zero_copy_only=False)
        return _struct(parts, self._plan.key_type, missing)

    def _old_part(self, index: int) -> pa.Array:
        if not self._has_updates:
            return self._new[index]
        return _chosen(self._updates, self._old[index], self._new[index])

    def before(self) -> pa.Array:
        """Return the rows before the change: of updates and deletes."""
        kind = pa.struct(list(self._plan.fields))
        deletes = self._are(Operation.DELETE)
        missing = ~(self._updates | deletes)
        if missing.all():
            return pa.nulls(len(missing), kind)
        return _struct([self._before_part(index, deletes) for index in self._plan.shown], kind, missing)

    def _before_part(self, index: int, deletes: Mask) -> pa.Array:
        if not deletes.any():
            return self._old[index]
        if not self._has_updates:
            return self._new[index]
        return _chosen(deletes, self._new[index], self._old[index])

    def absent(self, images: BatchImages | None) -> pa.Array:
        """Return the names of the columns that are not in the row images; NULL where none is missing."""
        kind = pa.list_(pa.string())
        if images is None or images.complete:
            return pa.nulls(self._builder.rows, kind)
        names = [self._plan.columns[index].name for index in self._plan.shown]
        filled = self._filled(images)
        missing = [
            [name for name, there in zip(names, present, strict=True) if not there] or None for present in filled
        ]
        return pa.array(missing, kind).take(number_array(images.numbers))

    def _filled(self, images: BatchImages) -> Mask:
        """Return which columns the rows of each image have, with the parts of the key that before images have."""
        key = [index in (self._plan.schema.primary_key or ()) for index in self._plan.shown]
        filled: Mask = images.after | (images.before & np.array(key, dtype=np.bool_))
        return filled


def _chosen(which: Mask, first: pa.Array | None, second: pa.Array | None) -> pa.Array:
    """Return the values of one array where a flag is set, and those of another elsewhere."""
    import pyarrow.compute as pc  # takes time to load, which a log of inserts need not wait for

    return pc.if_else(flag_array(which), first, second)


def _struct(children: list[pa.Array], kind: pa.DataType, missing: Mask) -> pa.Array:
    if not children:
        return pa.array([None if is_missing else {} for is_missing in missing], kind)
    mask = flag_array(missing) if missing.any() else None
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
