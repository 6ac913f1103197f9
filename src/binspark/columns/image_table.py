"""Which columns are in row images: all, or with `binlog_row_image=MINIMAL` only the key and what changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from binspark.event import RowOperation, Rows
from binspark.kernels.layout import ROWS_OPERATIONS, Operation
from binspark.kernels.layout import Table as T
from binspark.wire.bitmap import low_bits_first

_MAX_IMAGES = 1 << 12
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BatchImages:
    """Which columns the rows of a batch have: the number of an image for each row, and the columns of each image."""

    numbers: npt.NDArray[np.int32]
    before: Flags
    after: Flags

    def taken(self, rows: npt.NDArray[np.int64]) -> BatchImages:
        """Return the images of some of the rows."""
        return BatchImages(self.numbers[rows], self.before, self.after)

    @property
    def complete(self) -> bool:
        """Whether all columns are in all rows."""
        used = np.flatnonzero(np.bincount(self.numbers))
        return bool(self.before[used].all() and self.after[used].all())


class ImageTable:
    """The row images of one table so far. Kernels compare those of each event with the last of its operation."""

    def __init__(self, column_count: int, table: npt.NDArray[np.int64]) -> None:
        self._column_count = column_count
        self._table = table
        self.forget()

    @property
    def is_empty(self) -> bool:
        """Whether no image was kept."""
        return not self._numbers

    @property
    def full(self) -> bool:
        """Whether no other image can be kept."""
        return len(self._numbers) >= _MAX_IMAGES

    def forget(self) -> None:
        """Forget all images. No batch may have rows."""
        self._numbers: dict[tuple[RowOperation, bytes], int] = {}
        self._kept: list[npt.NDArray[np.uint8]] = []
        self._table[T.IMAGE_BITS : T.IMAGE_BITS + ROWS_OPERATIONS] = 0

    def number(self, body: Rows) -> int:
        """Return the number of an event's row images, and let kernels know them."""
        bits = body.columns + (body.columns_after or b"")
        number = self._numbers.setdefault((body.operation, bits), len(self._numbers))
        if number == len(self._kept):
            self._kept.append(np.frombuffer(bits + bytes(8), dtype=np.uint8))
        operation = Operation[body.operation.name]
        self._table[T.IMAGE + operation] = number
        self._table[T.IMAGE_BITS + operation] = self._kept[number].ctypes.data
        return number

    def images(self, numbers: npt.NDArray[np.int32], wanted: Flags) -> BatchImages:
        """Return the images of rows, reduced to the selected columns."""
        before = [self._present(*key, first=True) for key in self._numbers]
        after = [self._present(*key, first=False) for key in self._numbers]
        dimensions = (len(before), self._column_count)
        return BatchImages(
            numbers.copy(),
            np.array(before, dtype=np.bool_).reshape(dimensions)[:, wanted],
            np.array(after, dtype=np.bool_).reshape(dimensions)[:, wanted],
        )

    def _present(self, operation: RowOperation, bits: bytes, *, first: bool) -> tuple[bool, ...]:
        """Return the columns of the before or the after image; only updates have two."""
        width = (self._column_count + 7) // 8
        part = bits[:width] if first or operation is not RowOperation.UPDATE else bits[width:]
        return low_bits_first(part, self._column_count)
