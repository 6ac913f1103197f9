"""Batches while they are filled: the tables and transactions of a scan, and the record batches made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as Items
from ctypes import string_at
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arena import Arena
from binspark.columns.arrow import number_array, text_array
from binspark.columns.image_table import BatchImages
from binspark.columns.metadata import BEFORE, Metadata
from binspark.columns.metadata_fields import metadata_type
from binspark.columns.reference_batch import ReferenceBuilder
from binspark.columns.row_columns import RowColumns
from binspark.columns.selection import Selection
from binspark.columns.sequence import NO_EPOCH, log_number
from binspark.columns.statement_table import RowOrigins, StatementTable
from binspark.columns.table_builder import TableBuilder
from binspark.columns.tables import Slot, Tables
from binspark.columns.transaction_table import TransactionTable
from binspark.kernels.layout import Header, Operation, State
from binspark.kernels.layout import Table as T
from binspark.position import Position, log_name
from binspark.schema.table import TableSchema
from binspark.values.value import JsonDiffs

if TYPE_CHECKING:
    from binspark.columns.where.condition import Condition

_OPERATIONS = text_array([operation.name.lower() for operation in Operation])
_ZEROS_STEP = 1 << 16
_ROW_COUNTERS = (State.ROW_NUMBER, State.TX_ROW, State.PAYLOAD_ROW, State.ROWS)


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Rows of one table, in log order.

    batch     the metadata columns, the columns of the table, and the struct of before images, as far as selected
    metadata  the metadata columns that it has
    images    which columns each row has, if that was selected
    origins   the time, thread and statement of each row, if that was selected
    window    batches with the same number have the rows of one part of the log: see `Selection.in_windows`
    diffs     partial updates without the document that they change, by row and column, if they were selected

    A column of the table may have the name of a metadata column; `origin`, `values` and `before` do not go by names.
    """

    table: TableSchema
    batch: pa.RecordBatch
    metadata: tuple[Metadata, ...] = ()
    has_before: bool = False
    images: BatchImages | None = None
    origins: RowOrigins | None = None
    window: int = 0
    diffs: Mapping[tuple[int, int], JsonDiffs] = field(default_factory=dict)

    def origin(self, name: Metadata) -> pa.Array:
        """Return a metadata column."""
        return self.batch.column(self.metadata.index(name))

    def position(self, row: int = 0) -> Position:
        """Return where a row is in the log, for messages; of no row, an empty position."""
        if not self.batch.num_rows:
            return Position()
        file, offset = (self.origin(name)[row].as_py() for name in (Metadata.LOG_FILE, Metadata.LOG_POS))
        return Position(file=file, offset=offset)

    @property
    def values(self) -> list[pa.Array]:
        """The columns of the table."""
        columns: list[pa.Array] = self.batch.columns
        return columns[len(self.metadata) : len(columns) - self.has_before]

    @property
    def before(self) -> pa.Array:
        """The rows before the change."""
        assert self.has_before
        return self.batch.column(self.batch.num_columns - 1)

    def taken(self, rows: npt.NDArray[np.int64], values: Items[int], *, before: bool, images: bool) -> TableBatch:
        """Return some rows, some of the columns of the table, and before images and images if wanted."""
        number_of = {int(row): number for number, row in enumerate(rows)} if self.diffs else {}
        first, last = len(self.metadata), self.batch.num_columns - 1
        columns = [*range(first), *(first + value for value in values), *([last] if before else ())]
        return TableBatch(
            self.table,
            self.batch.select(columns).take(number_array(rows)),
            self.metadata,
            before,
            self.images.taken(rows) if self.images is not None and images else None,
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
        self._arena = arena
        self.file = ""
        self.sequence = NO_EPOCH
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
                    found = self._batch(slot, builder)
                    if self.selection.where is not None:
                        found = self._where(self.selection.where, found, builder)
                        if not found.batch.num_rows:
                            builder.begin()
                            continue
                    yield found
                builder.begin()

    def _where(self, condition: Condition, found: TableBatch, builder: TableBuilder | ReferenceBuilder) -> TableBatch:
        """Return the rows that meet the condition, with the columns that are to be delivered. A truncation has none."""
        from binspark.columns.where.evaluate import BatchColumns, selected_rows  # loads all of Arrow's functions

        delivered, plan = self._delivered, builder.plan
        rows = np.empty(0, dtype=np.int64)
        if found.images is not None:
            operations = builder.numbers(T.META_OP, np.int8)
            columns = BatchColumns(
                plan.schema, plan.shown, found.values, found.before.flatten(), operations, found.images
            )
            is_row = operations != Operation.TRUNCATE
            rows = np.flatnonzero(selected_rows(condition, columns) & is_row)
        wanted = [at for at, index in enumerate(plan.shown) if delivered.wants_column(plan.columns[index].name)]
        return found.taken(rows, wanted, before=delivered.before, images=delivered.images)

    def make_room(self, number: int) -> Iterator[TableBatch]:
        """Grow a table that has no room for the next row, or yield what it has collected."""
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

    def _batch(self, slot: Slot, builder: TableBuilder | ReferenceBuilder) -> TableBatch:
        plan, selection = builder.plan, self.selection
        rows, images = RowColumns(builder), self._images(slot, builder)
        metadata = [name for name in Metadata if selection.has(name) and (name is not Metadata.KEY or plan.key)]
        arrays = [*self._metadata(metadata, rows, builder, images), *rows.rows()]
        prefix = selection.metadata_prefix
        fields = [pa.field(f"{prefix}{name}", metadata_type(name, plan.key_type)) for name in metadata]
        fields += plan.fields
        if selection.before:
            arrays.append(rows.before())
            fields.append(pa.field(f"{prefix}{BEFORE}", arrays[-1].type))
        batch = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
        return TableBatch(
            plan.schema,
            batch,
            tuple(metadata),
            selection.before,
            images,
            self._origins(builder),
            self._window,
            builder.diffs if isinstance(builder, ReferenceBuilder) else {},
        )

    def _metadata(
        self,
        names: list[Metadata],
        rows: RowColumns,
        builder: TableBuilder | ReferenceBuilder,
        images: BatchImages | None,
    ) -> list[pa.Array]:
        """Return metadata columns.

        What repeats (operation, transaction, file) is a dictionary.
        """
        gtids = times = None
        if Metadata.GTID in names or Metadata.COMMIT_TIME in names:
            gtids, times = self.transactions.columns(builder.numbers(T.META_TRANSACTION, np.int32))
        made: dict[Metadata, Callable[[], pa.Array]] = {
            Metadata.OP: lambda: _words(rows.operations.astype(np.int32), _OPERATIONS),
            Metadata.SEQ: lambda: self._sequence(builder),
            Metadata.KEY: rows.keys,
            Metadata.GTID: lambda: gtids,
            Metadata.COMMIT_TIME: lambda: times,
            Metadata.LOG_FILE: lambda: _words(_zeros(builder.rows), _single(log_name(self.file))),
            Metadata.LOG_POS: lambda: number_array(builder.numbers(T.META_EVENT, np.int64)),
            Metadata.LOG_ROW: lambda: number_array(builder.numbers(T.META_ROW, np.int32)),
            Metadata.TX_ROW: lambda: number_array(builder.numbers(T.META_TX_ROW, np.int64)),
            Metadata.SERVER_ID: lambda: number_array(builder.numbers(T.META_SERVER, np.int64)),
            Metadata.ABSENT: lambda: rows.absent(images),
        }
        return [made[name]() for name in names]

    def _sequence(self, builder: TableBuilder | ReferenceBuilder) -> pa.Array:
        sequence = self.sequence
        positions, rows = builder.numbers(T.META_EVENT, np.int64), builder.numbers(T.META_ROW, np.int32)
        if sequence.repeated is not None:
            positions, rows = sequence.repeated.spread(builder.numbers(T.META_TX_ROW, np.int64))
        return sequence.values(log_number(self.file), positions, rows, self._arena)

    def _origins(self, builder: TableBuilder | ReferenceBuilder) -> RowOrigins | None:
        if not self.selection.origins:
            return None
        times, threads = (builder.numbers(meta, np.uint32).copy() for meta in (T.META_TIME, T.META_THREAD))
        numbers = builder.numbers(T.META_STATEMENT, np.int32).copy()
        return RowOrigins(times, threads, *self.statements.texts_of(numbers))

    def _images(self, slot: Slot, builder: TableBuilder | ReferenceBuilder) -> BatchImages | None:
        if not self.selection.images or slot.images.is_empty:
            return None
        shown = np.array([planned.shown for planned in slot.plan.columns], dtype=np.bool_)
        return slot.images.images(builder.numbers(T.META_IMAGE, np.int32), shown)


def _words(indexes: npt.NDArray[np.int32], words: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(number_array(indexes), words, safe=False)


def _zeros(count: int) -> npt.NDArray[np.int32]:
    """Return zeros that nobody changes: batches of a size share them."""
    return _shared_zeros(-(-count // _ZEROS_STEP))[:count]


@lru_cache(maxsize=4)
def _shared_zeros(steps: int) -> npt.NDArray[np.int32]:
    return np.zeros(steps * _ZEROS_STEP, dtype=np.int32)


@lru_cache(maxsize=16)
def _single(text: str) -> pa.Array:
    return text_array([text])
