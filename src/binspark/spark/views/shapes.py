"""Typed tables in the forms of other tools, so that jobs that were written for those need no change.

debezium  a change event: `key`, `before`, `after`, `source`, `op` (c, u, d, r, t), `ts_ms`
cdf       Delta's change data feed: the table's columns, `_change_type`, `_commit_version`, `_commit_timestamp`

In both, an update that changes the primary key is a delete of the old key and an insert of the new one, because jobs
find rows by their keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType, TimestampType

from binspark.columns.metadata import BEFORE, Metadata
from binspark.columns.sequence import REPEATED_ROW, ROWS_PER_BYTE
from binspark.errors import OptionError, Unsupported
from binspark.position import Position
from binspark.schema.table import TableSchema
from binspark.spark.options import Shape, SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.schemas import arrow_schema, table_schema

if TYPE_CHECKING:
    from binspark.spark.views.base import LogReader, ViewReader

_PREFIX = "__binspark_"
"""What metadata columns are called on the way: the forms have names of their own."""

_CDF_FIELDS: dict[str, DataType] = {
    "_change_type": StringType(),
    "_commit_version": LongType(),
    "_commit_timestamp": TimestampType(),
}
_SOURCE: dict[str, DataType] = {
    "version": StringType(),
    "connector": StringType(),
    "name": StringType(),
    "ts_ms": LongType(),
    "snapshot": StringType(),
    "db": StringType(),
    "sequence": StringType(),
    "table": StringType(),
    "server_id": LongType(),
    "gtid": StringType(),
    "file": StringType(),
    "pos": LongType(),
    "row": IntegerType(),
    "thread": LongType(),
    "query": StringType(),
}
_LETTERS = {"insert": "c", "update": "u", "delete": "d", "truncate": "t", "snapshot": "r"}
_VERSION = "1"

Flags = npt.NDArray[np.bool_]
Indexes = npt.NDArray[np.int64]


# --- Schemas ----------------------------------------------------------------------------------------------------------


def shaped_schema(table: TableSchema, options: SourceOptions) -> StructType:
    """Return the schema of a table in a form."""
    columns = _columns(table, options)
    if options.shape is Shape.CDF:
        taken = [field.name for field in columns if field.name.lower() in _CDF_FIELDS]
        if taken:
            message = f"cdf has a column {taken[0]} of its own, which {table.name} has, too; use debezium"
            raise OptionError(message, option="shape")
        return StructType([*columns, *_fields(_CDF_FIELDS)])
    key = [field for field in columns if field.name in _key_names(table)]
    images = [StructField(name, StructType(columns)) for name in ("before", "after")]
    source = StructField("source", StructType(_fields(_SOURCE)))
    keys = [StructField("key", StructType(key))] if key else []
    return StructType([*keys, *images, source, StructField("op", StringType()), StructField("ts_ms", LongType())])


def check_shaped(schema: StructType, table: TableSchema, options: SourceOptions) -> None:
    """Refuse columns that a form does not have."""
    known = shaped_schema(table, options).names
    unknown = [name for name in schema.names if name not in known]
    if unknown:
        raise OptionError(f"{options.shape} has no column {unknown[0]!r}; it has {', '.join(known)}", option="shape")


def _fields(types: dict[str, DataType]) -> list[StructField]:
    return [StructField(name, kind) for name, kind in types.items()]


def _columns(table: TableSchema, options: SourceOptions) -> list[StructField]:
    return [field for field in table_schema(table, _inner(options)) if not field.name.startswith(_PREFIX)]


def _inner(options: SourceOptions) -> SourceOptions:
    """Return the options of the typed table that a form is made of."""
    selection = replace(options.selection, metadata_prefix=_PREFIX, before=True, absent=False)
    return replace(options, shape=Shape.ROWS, selection=selection)


def _key_names(table: TableSchema) -> tuple[str, ...]:
    return tuple(table.column_names[index] for index in table.primary_key or ())


# --- Rows -------------------------------------------------------------------------------------------------------------


class ShapedView:
    """Makes a form of the rows of a typed table."""

    def __init__(self, options: SourceOptions, schema: StructType, version: SchemaVersion) -> None:
        from binspark.spark.views.table import TableView  # loads kernels, which planning need not wait for

        self._shape = options.shape
        self._target = arrow_schema(schema)
        self._table = version.table
        columns = _columns(version.table, options)
        if options.shape is Shape.CDF:  # a narrower schema needs fewer columns, and the key
            needed = {*schema.names, *_key_names(version.table)}
            columns = [field for field in columns if field.name in needed]
        self._names = [field.name for field in columns]
        inner = table_schema(version.table, _inner(options))
        metadata = [field for field in inner if field.name.startswith(_PREFIX) and field.name != _named(BEFORE)]
        rows = StructType([*metadata, *columns, StructField(_named(BEFORE), StructType(columns))])
        self._view: ViewReader = TableView(_inner(options), arrow_schema(rows), version)

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part of the logs."""
        for batch in self._view.read(part, reader):
            if batch.num_rows:
                changes = _Changes(batch, self._names, _key_names(self._table))
                arrays = self._cdf(changes) if self._shape is Shape.CDF else self._debezium(changes)
                yield pa.RecordBatch.from_arrays([arrays[name] for name in self._target.names], schema=self._target)

    def _cdf(self, changes: _Changes) -> dict[str, pa.Array]:
        """Return pre- and postimages of updates as rows of their own."""
        if changes.is_truncate.any():
            message = f"shape=cdf cannot express that {self._table.name} was emptied by TRUNCATE or DROP TABLE"
            advice = "operations=insert,update,delete skips it, shape=debezium has it as op t"
            raise Unsupported(f"{message}; {advice}", changes.position(int(np.argmax(changes.is_truncate))))
        split = changes.split(changes.is_update)
        arrays = {name: split.taken(changes.columns[name], changes.before(name)) for name in self._names}
        arrays["_change_type"] = _chosen(
            ("insert", "update_preimage", "update_postimage", "delete"),
            [
                split.of(changes.is_insert) | (split.of(changes.is_moved) & split.is_second),
                split.of(changes.is_update & ~changes.is_moved) & ~split.is_second,
                split.of(changes.is_update & ~changes.is_moved) & split.is_second,
                split.of(changes.is_delete) | (split.of(changes.is_moved) & ~split.is_second),
            ],
        )
        arrays["_commit_version"] = commit_versions(changes.metadata(Metadata.SEQ)).take(split.rows)
        arrays["_commit_timestamp"] = changes.metadata(Metadata.COMMIT_TIME).take(split.rows)
        return arrays

    def _debezium(self, changes: _Changes) -> dict[str, pa.Array]:
        """Return change events. Only an update that moves the key is two of them."""
        split = changes.split(changes.is_moved)
        moved = split.of(changes.is_moved)
        gone = split.of(changes.is_delete) | (moved & ~split.is_second)
        new = split.of(changes.is_insert) | (moved & split.is_second)
        emptied = split.of(changes.is_truncate)
        letters = changes.letters().take(split.rows)
        letters = pc.if_else(pa.array(moved), pc.if_else(pa.array(split.is_second), "c", "d"), letters)
        after = [changes.columns[name].take(split.rows) for name in self._names]
        before = [changes.before(name).take(split.rows) for name in self._names]
        arrays = {
            "before": _struct(self._names, before, new | emptied),
            "after": _struct(self._names, after, gone | emptied),
            "source": self._source(changes, split.rows),
            "op": letters,
            "ts_ms": _milliseconds(changes.metadata(Metadata.COMMIT_TIME)).take(split.rows),
        }
        keys = _key_names(self._table)
        if keys:
            old = changes.metadata(Metadata.KEY)
            parts = [
                pc.if_else(pa.array(gone), old.field(index).take(split.rows), changes.columns[name].take(split.rows))
                for index, name in enumerate(keys)
            ]
            arrays["key"] = self._keys(keys, parts, emptied)
        return arrays

    def _keys(self, keys: Sequence[str], parts: list[pa.Array], emptied: Flags) -> pa.Array:
        """Return keys with their columns in the order of the table."""
        ordered = [name for name in self._names if name in keys]
        return _struct(ordered, [parts[keys.index(name)] for name in ordered], emptied)

    def _source(self, changes: _Changes, rows: pa.Array) -> pa.Array:
        count = len(rows)
        times = changes.metadata(Metadata.COMMIT_TIME)
        made = {
            "version": pa.repeat(_VERSION, count),
            "connector": pa.repeat("mysql", count),
            "name": pa.repeat("binspark", count),
            "ts_ms": _milliseconds(times).take(rows),
            "snapshot": pa.repeat("false", count),
            "db": pa.repeat(self._table.schema, count),
            "sequence": changes.metadata(Metadata.SEQ).take(rows),
            "table": pa.repeat(self._table.table, count),
            "server_id": changes.metadata(Metadata.SERVER_ID).take(rows),
            "gtid": changes.metadata(Metadata.GTID).take(rows),
            "file": changes.metadata(Metadata.LOG_FILE).take(rows),
            "pos": changes.metadata(Metadata.LOG_POS).take(rows),
            "row": changes.metadata(Metadata.LOG_ROW).take(rows),
            "thread": pa.nulls(count, pa.int64()),
            "query": pa.nulls(count, pa.string()),
        }
        return _struct(list(_SOURCE), [made[name] for name in _SOURCE], np.zeros(count, dtype=np.bool_))


class _Changes:
    """A batch of a typed table, with what was done to each row."""

    def __init__(self, batch: pa.RecordBatch, names: Sequence[str], key: Sequence[str]) -> None:
        self._batch = batch
        self._before: pa.StructArray = batch.column(_named(BEFORE))
        self.columns = {name: batch.column(name) for name in names}
        self._operations = self.metadata(Metadata.OP)
        self.is_insert = self._are("insert") | self._are("snapshot")
        self.is_update, self.is_delete, self.is_truncate = map(self._are, ("update", "delete", "truncate"))
        self.is_moved = self.is_update & self._differs(key) if key else np.zeros_like(self.is_update)

    def metadata(self, name: Metadata) -> pa.Array:
        """Return a metadata column."""
        return self._batch.column(_named(name))

    def before(self, name: str) -> pa.Array:
        """Return the old values of a column; those of the row itself where it was deleted."""
        return self._before.field(name)

    def letters(self) -> pa.Array:
        """Return what was done as Debezium writes it."""
        codes = pc.index_in(self._operations, value_set=pa.array(list(_LETTERS)))
        return pa.array(list(_LETTERS.values())).take(codes)

    def position(self, row: int) -> Position:
        """Return the position of a row, for an error."""
        file, offset = (self.metadata(name)[row].as_py() for name in (Metadata.LOG_FILE, Metadata.LOG_POS))
        return Position(file=file, offset=offset)

    def split(self, which: Flags) -> _Split:
        """Make two rows of some."""
        rows = np.repeat(np.arange(len(which)), 1 + which)
        is_second = np.zeros(len(rows), dtype=np.bool_)
        is_second[1:] = rows[1:] == rows[:-1]
        return _Split(rows, is_second, which)

    def _are(self, operation: str) -> Flags:
        return _flags(pc.equal(self._operations, operation))

    def _differs(self, key: Sequence[str]) -> Flags:
        """Return whether the key before the change is another one, where it is known."""
        old: pa.StructArray = self.metadata(Metadata.KEY)
        differs = np.zeros(len(old), dtype=np.bool_)
        for index, name in enumerate(key):
            differs |= _flags(pc.not_equal(old.field(index), self.columns[name]))
        return differs & _flags(old.is_valid())


@dataclass(frozen=True)
class _Split:
    """Rows of a batch, of which some come twice: first as they were, then as they are."""

    indexes: Indexes
    is_second: Flags
    which: Flags

    @property
    def rows(self) -> pa.Array:
        """The row of the batch that each is made of."""
        return pa.array(self.indexes)

    def of(self, flags: Flags) -> Flags:
        """Return what is true of the rows of the batch, for these."""
        return flags[self.indexes]

    def taken(self, now: pa.Array, old: pa.Array) -> pa.Array:
        """Return a column: the old value where a row comes first of two."""
        if not self.which.any():
            return now
        is_old = self.of(self.which) & ~self.is_second
        return pa.concat_arrays([now, old]).take(pa.array(np.where(is_old, self.indexes + len(now), self.indexes)))


def _named(name: str) -> str:
    return f"{_PREFIX}{name}"


def _flags(array: pa.Array) -> Flags:
    flags: Flags = array.fill_null(False).to_numpy(zero_copy_only=False)
    return flags


def _chosen(words: Sequence[str], flags: Sequence[Flags]) -> pa.Array:
    """Return for each row the word whose flag it has."""
    codes = np.argmax(np.stack(flags), axis=0).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words)).dictionary_decode()


def _struct(names: Sequence[str], arrays: Sequence[pa.Array], is_null: Flags) -> pa.Array:
    fields = [pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)]
    return pa.StructArray.from_arrays(list(arrays), fields=fields, mask=pa.array(is_null))


def _milliseconds(times: pa.Array) -> pa.Array:
    return pc.divide(times.cast(pa.int64()), 1000)


# --- The order of rows as a number of 64 bits -------------------------------------------------------------------------

_DIGITS = 32
_PARTS = {"epoch": slice(0, 4), "log": slice(4, 12), "position": slice(12, 24), "row": slice(24, 32)}
"""The digits of SEQ, see `columns.sequence`."""

_EPOCH_BITS, _LOG_BITS, _POSITION_BITS, _ROW_BITS = 6, 20, 33, ROWS_PER_BYTE.bit_length() - 1
_HEX = np.array([int(chr(code), 16) if chr(code) in "0123456789abcdef" else 0 for code in range(256)], dtype=np.uint8)


def commit_versions(sequence: pa.Array) -> pa.Array:
    """Return numbers in the order of SEQ: 6 bits of epoch, 20 of the log's number, 37 of position and row.

    A row takes at least a byte of its event, so that position times 16 plus row comes before the next event; in
    compressed events as long as a row takes a sixteenth of a byte, which keys alone exceed. Rows that another server
    repeats after a failover are spread over their range in the same measure.
    """
    offset = sequence.offset * _DIGITS
    text = np.frombuffer(sequence.buffers()[2], dtype=np.uint8)[offset : offset + len(sequence) * _DIGITS]
    digits = _HEX[text.reshape(-1, _DIGITS)]
    epoch, log, position, row = (_number_of(digits[:, part]) for part in _PARTS.values())
    row = np.where(row >= REPEATED_ROW, row - REPEATED_ROW, row)
    limits = (("epoch", epoch, _EPOCH_BITS), ("log", log, _LOG_BITS), ("position", position, _POSITION_BITS))
    for name, numbers, bits in limits:
        if len(numbers) and int(numbers.max()) >> bits:
            message = f"_commit_version has {bits} bits for the {name} of a row, which is {int(numbers.max())}"
            raise Unsupported(f"{message}; use the metadata column _seq, which has no such limit, without shape=cdf")
    return pa.array((((epoch << _LOG_BITS) + log) << (_POSITION_BITS + _ROW_BITS)) + (position << _ROW_BITS) + row)


def _number_of(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    number = np.zeros(len(digits), dtype=np.int64)
    for column in digits.T:
        number = number << 4 | column
    return number
