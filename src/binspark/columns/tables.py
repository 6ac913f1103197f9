"""The tables that a scan knows: which table an id means, and what collects its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from binspark.columns.arena import Arena
from binspark.columns.image_table import ImageTable
from binspark.columns.metadata import Metadata
from binspark.columns.plan import TablePlan, compile_plan
from binspark.columns.reference_batch import ReferenceBuilder
from binspark.columns.selection import Selection
from binspark.columns.table_builder import TableBuilder
from binspark.kernels.layout import BY_PYTHON, SKIPPED, TableIds
from binspark.kernels.layout import Column as C
from binspark.kernels.layout import Table as T
from binspark.kernels.table_maps import find_table_id
from binspark.schema.table import TableSchema

_MAX_TABLES = 1 << 14
_MAX_COLUMNS = 1 << 18
_MAX_IDS = 1 << 15
_FIRST_IDS = 1 << 9


@dataclass(slots=True)
class Slot:
    """A schema version of a table, and what collects its rows: kernels, or the reference where they cannot."""

    plan: TablePlan
    kernel: TableBuilder | None
    reference: ReferenceBuilder
    images: ImageTable

    @property
    def rows(self) -> int:
        """How many rows were collected."""
        return self.reference.rows + (self.kernel.rows if self.kernel else 0)


class Tables:
    """Registers tables for the scan. Its arrays are those that kernels read and write."""

    def __init__(self, selection: Selection, arena: Arena) -> None:
        self._selection = selection
        self._arena = arena
        # What is registered is set to 0 then: zeroing all of it would take milliseconds for each reader.
        self.numbers = np.empty((_MAX_TABLES, T.WIDTH), dtype=np.int64)
        self.columns = np.empty((_MAX_COLUMNS, C.WIDTH), dtype=np.int64)
        self.ids = _no_ids(_FIRST_IDS)
        self.slots: list[Slot] = []
        self.seen: set[str] = set()
        """The names of all tables, selected or not."""
        self._columns_used = 0
        self._ids_used = 0
        self._earlier_bytes: dict[str, npt.NDArray[np.int64]] = {}
        self._slot_of: dict[TableSchema, int] = {}
        self._versions: dict[str, list[int]] = {}
        self._schema_of: dict[int, TableSchema] = {}
        self._bodies: dict[int, npt.NDArray[np.uint8]] = {}

    @property
    def columns_address(self) -> int:
        """The address of the numbers of all columns."""
        return int(self.columns.ctypes.data)

    def schema_of(self, table_id: int) -> TableSchema | None:
        """Return the schema of the table that an id means now."""
        return self._schema_of.get(table_id)

    @property
    def has_room_for_id(self) -> bool:
        """Whether another table id can be registered."""
        return self._ids_used < _MAX_IDS

    def has_room(self, schema: TableSchema) -> bool:
        """Return whether a table, and an id for it, can be registered without forgetting others first."""
        if schema in self._slot_of:
            return self.has_room_for_id
        room = self._columns_used + 2 * len(schema.columns) <= _MAX_COLUMNS
        return room and len(self.slots) < _MAX_TABLES and self.has_room_for_id

    def event_bytes(self) -> dict[str, npt.NDArray[np.int64]]:
        """Return, for each table, the bytes of its rows events that were decoded: inserts, updates, deletes."""
        found = dict(self._earlier_bytes)
        for number, slot in enumerate(self.slots):
            name, counted = slot.plan.schema.name, self.numbers[number, T.BYTES : T.BYTES + 3]
            found[name] = found.get(name, 0) + counted
        return found

    def forget_all(self) -> None:
        """Forget every table. No batch may have rows; table maps of the current statement are registered again."""
        self._earlier_bytes = self.event_bytes()
        self.slots.clear()
        self._slot_of.clear()
        self._versions.clear()
        self._schema_of.clear()
        self._bodies.clear()
        self.ids[:] = -1
        self._columns_used = self._ids_used = 0

    def forget_ids(self) -> None:
        """Forget which table an id means; every TABLE_MAP is read again."""
        self._schema_of.clear()
        self._bodies.clear()
        self.ids[:] = -1
        self._ids_used = 0

    def map(self, table_id: int, schema: TableSchema, body: bytes) -> None:
        """Register which table an id means, and by which TABLE_MAP; its rows are selected, or at least counted."""
        slot = self.slot(schema)
        self._schema_of[table_id] = schema
        self._enter(table_id, BY_PYTHON if self.slots[slot].kernel is None else slot, body)

    def map_unwanted(self, table_id: int, body: bytes) -> None:
        """Register that the rows of a table are not selected; its schema need not be known."""
        self._schema_of.pop(table_id, None)
        self._enter(table_id, SKIPPED, body)

    def _enter(self, table_id: int, slot: int, body: bytes) -> None:
        if 2 * self._ids_used >= len(self.ids):
            self._make_room_for_ids()
        entry = find_table_id(self.ids, table_id)
        if self.ids[entry, TableIds.ID] == -1:
            self._ids_used += 1
        kept = np.frombuffer(body + bytes(8), dtype=np.uint8)
        self._bodies[table_id] = kept
        self.ids[entry] = (table_id, slot, kept.ctypes.data, len(body))

    def _make_room_for_ids(self) -> None:
        entries = self.ids[self.ids[:, TableIds.ID] != -1]
        self.ids = _no_ids(4 * self._ids_used)
        for entry in entries:
            self.ids[find_table_id(self.ids, int(entry[TableIds.ID]))] = entry

    def slot(self, schema: TableSchema) -> int:
        """Return the slot of a schema version, which is created if there is none yet."""
        known = self._slot_of.get(schema)
        return self._add(schema) if known is None else known

    def other_versions_of(self, schema: TableSchema) -> Iterator[int]:
        """Yield the slots of other schema versions of a table, whose rows come before in the log."""
        for number in self._versions.get(schema.name, ()):
            if self.slots[number].plan.schema != schema:
                yield number

    def names(self) -> set[str]:
        """Return the names of the tables that were read so far."""
        return {slot.plan.schema.name for slot in self.slots}

    def last_version(self, name: str) -> TableSchema | None:
        """Return the schema version of a table that was registered last."""
        return next((slot.plan.schema for slot in reversed(self.slots) if slot.plan.schema.name == name), None)

    def _add(self, schema: TableSchema) -> int:
        selection = self._selection
        wanted = selection.wants(schema.name)
        projection = selection.columns_of(schema) if wanted else ()
        key = wanted and selection.has(Metadata.KEY)
        plan = compile_plan(schema, selection.options, projection, key=key, before=selection.before)
        number = len(self.slots)
        self.numbers[number] = 0
        kernel = self._kernel_builder(plan, number, wanted=wanted) if plan.by_kernel else None
        images = ImageTable(len(plan.columns), self.numbers[number])
        self.slots.append(Slot(plan, kernel, ReferenceBuilder(plan), images))
        self._slot_of[schema] = number
        self._versions.setdefault(schema.name, []).append(number)
        return number

    def _kernel_builder(self, plan: TablePlan, number: int, *, wanted: bool) -> TableBuilder:
        selection, count = self._selection, len(plan.columns)
        first = self._columns_used
        old_first, old_end = plan.old_range
        self._columns_used += count * (2 if old_end else 1)
        table = self.numbers[number]
        table[T.FIRST_COLUMN], table[T.COLUMN_COUNT] = first, count
        table[T.OLD_FIRST], table[T.OLD_END] = old_first, old_end
        table[T.WANTED], table[T.BEFORE], table[T.OPS] = wanted, wanted and selection.before, selection.operations
        columns = self.columns[first : self._columns_used]
        columns[:] = 0
        variable = sum(1 for planned in plan.wanted if planned.form.length_bytes) or 1
        return TableBuilder(
            plan,
            self._arena,
            table,
            columns,
            max_rows=selection.max_rows,
            max_data=max(1 << 16, selection.max_bytes // variable),
        )


def _no_ids(count: int) -> npt.NDArray[np.int64]:
    """Return a hash table without entries, with room for ids; the number of entries is a power of two."""
    return np.full((2 * count, TableIds.WIDTH), -1, dtype=np.int64)
