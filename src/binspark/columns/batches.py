"""Batches while they are filled: the tables and transactions of a scan, and the record batches made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ctypes import string_at
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arena import Arena
from binspark.columns.arrow import number_array, text_array
from binspark.columns.image_table import BatchImages
from binspark.columns.metadata_fields import METADATA_FIELDS
from binspark.columns.reference_batch import ReferenceBuilder
from binspark.columns.selection import Selection
from binspark.columns.statement_table import RowOrigins, StatementTable
from binspark.columns.table_builder import TableBuilder
from binspark.columns.tables import Slot, Tables
from binspark.columns.transaction_table import TransactionTable
from binspark.columns.where.condition import Condition
from binspark.columns.where.evaluate import BatchColumns, selected_rows
from binspark.kernels.layout import Header, Operation, State
from binspark.kernels.layout import Table as T
from binspark.position import log_name
from binspark.schema.table import TableSchema
from binspark.values.value import JsonDiffs

_OPERATIONS = text_array([operation.name.lower() for operation in Operation])
_ROW_COUNTERS = (State.ROW_NUMBER, State.TX_ROW, State.PAYLOAD_ROW, State.ROWS)


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Rows of one table, in log order."""

    table: TableSchema
    batch: pa.RecordBatch
    images: BatchImages | None = None
    """Which columns each row has, if that was selected."""
    origins: RowOrigins | None = None
    """The time, thread and statement of each row, if that was selected."""
    window: int = 0
    """Batches with the same number have the rows of one part of the log: see `Selection.in_windows`."""
    diffs: Mapping[tuple[int, int], JsonDiffs] = field(default_factory=dict)
    """Partial updates without the document that they change, by row and column, if they were selected."""

    def taken(self, rows: npt.NDArray[np.int64], columns: Sequence[int], *, with_images: bool) -> TableBatch:
        """Return some rows and columns."""
        number_of = {int(row): number for number, row in enumerate(rows)} if self.diffs else {}
        return TableBatch(
            self.table,
            self.batch.select(columns).take(pa.array(rows)),
            self.images.taken(rows) if self.images is not None and with_images else None,
            None if self.origins is None else self.origins.taken(rows),
            self.window,
            {(number_of[row], column): diffs for (row, column), diffs in self.diffs.items() if row in number_of},
        )


class OpenBatches:
    """What a scan has collected so far: its state, the rows of each table, and the transactions that they refer to."""

    def __init__(self, selection: Selection, arena: Arena, delivered: Selection | None = None) -> None:
        self.selection = selection
        self._delivered = delivered or selection
        self.state = np.zeros(State.WIDTH, dtype=np.int64)
        self.transactions = TransactionTable(self.state)
        self.statements = StatementTable(self.state)
        self.tables = Tables(selection, arena)
        self.file = ""
        self._window = 0

    def flush(self) -> Iterator[TableBatch]:
        """Yield what every table has collected."""
        for number in range(len(self.tables.slots)):
            yield from self.flush_slot(number)
        self.transactions.forget()
        self.statements.forget()

    def end_window(self) -> Iterator[TableBatch]:
        """Yield all rows that were read so far, if rows are selected in windows."""
        if self.selection.in_windows:
            yield from self.flush()
            self._window += 1

    def flush_slot(self, number: int) -> Iterator[TableBatch]:
        """Yield what one table has collected. Only one of its two builders has rows."""
        slot = self.tables.slots[number]
        for builder in (slot.kernel, slot.reference):
            if builder is not None and builder.rows:
                if self.selection.wants(slot.plan.schema.name):
                    found = self._table_batch(slot, builder)
                    if self.selection.where is not None:
                        found = self._where(self.selection.where, found, builder)
                        if not found.batch.num_rows:
                            builder.begin()
                            continue
                    yield found
                builder.begin()

    def _table_batch(self, slot: Slot, builder: TableBuilder | ReferenceBuilder) -> TableBatch:
        return TableBatch(
            slot.plan.schema,
            self._batch(builder),
            self._images(slot, builder),
            self._origins(builder),
            self._window,
            builder.diffs if isinstance(builder, ReferenceBuilder) else {},
        )

    def _where(self, condition: Condition, found: TableBatch, builder: TableBuilder | ReferenceBuilder) -> TableBatch:
        """Return the rows that meet the condition, with the columns that are to be delivered."""
        delivered, plan, batch = self._delivered, builder.plan, found.batch
        assert found.images is not None
        first, count = len(METADATA_FIELDS) if delivered.metadata else 0, len(plan.wanted)
        columns = BatchColumns(
            plan.schema,
            [index for index, column in enumerate(plan.columns) if column.wanted],
            batch.columns[first : first + count],
            batch.column(first + count).flatten(),
            builder.numbers(T.META_OP, np.int8),
            found.images,
        )
        rows = np.flatnonzero(selected_rows(condition, columns))
        wanted = [
            *range(first),
            *(first + at for at, column in enumerate(plan.wanted) if delivered.wants_column(column.name)),
            *([first + count] if delivered.before else ()),
        ]
        return found.taken(rows, wanted, with_images=delivered.images)

    def make_room(self, number: int) -> Iterator[TableBatch]:
        """Let a table grow that has no room for the next row, or yield what it has collected."""
        builder = self._kernel_builder(number)
        at = int(self.state[State.AT])
        event_size = int.from_bytes(string_at(at + Header.EVENT_SIZE, 4), "little")
        if not builder.make_room(event_size):
            yield from self.flush_slot(number)

    def cut_at_wrong_text(self, number: int) -> bool:
        """Decode text that kernels only copied; go back to the first row where it is invalid, if there is one."""
        cut = self._kernel_builder(number).decode_late_text()
        for counter in _ROW_COUNTERS:
            self.state[counter] -= cut
        return bool(cut)

    def _kernel_builder(self, number: int) -> TableBuilder:
        builder = self.tables.slots[number].kernel
        assert builder is not None
        return builder

    def _batch(self, builder: TableBuilder | ReferenceBuilder) -> pa.RecordBatch:
        arrays = builder.arrays()
        fields = list(builder.plan.fields)
        if self.selection.metadata:
            arrays = self._metadata(builder) + arrays
            fields = [*METADATA_FIELDS, *fields]
        if self.selection.before:
            kind = pa.struct(list(builder.plan.fields))
            children = builder.arrays(before=True)
            arrays.append(pa.Array.from_buffers(kind, builder.rows, [None], 0, children=children))
            fields.append(pa.field("_before", kind))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _metadata(self, builder: TableBuilder | ReferenceBuilder) -> list[pa.Array]:
        """Return where the rows of a batch come from, in the order of `METADATA_FIELDS`.

        What repeats (operation, transaction, file) is a dictionary. Numbers are copied, so that the block that they are
        in can be used again as soon as the values can.
        """
        operations = builder.numbers(T.META_OP, np.int8).astype(np.int32)
        gtids, times = self.transactions.columns(builder.numbers(T.META_TRANSACTION, np.int32).copy())
        file = _single(log_name(self.file))
        return [
            pa.DictionaryArray.from_arrays(number_array(operations), _OPERATIONS),
            gtids,
            times,
            pa.DictionaryArray.from_arrays(number_array(np.zeros(builder.rows, dtype=np.int32)), file),
            number_array(builder.numbers(T.META_EVENT, np.int64).copy()),
            number_array(builder.numbers(T.META_ROW, np.int32).copy()),
            number_array(builder.numbers(T.META_TX_ROW, np.int64).copy()),
            number_array(builder.numbers(T.META_SERVER, np.int64).copy()),
        ]

    def _origins(self, builder: TableBuilder | ReferenceBuilder) -> RowOrigins | None:
        if not self.selection.origins:
            return None
        times, threads = (builder.numbers(meta, np.uint32).copy() for meta in (T.META_TIME, T.META_THREAD))
        numbers = builder.numbers(T.META_STATEMENT, np.int32).copy()
        return RowOrigins(times, threads, *self.statements.texts_of(numbers))

    def _images(self, slot: Slot, builder: TableBuilder | ReferenceBuilder) -> BatchImages | None:
        if not self.selection.images:
            return None
        wanted = np.array([planned.wanted for planned in slot.plan.columns], dtype=np.bool_)
        return slot.images.images(builder.numbers(T.META_IMAGE, np.int32), wanted)


@lru_cache(maxsize=16)
def _single(text: str) -> pa.Array:
    return text_array([text])
