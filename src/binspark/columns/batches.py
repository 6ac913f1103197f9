"""Batches while they are filled: the tables and transactions of a scan, and the record batches made of them."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import string_at
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from binspark.columns.arena import Arena
from binspark.columns.arrow import number_array, text_array
from binspark.columns.image_table import BatchImages
from binspark.columns.metadata_fields import METADATA_FIELDS
from binspark.columns.reference_batch import ReferenceBuilder
from binspark.columns.selection import Selection
from binspark.columns.table_builder import TableBuilder
from binspark.columns.tables import Slot, Tables
from binspark.columns.transaction_table import TransactionTable
from binspark.kernels.layout import Header, Operation, State
from binspark.kernels.layout import Table as T
from binspark.position import log_name
from binspark.schema.table import TableSchema

_OPERATIONS = text_array([operation.name.lower() for operation in Operation])
_ROW_COUNTERS = (State.ROW_NUMBER, State.TX_ROW, State.PAYLOAD_ROW, State.ROWS)


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Rows of one table, in log order."""

    table: TableSchema
    batch: pa.RecordBatch
    images: BatchImages | None = None
    """Which columns each row has, if that was selected."""


class OpenBatches:
    """What a scan has collected so far: its state, the rows of each table, and the transactions that they refer to."""

    def __init__(self, selection: Selection, arena: Arena) -> None:
        self.selection = selection
        self.state = np.zeros(State.WIDTH, dtype=np.int64)
        self.transactions = TransactionTable(self.state)
        self.tables = Tables(selection, arena)
        self.file = ""

    def flush(self) -> Iterator[TableBatch]:
        """Yield what every table has collected."""
        for number in range(len(self.tables.slots)):
            yield from self.flush_slot(number)
        self.transactions.forget()

    def flush_slot(self, number: int) -> Iterator[TableBatch]:
        """Yield what one table has collected. Only one of its two builders has rows."""
        slot = self.tables.slots[number]
        for builder in (slot.kernel, slot.reference):
            if builder is not None and builder.rows:
                if self.selection.wants(slot.plan.schema.name):
                    yield TableBatch(slot.plan.schema, self._batch(builder), self._images(slot, builder))
                builder.begin()

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

    def _images(self, slot: Slot, builder: TableBuilder | ReferenceBuilder) -> BatchImages | None:
        if not self.selection.images:
            return None
        wanted = np.array([planned.wanted for planned in slot.plan.columns], dtype=np.bool_)
        return slot.images.images(builder.numbers(T.META_IMAGE, np.int32), wanted)


@lru_cache(maxsize=16)
def _single(text: str) -> pa.Array:
    return text_array([text])
