"""The statements of rows events in bulk: batches of exact rows into texts, by the offsets of their events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

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
from binspark.kernels.objects.layout import SLACK
from binspark.kernels.sql.layout import Statements
from binspark.kernels.sql.statements import write_statements
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.sql.row_fields import Numbers, RowFields, table_texts


class ByReference(Enum):
    """The answer for an event whose rows are written one at a time."""

    BY_REFERENCE = "by reference"


BY_REFERENCE = ByReference.BY_REFERENCE
Text = bytes | ByReference


class RowTexts:
    """The statements of one log after the other, asked for in the order of the log."""

    def __init__(self, selection: Selection, history: SchemaHistory, *, undo: bool) -> None:
        cache.enable()
        wanted = replace(selection, operations=selection.operations & ~Operations.TRUNCATE).with_complete_rows()
        options = replace(wanted.options, exact=True, time=TimeFormat.STRING)
        own_history = SchemaHistory(history.base, lower_case_names=history.lower_case_names)
        self._reader = BatchReader(replace(wanted, options=options), own_history)
        self._undo = undo
        self._file = ""
        self._windows: Iterator[list[TableBatch]] = iter(())
        self._texts: dict[int, Text] = {}
        self._last = -1

    @property
    def tables(self) -> set[str]:
        """The names of all tables that were seen, selected or not."""
        return self._reader.tables.seen

    def begin(self, source: LogSource) -> None:
        """Begin a log file."""
        self._windows = by_window(source_batches(source, self._reader))
        self._texts, self._last, self._file = {}, -1, source.name

    def at(self, offset: int) -> Text:
        """Return the statements of a rows event, none if it is not selected."""
        while self._last < offset:
            group = next(self._windows, None)
            if group is None:
                break
            self._texts = dict(self._written(group))
            self._last = max(self._texts, default=self._last)
        return self._texts.get(offset, b"")

    def _written(self, group: Iterable[TableBatch]) -> Iterator[tuple[int, Text]]:
        for found in group:
            positions: Numbers = found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False)
            try:
                texts = _Statements(found, undo=self._undo)
            except SchemaError as error:
                raise error.at(Position(self._file, int(positions[0]))) from None
            starts = np.flatnonzero(np.diff(positions, prepend=-1))
            yield from zip(positions[starts].tolist(), texts.of_events(starts), strict=True)


class _Statements:
    """The statements of the rows of a batch: the numbers for the kernel that writes them, and what they point to."""

    def __init__(self, found: TableBatch, *, undo: bool) -> None:
        texts = table_texts(found.table)
        self._undo, self._count = undo, found.batch.num_rows
        self._numbers = numbers = np.zeros(Statements.WIDTH, dtype=np.int64)
        self._arrays: list[npt.NDArray[Any]] = []
        self._kept: list[RowFields] = []
        self._by_reference = np.zeros(self._count, dtype=np.bool_)
        numbers[Statements.ROWS], numbers[Statements.UNDO] = self._count, undo
        numbers[Statements.INSERT_ALL : Statements.WIDTH] = texts.statements.words.reshape(-1)
        self._describe_images(found)
        size = self._describe_values(found)
        self._point(Statements.BY_REFERENCE, self._by_reference)
        row_room = 2 * SLACK + texts.row_bytes
        self._output = Output(numbers[Statements.AT : Statements.NEW], self._count, 2 * size + row_room, row_room)
        write_all(write_statements, numbers, self._output)

    def of_events(self, starts: Numbers) -> Iterator[Text]:
        """Yield the statements of the events whose rows begin at `starts`; those of an undo, the last row first."""
        offsets, text = self._output.taken()
        content = memoryview(text)
        by_reference = np.logical_or.reduceat(self._by_reference, starts)
        ends = np.append(starts[1:], self._count)
        first, last = (self._count - ends, self._count - starts) if self._undo else (starts, ends)
        bounds = zip(offsets[first].tolist(), offsets[last].tolist(), by_reference.tolist(), strict=True)
        for begin, end, is_by_reference in bounds:
            yield BY_REFERENCE if is_by_reference else bytes(content[begin:end])

    def _describe_images(self, found: TableBatch) -> None:
        """Describe which columns rows have."""
        if found.images is not None and not found.images.complete:
            self._point(Statements.IMAGES, found.images.numbers)
            self._point(Statements.BEFORE_PRESENT, found.images.before.astype(np.uint8))
            self._point(Statements.AFTER_PRESENT, found.images.after.astype(np.uint8))

    def _describe_values(self, found: TableBatch) -> int:
        """Describe the values of rows; return about how many bytes they take."""
        numbers, table = self._numbers, found.table
        numbers[Statements.FIELD_COUNT], numbers[Statements.KEY_COUNT] = (
            len(table.columns),
            len(table.primary_key or ()),
        )
        self._point(Statements.KEY, np.array(table.primary_key or (), dtype=np.int64))
        operations = found.origin(Metadata.OP).indices.to_numpy(zero_copy_only=False)
        self._point(Statements.OPERATIONS, operations.astype(np.int32, copy=False))
        size = self._describe_rows(Statements.NEW, found, found.values)
        if (operations == Operation.UPDATE).any():
            before = found.before
            size += self._describe_rows(
                Statements.OLD, found, [before.field(index) for index in range(before.type.num_fields)]
            )
        return size

    def _describe_rows(self, number: Statements, found: TableBatch, arrays: Sequence[pa.Array]) -> int:
        fields = RowFields(found.table, arrays)
        self._kept.append(fields)
        self._point(number, fields.numbers)
        for column, array in zip(found.table.columns, arrays, strict=True):
            if column.type is ColumnType.ENUM:  # a strict server refuses the value 0
                self._by_reference |= array.fill_null(1).to_numpy(zero_copy_only=False) == 0
        return fields.bytes

    def _point(self, number: Statements, array: npt.NDArray[Any]) -> None:
        kept = np.ascontiguousarray(array)
        self._arrays.append(kept)
        self._numbers[number] = kept.ctypes.data
