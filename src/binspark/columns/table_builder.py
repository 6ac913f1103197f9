"""The columns of one table while they are filled, and the batch that they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arena import Arena, Block, aligned
from binspark.columns.plan import PlannedColumn, TablePlan, describe
from binspark.kernels.layout import Column as C
from binspark.kernels.layout import Op
from binspark.kernels.layout import Table as T
from binspark.values.charsets import decode_text
from binspark.values.column import Column
from binspark.values.strings import notation_of

Numbers = npt.NDArray[np.int64]
_SLACK = 64
_FIRST_ROWS = 64
_FIRST_DATA = 2 << 10
_GROWTH = 4
_META_WIDTHS = {
    T.META_EVENT: 8,
    T.META_ROW: 4,
    T.META_TRANSACTION: 4,
    T.META_OP: 1,
    T.META_SERVER: 8,
    T.META_TX_ROW: 8,
    T.META_IMAGE: 4,
    T.META_TIME: 4,
    T.META_THREAD: 4,
    T.META_STATEMENT: 4,
}
_UNCOUNTED = -1
_LISTS = (Op.SET, Op.VECTOR)


class TableBuilder:
    """Owns a block of memory for the columns of a table, and their numbers in the arrays that kernels read.

    It begins small and grows, by copying, until a batch has `max_rows` rows or a column `max_data` bytes.
    """

    def __init__(
        self, plan: TablePlan, arena: Arena, table: Numbers, columns: Numbers, *, max_rows: int, max_data: int
    ) -> None:
        self.plan = plan
        self._arena = arena
        self._table = table
        self._columns = columns
        self._max_rows = max_rows
        self._max_data = max_data
        self._rows_capacity = min(_FIRST_ROWS, max_rows)
        self._data_capacity = {index: min(_FIRST_DATA, max_data) for index in range(len(columns))}
        self._block: Block = np.empty(0, dtype=np.uint8)
        self._late_text: dict[int, list[str | None]] = {}
        for index, planned in enumerate(self._images):
            is_before = index >= len(plan.columns)
            columns[index] = describe(planned, plan.options, before=is_before)
            if columns[index, C.OP] and planned.form.finish:
                self._late_text[index] = []
        table[T.CHECK] = bool(self._late_text)
        self.begin()

    @property
    def _images(self) -> tuple[PlannedColumn, ...]:
        """The columns of the after image, then those of the before image if any of it is kept."""
        copies = len(self._columns) // max(1, len(self.plan.columns))
        return self.plan.columns * copies

    @property
    def rows(self) -> int:
        """How many rows were collected."""
        return int(self._table[T.ROWS])

    @property
    def is_partial(self) -> bool:
        """Whether some row image does not have all columns."""
        return bool(self._table[T.PARTIAL])

    @property
    def block_bytes(self) -> int:
        """The size of the block."""
        return len(self._block)

    def begin(self) -> None:
        """Start an empty batch, in memory that nothing else uses."""
        self._table[T.ROWS] = self._table[T.PARTIAL] = 0
        self._lay_out()
        self._columns[:, C.DATA_USED] = 0
        self._columns[:, C.NULLS] = 0
        self._columns[:, C.ITEMS] = 0
        for texts in self._late_text.values():
            texts.clear()
        for row in self._columns:
            if row[C.OP]:
                self._reset(row)

    def make_room(self, event_size: int) -> bool:
        """Grow after there was no room for a row; return False if the batch may not grow and must be taken."""
        if self.rows == 0:
            needed = 6 * event_size + 4096
            self._data_capacity = {index: max(2 * size, needed) for index, size in self._data_capacity.items()}
            self._move()
            return True
        if not self._grow():
            return False
        self._move()
        return True

    def decode_late_text(self) -> int:
        """Decode the text that kernels only copied, of all rows since the last call.

        Where bytes are not text, the batch is cut before the first such row. Return how many rows are removed.
        """
        first_wrong = self.rows
        for index, texts in self._late_text.items():
            column = self._images[index].column
            try:
                for value in self._bytes_array(self._columns[index]).slice(len(texts)).to_pylist():
                    texts.append(None if value is None else _late_text(value, column))
            except UnicodeDecodeError:
                first_wrong = min(first_wrong, len(texts))
        cut = self.rows - first_wrong
        if cut:
            self._table[T.ROWS] = first_wrong
            self._columns[self._columns[:, C.NULLS] > 0, C.NULLS] = _UNCOUNTED
        return cut

    def _grow(self) -> bool:
        """Give more room to all that is more than half full, as growing means copying. False if nothing may grow."""
        rows_full = self.rows >= self._rows_capacity
        if rows_full and self._rows_capacity >= self._max_rows:
            return False
        large = [
            index
            for index, row in enumerate(self._columns)
            if row[C.DATA] and 2 * row[C.DATA_USED] > self._data_capacity[index] < self._max_data
        ]
        if not rows_full and not large:
            return False
        for index in large:
            self._data_capacity[index] = min(_GROWTH * self._data_capacity[index], self._max_data)
        if 2 * self.rows > self._rows_capacity:
            self._rows_capacity = min(_GROWTH * self._rows_capacity, self._max_rows)
        return True

    def _move(self) -> None:
        """Take a larger block and copy to it what was written."""
        old = [(row.copy(), index) for index, row in enumerate(self._columns)]
        old_meta = {meta: int(self._table[meta]) for meta in _META_WIDTHS}
        old_block, rows = self._block, self.rows
        base = old_block.ctypes.data
        self._lay_out()
        for meta, width in _META_WIDTHS.items():
            self._copy(old_block, old_meta[meta] - base, int(self._table[meta]), rows * width)
        for row, index in old:
            new = self._columns[index]
            if row[C.OP]:
                self._reset(new)
                for part, size in _parts(row, rows, _value_width(self._images[index])):
                    self._copy(old_block, int(row[part]) - base, int(new[part]), size)

    def _copy(self, source: Block, offset: int, target: int, size: int) -> None:
        start = target - self._block.ctypes.data
        self._block[start : start + size] = source[offset : offset + size]

    def _reset(self, row: Numbers) -> None:
        """Mark all values as not NULL, and let the first one begin at 0."""
        base = self._block.ctypes.data
        validity = int(row[C.VALIDITY]) - base
        self._block[validity : validity + (self._rows_capacity + 7) // 8] = 0xFF
        for part in (C.OFFSETS, C.ITEM_OFFSETS):
            if row[part]:
                offset = int(row[part]) - base
                self._block[offset : offset + 4] = 0

    def _lay_out(self) -> None:
        """Lay the columns out in a block of their own."""
        total = 0
        offsets: list[tuple[Any, int, int]] = []

        def reserve(owner: Any, part: int, size: int) -> None:
            nonlocal total
            offsets.append((owner, part, total))
            total += aligned(size)

        capacity = self._rows_capacity
        for meta, width in _META_WIDTHS.items():
            reserve(self._table, meta, width * capacity)
        for index, (row, planned) in enumerate(zip(self._columns, self._images, strict=True)):
            if row[C.OP]:
                self._reserve_column(index, row, planned, reserve)
        self._block = self._arena.take(total + _SLACK)
        base = self._block.ctypes.data
        base += -base % 64
        for owner, part, offset in offsets:
            owner[part] = base + offset
        self._table[T.ROW_CAPACITY] = capacity

    def _reserve_column(
        self, index: int, row: Numbers, planned: PlannedColumn, reserve: Callable[[Any, int, int], None]
    ) -> None:
        capacity = self._rows_capacity
        op = planned.form.op
        reserve(row, C.VALIDITY, capacity // 8 + 1)
        width = _value_width(planned)
        if width:
            reserve(row, C.VALUES, width * capacity)
        if op < Op.BINARY:
            return
        data = self._data_capacity[index]
        reserve(row, C.OFFSETS, 4 * (capacity + 1))
        reserve(row, C.DATA, data + _SLACK)
        row[C.DATA_CAPACITY] = data
        if op in _LISTS:
            row[C.ITEM_CAPACITY] = max(1, data // 4)
        if op is Op.SET:
            reserve(row, C.ITEM_OFFSETS, data + 8)

    def part(self, address: int, size: int) -> pa.Buffer:
        """Return the bytes at an address as an Arrow buffer that keeps the block alive."""
        start = address - self._block.ctypes.data
        return pa.py_buffer(self._block[start : start + size])

    def numbers(self, meta: T, kind: Any) -> npt.NDArray[Any]:
        """Return one of the metadata columns."""
        start = int(self._table[meta]) - self._block.ctypes.data
        return self._block[start : start + self.rows * _META_WIDTHS[meta]].view(kind)

    def arrays(self, *, before: bool = False) -> list[pa.Array | None]:
        """Return the columns of the table as Arrow arrays over the block; None for those that are not decoded.

        In those of before images, only rows of updates have a meaning, unless complete before images are selected.
        """
        count = len(self.plan.columns)
        first = count if before else 0
        return [
            self._array(first + index, planned) if (planned.old if before else planned.wanted) else None
            for index, planned in enumerate(self.plan.columns)
        ]

    def _array(self, index: int, planned: PlannedColumn) -> pa.Array:
        row = self._columns[index]
        if index in self._late_text:
            return pa.array(self._late_text[index][: self.rows], pa.string())
        rows, nulls = self.rows, int(row[C.NULLS])
        validity = self.part(int(row[C.VALIDITY]), (rows + 7) // 8) if nulls else None
        op, kind = planned.form.op, planned.form.type
        if op < Op.BINARY:
            values = self.part(int(row[C.VALUES]), rows * _value_width(planned))
            return pa.Array.from_buffers(kind, rows, [validity, values], nulls)
        offsets = self.part(int(row[C.OFFSETS]), 4 * (rows + 1))
        data = self.part(int(row[C.DATA]), int(row[C.DATA_USED]))
        if op is Op.GEOMETRY:
            srid = pa.Array.from_buffers(pa.int32(), rows, [validity, self.part(int(row[C.VALUES]), 4 * rows)], nulls)
            wkb = pa.Array.from_buffers(pa.binary(), rows, [validity, offsets, data], nulls)
            return pa.Array.from_buffers(kind, rows, [validity], nulls, children=[srid, wkb])
        if op in _LISTS:
            items = self._items(row, planned, data)
            return pa.Array.from_buffers(kind, rows, [validity, offsets], nulls, children=[items])
        return pa.Array.from_buffers(kind, rows, [validity, offsets, data], nulls)

    def _bytes_array(self, row: Numbers) -> pa.Array:
        rows, nulls = self.rows, int(row[C.NULLS])
        validity = self.part(int(row[C.VALIDITY]), (rows + 7) // 8) if nulls else None
        offsets = self.part(int(row[C.OFFSETS]), 4 * (rows + 1))
        data = self.part(int(row[C.DATA]), int(row[C.DATA_USED]))
        return pa.Array.from_buffers(pa.binary(), rows, [validity, offsets, data], nulls)

    def _items(self, row: Numbers, planned: PlannedColumn, data: pa.Buffer) -> pa.Array:
        count = int(row[C.ITEMS])
        if planned.form.op is Op.VECTOR:
            return pa.Array.from_buffers(pa.float32(), count, [None, data], 0)
        offsets = self.part(int(row[C.ITEM_OFFSETS]), 4 * (count + 1))
        return pa.Array.from_buffers(pa.string(), count, [None, offsets, data], 0)


def _value_width(planned: PlannedColumn) -> int:
    """Return the bytes of a value in the array of fixed-size values, 0 if it is not in it."""
    if planned.form.op is Op.GEOMETRY:
        return 4
    if planned.form.op >= Op.BINARY or planned.form.op is Op.SKIP:
        return 0
    return int(planned.form.type.bit_width) // 8


def _parts(row: Numbers, rows: int, width: int) -> list[tuple[C, int]]:
    """Return the parts of a column that were written, with their sizes."""
    parts = [(C.VALIDITY, (rows + 7) // 8)]
    if row[C.VALUES]:
        parts.append((C.VALUES, width * rows))
    if row[C.OFFSETS]:
        parts.append((C.OFFSETS, 4 * (rows + 1)))
        parts.append((C.DATA, int(row[C.DATA_USED])))
    if row[C.ITEM_OFFSETS]:
        parts.append((C.ITEM_OFFSETS, 4 * (int(row[C.ITEMS]) + 1)))
    return parts


def _late_text(value: bytes, column: Column) -> str:
    """Return the text of bytes that a kernel copied."""
    if column.notation is not None:
        return notation_of(value, column.notation)
    assert column.collation is not None
    return decode_text(value, column.collation)
