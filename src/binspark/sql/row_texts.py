"""The statements of rows events in bulk: batches of exact rows into texts, by the offsets of their events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import string_at
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.metadata import Metadata
from binspark.columns.options import TimeFormat
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.documents.output import Output, write_all
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.files.batches import source_batches
from binspark.files.sources import LogSource
from binspark.files.windows import by_window
from binspark.kernels import cache
from binspark.kernels.layout import Operation
from binspark.kernels.objects.layout import SLACK, ChangedRows
from binspark.kernels.sql.layout import Statements
from binspark.kernels.sql.statements import write_statements
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.sql.options import ScriptOptions
from binspark.sql.row_fields import Numbers, RowFields, table_texts
from binspark.sql.statements import statements_of

if TYPE_CHECKING:
    from binspark.sql.conflicts import Conflicts


class ByReference(Enum):
    """The answer for an event whose rows are written one at a time."""

    BY_REFERENCE = "by reference"


BY_REFERENCE = ByReference.BY_REFERENCE
Text = bytes | ByReference


class RowTexts:
    """The statements of one log after the other, asked for in the order of the log."""

    def __init__(
        self, selection: Selection, history: SchemaHistory, options: ScriptOptions, conflicts: Conflicts | None
    ) -> None:
        cache.enable()
        wanted = replace(selection, operations=selection.operations & ~Operations.TRUNCATE).with_complete_rows()
        exact = replace(wanted.options, exact=True, time=TimeFormat.STRING)
        own_history = SchemaHistory(history.base, lower_case_names=history.lower_case_names)
        self._reader = BatchReader(replace(wanted, options=exact), own_history)
        self._options, self._conflicts = options, conflicts
        self._undo = options.undo
        self._file = ""
        self._windows: Iterator[list[TableBatch]] = iter(())
        self._groups: list[_Group] = []

    @property
    def tables(self) -> set[str]:
        """The names of all tables that were seen, selected or not."""
        return self._reader.tables.seen

    def begin(self, source: LogSource) -> None:
        """Begin a log file."""
        self._windows = by_window(source_batches(source, self._reader))
        self._groups, self._file = [], source.name

    def at(self, offset: int) -> Text:
        """Return the statements of a rows event, none if it is not selected."""
        self._move_to(offset, offset)
        return self._groups[0].text(offset, undo=self._undo) if self._groups else b""

    def of_events(self, offsets: Numbers) -> EventTexts:
        """Return the statements of rows events, in the order of the log."""
        found = EventTexts.none(len(offsets))
        if len(offsets):
            self._move_to(int(offsets[0]), int(offsets[-1]))
        for group in self._groups:
            numbers = np.searchsorted(group.positions, offsets).clip(max=len(group.positions) - 1)
            known = np.flatnonzero(group.positions[numbers] == offsets)
            chosen = numbers[known]
            found.addresses[known], found.lengths[known] = group.addresses[chosen], group.lengths[chosen]
            found.by_reference[known] = group.by_reference[chosen]
        found.groups.extend(self._groups)
        return found

    def finish(self) -> None:
        """Read the rest of the log, of which no rows are selected: an error in it must not be overlooked."""
        for _ in self._windows:
            continue

    def _move_to(self, first: int, last: int) -> None:
        """Read what is between two events, and forget what is before the first one."""
        self._groups = [group for group in self._groups if group.last >= first]
        while not self._groups or self._groups[-1].last < last:
            window = next(self._windows, None)
            if window is None:
                break
            group = _Group([self._written(found) for found in window])
            self._groups = [*self._groups, group] if group.last >= first else []

    def _written(self, found: TableBatch) -> _Statements:
        try:
            elsewhere = None if self._conflicts is None else self._conflicts.events_of(self._file)
            return _Statements(found, self._options, elsewhere)
        except SchemaError as error:
            raise error.at(Position(self._file, found.origin(Metadata.LOG_POS)[0].as_py())) from None


class EventTexts(NamedTuple):
    """The statements of rows events: addresses, lengths (0 if not selected), and which must be asked for one by one."""

    addresses: Numbers
    lengths: Numbers
    by_reference: npt.NDArray[np.bool_]
    groups: list[_Group]
    """What the addresses point into."""

    @classmethod
    def none(cls, count: int) -> EventTexts:
        """Return events of which none is selected."""
        empty = np.zeros((2, count), dtype=np.int64)
        return cls(empty[0], empty[1], np.zeros(count, dtype=np.bool_), [])


class _Group:
    """The statements of one window: texts of consecutive rows of an event, in the order of the log.

    Most events have one. Rows inside a payload have its offset; there are texts of several tables.
    """

    def __init__(self, statements: Sequence[_Statements]) -> None:
        self._statements = statements
        positions, rows, self.addresses, self.lengths, self._by_reference = (
            np.concatenate([getattr(each, name) for each in statements])
            for name in ("positions", "rows", "addresses", "lengths", "by_reference")
        )
        if len(statements) > 1:
            order = np.lexsort((rows, positions))
            positions, self.addresses, self.lengths = positions[order], self.addresses[order], self.lengths[order]
            self._by_reference = self._by_reference[order]
        self.positions: Numbers = positions
        self.last = int(positions[-1])

    @cached_property
    def by_reference(self) -> npt.NDArray[np.bool_]:
        """Which texts are not all that is to be written of their events."""
        repeated = np.flatnonzero(self.positions[1:] == self.positions[:-1])
        found = self._by_reference.copy()
        found[repeated] = found[repeated + 1] = True
        return found

    def text(self, offset: int, *, undo: bool) -> Text:
        """Return the statements of an event, none if it is not selected."""
        first, last = (int(np.searchsorted(self.positions, offset, side)) for side in ("left", "right"))
        if self._by_reference[first:last].any():
            return BY_REFERENCE
        texts = zip(self.addresses[first:last].tolist(), self.lengths[first:last].tolist(), strict=True)
        found = [string_at(address, length) for address, length in texts]
        return b"".join(reversed(found) if undo else found)


class _Statements:
    """The statements of the rows of a batch: the numbers for the kernel that writes them, and what they point to.

    Rows of events at the positions `by_reference` are left to Python.

    positions      for each text, which is of consecutive rows of an event, the offset of the event
    rows           the number of its first row in the event
    addresses      where it is, and
    lengths        how many bytes
    by_reference   whether it lacks rows that Python must write
    """

    def __init__(self, found: TableBatch, options: ScriptOptions, by_reference: Numbers | None) -> None:
        undo = options.undo
        texts = table_texts(found.table, undo=undo)
        self._undo, self._count = undo, found.batch.num_rows
        self._numbers = numbers = np.zeros(Statements.WIDTH, dtype=np.int64)
        self._arrays: list[npt.NDArray[Any]] = []
        self._kept: list[RowFields] = []
        self._by_reference = np.full(self._count, statements_of(found.table).by_row)
        if by_reference is not None:
            self._by_reference |= np.isin(found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False), by_reference)
        numbers[ChangedRows.ROWS], numbers[Statements.UNDO] = self._count, undo
        numbers[Statements.GUARDED] = options.guarded
        numbers[Statements.INSERT_ALL : Statements.GUARDED] = texts.statements.words.reshape(-1)
        self._describe_images(found)
        size = self._describe_values(found)
        self._point(Statements.BY_REFERENCE, self._by_reference)
        row_room = 2 * SLACK + texts.row_bytes
        self._output = Output(numbers[ChangedRows.AT : ChangedRows.NEW], self._count, 2 * size + row_room, row_room)
        write_all(write_statements, numbers, self._output)
        self._describe_texts(found)

    def _describe_texts(self, found: TableBatch) -> None:
        """Find the statements of consecutive rows of an event; those of an undo are written from the last row on."""
        positions, rows = (
            found.origin(name).to_numpy(zero_copy_only=False) for name in (Metadata.LOG_POS, Metadata.LOG_ROW)
        )
        offsets, text = self._output.taken()
        follows = (np.diff(positions) == 0) & (np.diff(rows) == 1)
        starts = np.append(0, np.flatnonzero(~follows) + 1)
        ends = np.append(starts[1:], self._count)
        first, last = (self._count - ends, self._count - starts) if self._undo else (starts, ends)
        self.positions, self.rows = positions[starts], rows[starts]
        self.addresses = offsets[first].astype(np.int64) + text.address
        self.lengths = offsets[last].astype(np.int64) - offsets[first]
        self.by_reference = np.logical_or.reduceat(self._by_reference, starts)

    def _describe_images(self, found: TableBatch) -> None:
        """Describe which columns rows have."""
        if found.images is not None and not found.images.complete:
            self._point(ChangedRows.IMAGES, found.images.numbers)
            self._point(ChangedRows.BEFORE_PRESENT, found.images.before.astype(np.uint8))
            self._point(ChangedRows.AFTER_PRESENT, found.images.after.astype(np.uint8))

    def _describe_values(self, found: TableBatch) -> int:
        """Describe the values of rows; return about how many bytes they take."""
        numbers, table = self._numbers, found.table
        numbers[ChangedRows.FIELD_COUNT], numbers[ChangedRows.KEY_COUNT] = (
            len(table.columns),
            len(table.primary_key or ()),
        )
        self._point(ChangedRows.KEY, np.array(table.primary_key or (), dtype=np.int64))
        operations = found.origin(Metadata.OP).indices.to_numpy(zero_copy_only=False)
        self._point(ChangedRows.OPERATIONS, operations.astype(np.int32, copy=False))
        size = self._describe_rows(ChangedRows.NEW, found, found.values)
        if (operations == Operation.UPDATE).any():
            before = found.before
            size += self._describe_rows(
                ChangedRows.OLD, found, [before.field(index) for index in range(before.type.num_fields)]
            )
        return size

    def _describe_rows(self, number: ChangedRows, found: TableBatch, arrays: Sequence[pa.Array]) -> int:
        fields = RowFields(found.table, arrays, undo=self._undo)
        self._kept.append(fields)
        self._point(number, fields.numbers)
        for column, array in zip(found.table.columns, arrays, strict=True):
            if column.type is ColumnType.ENUM:  # a strict server refuses the value 0
                self._by_reference |= array.fill_null(1).to_numpy(zero_copy_only=False) == 0
        return fields.bytes

    def _point(self, number: ChangedRows | Statements, array: npt.NDArray[Any]) -> None:
        kept = np.ascontiguousarray(array)
        self._arrays.append(kept)
        self._numbers[number] = kept.ctypes.data
