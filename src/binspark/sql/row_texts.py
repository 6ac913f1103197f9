"""The statements of rows events in bulk: batches of exact rows into texts, by the offsets of their events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata import Metadata
from binspark.columns.options import TimeFormat
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.event.rows import RowOperation
from binspark.files.batches import source_batches
from binspark.files.sources import LogSource
from binspark.files.windows import by_window
from binspark.kernels import cache
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.sql.literal_arrays import compared_array, key_array, literal_array, or_null
from binspark.sql.quoting import quoted_name
from binspark.sql.statements import TableStatements, statements_of

Rows = npt.NDArray[np.int64]


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
            positions: Rows = found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False)
            starts = np.flatnonzero(np.diff(positions, prepend=-1))
            try:
                texts = _texts(found, undo=self._undo)
            except SchemaError as error:
                raise error.at(Position(self._file, int(positions[0]))) from None
            offsets = positions[starts].tolist()
            if texts is None:
                yield from ((offset, BY_REFERENCE) for offset in offsets)
            else:
                yield from zip(offsets, _slices(texts, starts, reverse=self._undo), strict=True)


def _slices(texts: pa.Array, starts: Rows, *, reverse: bool) -> Iterator[bytes]:
    """Yield the texts of the rows from each start to the next; reversed, the last row comes first."""
    count = len(texts)
    if reverse:
        texts = texts.take(pa.array(np.arange(count - 1, -1, -1)))
    _, offset_buffer, data = texts.buffers()
    offsets = np.frombuffer(offset_buffer, dtype=np.int32)[texts.offset : texts.offset + count + 1]
    content = memoryview(b"" if data is None else data)
    ends = np.append(starts[1:], count)
    first, last = (count - ends, count - starts) if reverse else (starts, ends)
    for begin, end in zip(offsets[first].tolist(), offsets[last].tolist(), strict=True):
        yield bytes(content[begin:end])


def _texts(found: TableBatch, *, undo: bool) -> pa.Array | None:
    """Return the statement of each row; None if they are to be written one at a time."""
    table = found.table
    statements = statements_of(table)
    if any(column.is_document for column in table.columns):
        return None
    if found.images is not None and not found.images.complete:
        return None
    batch = _Batch(table, statements, found)
    if batch.has_lenient:
        return None
    names = found.origin(Metadata.OP)
    operations = names.indices.to_numpy(zero_copy_only=False)
    parts, numbers = [], []
    for operation in np.unique(operations).tolist():
        rows = np.flatnonzero(operations == operation)
        chosen = batch if len(rows) == len(operations) else batch.taken(rows)
        parts.append(chosen.statements(RowOperation(names.dictionary[operation].as_py()), undo=undo))
        numbers.append(rows)
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate(numbers), kind="stable")
    return pa.concat_arrays(parts).take(pa.array(order))


class _Batch:
    """Rows of a table: new ones, or deleted ones; and the old rows of updates."""

    def __init__(self, table: TableSchema, statements: TableStatements, found: TableBatch) -> None:
        self._table, self._statements = table, statements
        self._name = f"{quoted_name(table.schema)}.{quoted_name(table.table)}"
        self._new: list[pa.Array] = found.values
        self._old: list[pa.Array] = found.before.flatten()
        self._count = found.batch.num_rows

    def taken(self, rows: Rows) -> _Batch:
        """Return some of the rows."""
        part = object.__new__(_Batch)
        part._table, part._statements, part._name = self._table, self._statements, self._name
        chosen = pa.array(rows)
        part._new, part._old = ([array.take(chosen) for array in arrays] for arrays in (self._new, self._old))
        part._count = len(rows)
        return part

    @property
    def has_lenient(self) -> bool:
        """Whether a strict server refuses a value."""
        enums = [index for index, column in enumerate(self._table.columns) if column.type is ColumnType.ENUM]
        images = (self._new, self._old)
        return any(bool(pc.any(pc.equal(image[index], 0)).as_py()) for image in images for index in enums)

    def statements(self, operation: RowOperation, *, undo: bool) -> pa.Array:
        """Return the statement of each row."""
        if operation is RowOperation.UPDATE:
            return self._updates(*((self._new, self._old) if undo else (self._old, self._new)))
        is_insert = (operation is RowOperation.INSERT) is not undo
        return self._inserts() if is_insert else self._deletes()

    def _inserts(self) -> pa.Array:
        settable = self._statements.settable
        names = ", ".join(self._statements.columns[index].name for index in settable)
        values = pc.binary_join_element_wise(*(or_null(self._literals(self._new, index)) for index in settable), ", ")
        return self._joined(f"INSERT INTO {self._name} ({names}) VALUES (", values, ");\n")  # noqa: S608 (all is quoted)

    def _deletes(self) -> pa.Array:
        return self._joined(f"DELETE FROM {self._name} WHERE ", self._conditions(self._new, {}), ";\n")  # noqa: S608

    def _updates(self, current: list[pa.Array], wanted: list[pa.Array]) -> pa.Array:
        """Return what brings rows from their current to the wanted values; nothing for rows without a difference."""
        have: dict[int, pa.Array] = {}
        settings, differences = [], []
        for index in self._statements.settable:
            name = self._statements.columns[index].name
            have[index] = self._literals(current, index)
            literals = or_null(self._literals(wanted, index))
            differs = pc.not_equal(or_null(have[index]), literals)
            unchanged = f"{name} = {name}" if self._statements.columns[index].keeps_time else None
            setting = pc.binary_join_element_wise(f"{name} = ", literals, "")
            settings.append(pc.if_else(differs, setting, pa.scalar(unchanged, pa.string())))
            differences.append(differs)
        has_changed = reduce(pc.or_, differences)
        settings[0] = pc.if_else(has_changed, settings[0], "")  # Arrow skips a row of which all texts are NULL
        listed = pc.binary_join_element_wise(*settings, ", ", null_handling="skip")
        conditions = self._conditions(current, have)
        text = pc.binary_join_element_wise(f"UPDATE {self._name} SET ", listed, " WHERE ", conditions, ";\n", "")  # noqa: S608
        return pc.if_else(has_changed, text, "")

    def _conditions(self, image: list[pa.Array], known: dict[int, pa.Array]) -> pa.Array:
        columns, key = self._statements.columns, self._statements.key
        found = []
        for index in key or self._statements.settable:
            literals = known[index] if index in known else self._literals(image, index)
            if key:
                found.append(key_array(columns[index], literals))
            else:
                found.append(compared_array(self._table.columns[index], columns[index], image[index], literals))
        joined = found[0] if len(found) == 1 else pc.binary_join_element_wise(*found, " AND ")
        return joined if key else pc.binary_join_element_wise(joined, " LIMIT 1", "")

    def _literals(self, image: list[pa.Array], index: int) -> pa.Array:
        return literal_array(self._table.columns[index], self._statements.columns[index], image[index])

    def _joined(self, first: str, middle: pa.Array, last: str) -> pa.Array:
        return pc.binary_join_element_wise(first, middle, last, "")
