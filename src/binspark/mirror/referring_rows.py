"""Rows that a foreign key changes: the values that they referred to, and such rows in the log and in the mirror.

Each search is a job that can be sent to executors. Where a search cannot be certain, its result is None: then whoever
asks copies the table again. To find more rows than there are is never wrong, only more work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata import Metadata
from binspark.columns.options import ColumnOptions
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.errors import DecodeError, SchemaError
from binspark.event import RowOperation
from binspark.event.column_types import ColumnType as T
from binspark.kernels import cache as kernel_cache
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves import has_moves
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.records.format import OP, RecordOp
from binspark.mirror.runners.runner import TableWork, records_of_rows
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.source.change_source import ReadTask
from binspark.schema.collations import collation_number
from binspark.schema.foreign_keys import ForeignKey, RowChange
from binspark.schema.history import SchemaHistory
from binspark.spark.streaming.part_reader import reader_of
from binspark.values.charsets import charset_of
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.options import Undecodable

MAX_ROWS = 1 << 20
"""How many rows are looked for, and read again: more are a copy of the table."""

Mask = npt.NDArray[np.bool_]
Found: TypeAlias = "pa.Table | None"

_OPERATIONS = {RowOperation.DELETE: RowChange.DELETE, RowOperation.UPDATE: RowChange.UPDATE}
_TEXTS = frozenset({T.STRING, T.VARCHAR, T.VAR_STRING})
_INEXACT = frozenset({T.ENUM, T.SET, T.FLOAT, T.DOUBLE})
_SIMPLE: tuple[str, ...] = (
    "bin",
    "nopad_bin",
    "0900_bin",
    "swedish_ci",
    "swedish_nopad_ci",
    "general_ci",
    "general_nopad_ci",
)
_SIMPLE += ("unicode_ci", "unicode_nopad_ci", "unicode_520_ci", "unicode_520_nopad_ci")
_SIMPLE += tuple(f"0900_{kind}" for kind in ("ai_ci", "as_ci", "as_cs"))
_SIMPLE += tuple(f"uca1400_{pad}{kind}" for pad in ("", "nopad_") for kind in ("ai_ci", "ai_cs", "as_ci", "as_cs"))
_SWEDISH = frozenset({"latin1"})
_PRINTABLE = r"^[\x20-\x7e]*$"


@dataclass(frozen=True, slots=True)
class ChangedParents:
    """Finds the rows of tables that a part of the log deletes, or in which it updates columns that others refer to."""

    read: ReadTask
    keys: tuple[ForeignKey, ...]
    options: ColumnOptions

    def __call__(self) -> list[tuple[ForeignKey, RowChange, Found]]:
        """Return the values that the foreign keys refer to and that are no longer there; None if they are not known."""
        kernel_cache.enable()
        found = {(key, change): _Values() for key in self.keys for change in RowChange if key.action(change)}
        by_parent: dict[str, list[ForeignKey]] = {}
        for key in self.keys:
            by_parent.setdefault(str(key.parent), []).append(key)
        selection = Selection(
            tables=frozenset(by_parent),
            operations=Operations.UPDATE | Operations.DELETE,
            before=True,
            metadata_columns=frozenset({Metadata.OP}),
            images=True,
            diffs=True,
            options=replace(self.options, undecodable=Undecodable.REPLACE),
        )

        def make(history: SchemaHistory) -> BatchReader:
            return BatchReader(selection, history)

        try:
            for batch in reader_of(self.read.part, self.read.history).batches(self.read.part, make):
                for key in by_parent.get(batch.table.name, ()):
                    for change, values in _lost_values(batch, key):
                        if (key, change) in found:
                            found[key, change].add(values)
        except (SchemaError, DecodeError):  # of a table that may not be mirrored; where it is, that is an error later
            return [(key, change, None) for key, change in found]
        return [(key, change, values.table) for (key, change), values in found.items() if not values.is_empty]


class _Values:
    """Values of some columns, each once; None if they are not known, or too many."""

    def __init__(self) -> None:
        self._batches: list[pa.Table] = []
        self._rows = 0
        self._is_known = True

    @property
    def is_empty(self) -> bool:
        return self._is_known and not self._rows

    @property
    def table(self) -> Found:
        return distinct(pa.concat_tables(self._batches)) if self._is_known else None

    def add(self, values: Found) -> None:
        if values is None:
            self._is_known, self._batches = False, []
        elif self._is_known and values.num_rows:
            self._batches.append(values)
            self._rows += values.num_rows
            if self._rows > MAX_ROWS:
                unique = distinct(pa.concat_tables(self._batches))
                self._batches, self._rows = [unique], unique.num_rows
                if self._rows > MAX_ROWS:
                    self.add(None)


def distinct(values: pa.Table) -> pa.Table:
    """Return rows, each once."""
    try:
        return values.group_by(values.column_names).aggregate([])
    except pa.ArrowException:  # a type that cannot be grouped
        return values


def _lost_values(found: TableBatch, key: ForeignKey) -> Iterator[tuple[RowChange, Found]]:
    """Yield the old values of the columns that a foreign key refers to, of deleted rows and of updated ones."""
    operations = found.origin(Metadata.OP).dictionary_decode()
    names = {name.lower(): index for index, name in enumerate(found.table.column_names)}
    indexes = [names.get(name.lower()) for name in key.referenced]
    for operation, change in _OPERATIONS.items():
        is_chosen = _flags(pc.equal(operations, operation))
        if not is_chosen.any():
            continue
        if found.images is None or None in indexes:
            yield change, None
            continue
        known = [index for index in indexes if index is not None]
        try:
            yield change, _old_values(found, known, is_chosen, change)
        except pa.ArrowException:  # a type that cannot be compared
            yield change, None


def _old_values(found: TableBatch, indexes: Sequence[int], is_chosen: Mask, change: RowChange) -> Found:
    images = found.images
    assert images is not None
    old = found.before.flatten()
    if change is RowChange.UPDATE:
        is_changed = np.zeros(len(is_chosen), np.bool_)
        for index in indexes:
            is_changed |= images.after[images.numbers, index] & _differ(old[index], found.values[index])
        is_chosen = is_chosen & is_changed
    has_old: Mask = np.logical_and.reduce(images.before[:, list(indexes)], axis=1)
    if not has_old[images.numbers][is_chosen].all():
        return None  # binlog_row_image=MINIMAL: the log has the primary key alone
    arrays = [old[index].filter(pa.array(is_chosen)) for index in indexes]
    return pa.table(arrays, names=[str(number) for number in range(len(arrays))])


def _differ(one: pa.Array, other: pa.Array) -> Mask:
    is_null = pc.and_(pc.is_null(one), pc.is_null(other))
    return _flags(pc.and_(pc.invert(is_null), pc.fill_null(pc.not_equal(one, other), fill_value=True)))


@dataclass(frozen=True, slots=True)
class Referring:
    """Which rows of a mirrored table refer to some values: by one column after the other, which may find too many.

    folded   the columns whose text is compared without regard to case and spaces at the end
    """

    columns: tuple[str, ...]
    values: tuple[pa.Array, ...]
    folded: tuple[bool, ...]

    @classmethod
    def to(cls, table: MirroredTable, key: ForeignKey, values: pa.Table) -> Referring | None:
        """Return the search for rows of a table; None if values of its columns cannot be compared here."""
        names = map(str.lower, table.source.column_names)
        sources = dict(zip(names, table.source.columns, strict=True))
        fields = {field.name.lower(): field for field in table.schema}
        if not {name.lower() for name in key.columns} <= fields.keys():
            return None
        chosen = [fields[name.lower()] for name in key.columns]
        parts = [
            _comparable(sources[field.name.lower()], field.type, array)
            for field, array in zip(chosen, values.columns, strict=True)
        ]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return cls(tuple(field.name for field in chosen), *map(tuple, zip(*known, strict=True)))

    def among(self, rows: pa.RecordBatch) -> pa.Array:
        """Return which rows do."""
        found = np.ones(rows.num_rows, np.bool_)
        for name, values, is_folded in zip(self.columns, self.values, self.folded, strict=True):
            column = rows.column(name)
            if is_folded:
                is_other = pc.invert(pc.match_substring_regex(column, _PRINTABLE))
                found &= _flags(pc.or_kleene(pc.is_in(_fold(column), values, skip_nulls=True), is_other))
            else:
                found &= _flags(pc.is_in(column, values, skip_nulls=True))
        return pa.array(found)


def _comparable(column: Column, kind: pa.DataType, values: pa.ChunkedArray) -> tuple[pa.Array, bool] | None:
    """Return values in the type of a mirrored column, and whether they are folded; None if they cannot be compared.

    Letters of a collation may be equal that differ here. In those on the list, printable ASCII differs in its case
    alone; all other texts of rows count as equal.
    """
    if column.type in _INEXACT or pa.types.is_nested(kind) or (pa.types.is_temporal(kind) and values.null_count):
        return None
    try:
        own = pc.drop_null(values.combine_chunks().cast(kind))
    except pa.ArrowException:
        return None
    is_text = column.type in _TEXTS and column.notation is None and column.collation != BINARY_COLLATION
    if not is_text:
        return own, False
    is_plain = pa.types.is_string(kind) and pc.all(pc.match_substring_regex(own, _PRINTABLE), min_count=0).as_py()
    if column.collation not in _simple_collations() or not is_plain:
        return None
    return _fold(own), True


def _fold(text: pa.Array) -> pa.Array:
    return pc.ascii_lower(pc.ascii_rtrim(text, characters=" "))


@cache
def _simple_collations() -> frozenset[int | None]:
    """Return the numbers of collations in which printable ASCII differs in its case alone."""
    charsets = ("utf8mb4", "utf8mb3", "latin1", "ascii", "ucs2", "utf16", "utf32")
    names = [
        f"{charset}_{suffix}"
        for charset in charsets
        for suffix in _SIMPLE
        if charset in _SWEDISH or not suffix.startswith("swedish")
    ]
    numbers = {collation_number(name, mariadb=is_mariadb) for name in names for is_mariadb in (False, True)}
    return frozenset(number for number in numbers if number is not None and charset_of(number) in charsets)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Finds rows in data files of the mirror."""

    files: tuple[DataFile, ...]
    directory: TableDirectory
    table: MirroredTable
    search: Referring
    columns: tuple[str, ...]

    def __call__(self) -> Found:
        """Return some columns of the rows; None if they are too many."""
        reader = LeafReader(self.directory, self.table)
        names = list(dict.fromkeys((*self.columns, *self.search.columns)))
        batches = (batch for file in self.files for batch in reader.columns(file, names))
        return _some(batches, self.search, self.columns)


@dataclass(frozen=True, slots=True)
class LoggedRows:
    """Finds rows that a part of the log inserts or updates."""

    read: ReadTask
    work: TableWork
    search: Referring
    columns: tuple[str, ...]

    def __call__(self) -> Found:
        """Return some columns of the rows; None if they are too many, or some of them moved to other keys."""
        kernel_cache.enable()
        records = (batch for _, batch in records_of_rows([self.read], [self.work]))
        try:
            return _some(map(_put_rows, records), self.search, self.columns)
        except _Moved:
            return None


class _Moved(Exception):
    """Rows moved to other keys, and the log has only some of their columns: the others are not known here."""


def _put_rows(records: pa.RecordBatch) -> pa.RecordBatch:
    if has_moves(records):
        raise _Moved
    return records.filter(pc.not_equal(records.column(OP), int(RecordOp.DELETE)))


def _some(batches: Iterator[pa.RecordBatch], search: Referring, columns: Sequence[str]) -> Found:
    found: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        chosen = batch.filter(search.among(batch)).select(list(columns))
        rows += chosen.num_rows
        if rows > MAX_ROWS:
            return None
        if chosen.num_rows:
            found.append(chosen)
    return pa.Table.from_batches(found) if found else pa.table({})


def _flags(array: pa.Array) -> Mask:
    flags: Mask = array.fill_null(False).to_numpy(zero_copy_only=False)
    return flags
