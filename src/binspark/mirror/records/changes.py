"""Rows of the log as change records of a mirrored table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata import Metadata
from binspark.columns.reader import TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.documents.conversion import Conversion, conversion
from binspark.errors import BinlogError, SchemaError
from binspark.event import RowOperation
from binspark.event.column_types import ColumnType as T
from binspark.mirror.records.format import RECORD_FIELDS, RecordOp, record_schema
from binspark.mirror.records.keys import key_bytes, row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import current_table
from binspark.schema.table import TableSchema

_METADATA = frozenset({Metadata.OP, Metadata.SEQ, Metadata.KEY, Metadata.LOG_FILE, Metadata.LOG_POS})
_ROWS = Operations.INSERT | Operations.UPDATE | Operations.DELETE
_ABSENT, _FROM = (field.type for field in RECORD_FIELDS[3:])
_BLOBS = frozenset({T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.BLOB_COMPRESSED})
Mask = npt.NDArray[np.bool_]


def selection_of(tables: Sequence[MirroredTable]) -> Selection:
    """Return what has to be decoded for records of these tables."""
    has_versions = any(table.has_versions for table in tables)
    return Selection(
        tables=frozenset(str(table.name) for table in tables),
        operations=Operations.ALL if has_versions else _ROWS,
        before=not all(_has_logged_key(table) for table in tables),
        metadata_columns=_METADATA | {Metadata.COMMIT_TIME} if has_versions else _METADATA,
        images=True,
        diffs=True,
        options=tables[0].options,
    )


def _has_logged_key(table: MirroredTable) -> bool:
    """Return whether the old key of a row is a metadata column: it is that of the primary key."""
    if table.has_versions:
        table = current_table(table)
    source = table.source
    return bool(table.key) and table.key == tuple(source.column_names[index] for index in source.primary_key or ())


class RecordMaker:
    """Makes records of the rows of one table, which has one schema in all of them."""

    def __init__(self, table: MirroredTable) -> None:
        self._table = table
        self._schema = record_schema(table.schema)
        self._known: dict[TableSchema, LogColumns] = {}

    def records(self, found: TableBatch) -> pa.RecordBatch:
        """Return the records of a batch, in the order of their changes for each key."""
        columns = self._known.get(found.table)
        if columns is None:
            columns = self._known[found.table] = LogColumns(self._table, found)
        rows = columns.converted(found, found.values)
        operations = found.origin(Metadata.OP).dictionary_decode()
        is_delete = _flags(pc.equal(operations, RowOperation.DELETE))
        is_update = _flags(pc.equal(operations, RowOperation.UPDATE))
        keys = self._keys(found, rows)
        seq = found.origin(Metadata.SEQ)
        absent = columns.absent(found, is_delete)
        if absent is not None and not self._table.key:
            rows, absent = columns.filled(found, rows, absent), None
            keys = self._keys(found, rows)
        ops = np.where(is_delete, RecordOp.DELETE, RecordOp.PUT).astype(np.int8)
        moved, old_keys = self._moves(found, columns, keys, is_update)
        if absent is not None:
            ops[_flags(absent.is_valid())] = RecordOp.MERGE
            is_unknown = columns.may_replace(found, moved) | columns.has_diffs(found)
            ops[(ops == RecordOp.MERGE) & is_update & is_unknown] = RecordOp.ORPHAN
        origin = None if absent is None else _origins(ops, moved, old_keys)
        batch = self._batch(keys, seq, ops, absent, origin, rows)
        if not moved.any():
            return batch
        return _interleaved(self._deletes(found, columns, old_keys, moved), batch, moved)

    def _keys(self, found: TableBatch, rows: list[pa.Array]) -> pa.Array:
        try:
            return row_keys(self._table, pa.RecordBatch.from_arrays(rows, schema=self._table.schema))
        except SchemaError as error:
            raise error.at(found.position()) from None

    def _moves(
        self, found: TableBatch, columns: LogColumns, keys: pa.Array, is_update: Mask
    ) -> tuple[Mask, pa.Array | None]:
        """Return which updates changed the key, and the old keys; a table without a key has the row as its key."""
        if not is_update.any():
            return is_update, None
        if columns.has_logged_key:
            old_keys = key_bytes(columns.key_parts(found))
        else:
            old_keys = self._old_keys(columns.converted(found, found.before.flatten()), is_update)
        if not self._table.key:
            return is_update, old_keys  # also if the mirror has the same of both rows: a copy goes, and another comes
        moved: Mask = is_update & _flags(pc.not_equal(old_keys, keys))
        return moved, old_keys

    def _old_keys(self, old: list[pa.Array], is_update: Mask) -> pa.Array:
        """Return the keys of before images; only updates have one of interest, and inserts have none."""
        rows = pa.RecordBatch.from_arrays(old, schema=self._table.schema)
        where = np.flatnonzero(is_update)
        keys = row_keys(self._table, rows.take(pa.array(where)))
        at = np.zeros(len(is_update), dtype=np.int64)
        at[where] = np.arange(len(where))
        return keys.take(pa.array(at))

    def _deletes(
        self, found: TableBatch, columns: LogColumns, old_keys: pa.Array | None, moved: Mask
    ) -> pa.RecordBatch:
        """Return the records that delete the old keys of rows that moved."""
        assert old_keys is not None
        where = pa.array(moved)
        count = int(moved.sum())
        rows = [pa.nulls(count, field.type) for field in self._table.schema]
        if columns.has_logged_key:
            for name, part in zip(self._table.key, columns.key_parts(found), strict=True):
                rows[self._table.schema.get_field_index(name)] = part.filter(where)
        else:
            # The rows of a table without a key are counted, and a record with all columns says which row it is.
            rows = [array.filter(where) for array in columns.converted(found, found.before.flatten())]
        ops = np.full(count, RecordOp.DELETE, dtype=np.int8)
        return self._batch(old_keys.filter(where), found.origin(Metadata.SEQ).filter(where), ops, None, None, rows)

    def _batch(
        self,
        keys: pa.Array,
        seq: pa.Array,
        ops: npt.NDArray[np.int8],
        absent: pa.Array | None,
        origin: pa.Array | None,
        rows: list[pa.Array],
    ) -> pa.RecordBatch:
        count = len(keys)
        absent = pa.nulls(count, _ABSENT) if absent is None else absent
        origin = pa.nulls(count, _FROM) if origin is None else origin
        return pa.RecordBatch.from_arrays([keys, seq, pa.array(ops), absent, origin, *rows], schema=self._schema)


def _origins(ops: npt.NDArray[np.int8], moved: Mask, old_keys: pa.Array | None) -> pa.Array | None:
    """Return the old keys of rows that moved and of which only some columns are known."""
    wanted = moved & (ops == RecordOp.MERGE)
    if old_keys is None or not wanted.any():
        return None
    return pc.if_else(pa.array(wanted), old_keys, pa.scalar(None, _FROM))


def _interleaved(deletes: pa.RecordBatch, puts: pa.RecordBatch, moved: Mask) -> pa.RecordBatch:
    """Return both in the order of the log: the delete of an old key comes right before the row with the new one."""
    both = pa.concat_batches([puts, deletes])
    order = np.empty(len(both), dtype=np.int64)
    at = np.arange(len(puts)) + np.cumsum(moved)
    order[at] = np.arange(len(puts))
    order[at[moved] - 1] = len(puts) + np.arange(len(deletes))
    return both.take(pa.array(order))


class LogColumns:
    """How the columns of one schema version in the log become those of the target."""

    def __init__(self, table: MirroredTable, found: TableBatch) -> None:
        self._table = table
        self._sources = _sources(table, found)
        self._names = [field.name for field in found.batch.schema][len(found.metadata) :]
        kinds = [value.type for value in found.values]
        self._steps = [
            self._conversion(field, kinds[index], found, index)
            for field, index in zip(table.schema, self._sources, strict=True)
        ]
        logged = found.table
        key = self._indexes(table.key)
        self._without_blobs = [
            index for index, column in enumerate(logged.columns) if column.type not in _BLOBS and index not in key
        ]
        logged_key = tuple(logged.column_names[index].lower() for index in logged.primary_key or ())
        self.has_logged_key = Metadata.KEY in found.metadata and logged_key == tuple(
            name.lower() for name in self._logged_names(found)
        )

    def _indexes(self, names: Sequence[str]) -> list[int]:
        """Return the indexes that columns of the target have in the log."""
        return [self._sources[self._table.schema.get_field_index(name)] for name in names]

    def _logged_names(self, found: TableBatch) -> list[str]:
        names = found.table.column_names
        return [names[index] for index in self._indexes(self._table.key)]

    def _conversion(self, field: pa.Field, have: pa.DataType, found: TableBatch, index: int) -> Conversion:
        step = conversion(have, field.type, found.table.columns[index])
        if step is None:
            name = found.table.name
            message = f"{name}.{field.name} is {have} in the log, and {field.type} in the mirror"
            advice = f"the table has changed in a way that the mirror does not know; use --resnapshot {name}"
            raise SchemaError(f"{message}: {advice}", found.position())
        return step

    def converted(self, found: TableBatch, values: list[pa.Array]) -> list[pa.Array]:
        """Return values of the log's columns as those of the target."""
        arrays = []
        for step, index, field in zip(self._steps, self._sources, self._table.schema, strict=True):
            try:
                arrays.append(step(values[index]))
            except BinlogError as error:
                raise error.at(found.position()) from None
            except pa.ArrowInvalid as error:
                message = f"a value of {found.table.name}.{field.name} does not fit {field.type}: {error}"
                raise SchemaError(message, found.position()) from None
        return arrays

    def key_parts(self, found: TableBatch) -> list[pa.Array]:
        """Return the parts of the old keys, as the log has them, in the types of the target."""
        parts = found.origin(Metadata.KEY).flatten()
        numbers = [self._table.schema.get_field_index(name) for name in self._table.key]
        return [self._steps[number](part) for number, part in zip(numbers, parts, strict=True)]

    def absent(self, found: TableBatch, is_delete: Mask) -> pa.Array | None:
        """Return for each row the numbers of the columns that it does not have; None if all have all."""
        images = found.images
        if images is None or (images.complete and not found.diffs):
            return None
        filled = images.after.copy()
        for index in found.table.primary_key or ():
            filled[:, index] |= images.before[:, index]
        present = filled[:, self._sources]
        lists = [np.flatnonzero(~row).tolist() or None for row in present]
        by_row = self._without_diffs(found, pa.array(lists, _ABSENT).take(pa.array(images.numbers)))
        if not self._table.key and not images.before[np.unique(images.numbers)].all():
            message = f"{self._table.name} has no key, so its rows are found by all their columns"
            advice = "but the log has only some of them; set binlog_row_image=FULL on the server, or add a key"
            raise SchemaError(f"{message}, {advice}", found.position())
        result = pc.if_else(pa.array(is_delete), pa.scalar(None, _ABSENT), by_row)
        return None if result.null_count == len(result) else result

    def _without_diffs(self, found: TableBatch, absent: pa.Array) -> pa.Array:
        """Return absent columns with those of which a row has only what changed: they are not in the log either."""
        if not found.diffs:
            return absent
        number_of = {source: number for number, source in enumerate(self._sources)}
        lists = [set(numbers or ()) for numbers in absent.to_pylist()]
        for row, column in found.diffs:
            lists[row].add(number_of[column])
        return pa.array([sorted(numbers) or None for numbers in lists], _ABSENT)

    def has_diffs(self, found: TableBatch) -> Mask:
        """Return which rows have only what changed of a JSON document: no row of the mirror says what it is now."""
        has: Mask = np.zeros(found.batch.num_rows, np.bool_)
        has[[row for row, _ in found.diffs]] = True
        return has

    def may_replace(self, found: TableBatch, moved: Mask) -> Mask:
        """Return which updates of some columns may be a REPLACE of MariaDB; `moved` are those with another key.

        With binlog_row_image=MINIMAL it logs the columns of the statement, and not that all others became their
        defaults. It has the columns of the key by which it found the row, which most updates do not set. With NOBLOB
        all updates have them; then the image before has all columns but BLOBs.
        """
        images = found.images
        if images is None or not self._table.replace_keys:
            return np.zeros(len(moved), np.bool_)
        has_key = _have_all(images.after, self._indexes(self._table.key))
        if self._without_blobs:
            has_key &= ~_have_all(images.before, self._without_blobs)
        has_other = np.zeros(len(has_key), np.bool_)
        for names in self._table.replace_keys:
            if names != self._table.key:
                has_other |= _have_all(images.after, self._indexes(names))
        replaces: Mask = has_key[images.numbers] & (has_other[images.numbers] | ~moved)
        return replaces

    def filled(self, found: TableBatch, rows: list[pa.Array], absent: pa.Array) -> list[pa.Array]:
        """Return rows with the columns that they do not have as they were before: an update did not change them."""
        old = self.converted(found, found.before.flatten())
        lists = absent.to_pylist()
        return [
            pc.if_else(pa.array([numbers is not None and number in numbers for numbers in lists]), before, after)
            for number, (before, after) in enumerate(zip(old, rows, strict=True))
        ]


def _sources(table: MirroredTable, found: TableBatch) -> list[int]:
    """Return the index that each column of the target has in the log, by name."""
    logged = found.table
    names = {name.lower(): index for index, name in enumerate(logged.column_names)}
    missing = [field.name for field in table.schema if field.name.lower() not in names]
    if missing:
        message = f"rows of {logged.name} have no column {missing[0]!r}, which it should have at this position"
        raise SchemaError(f"{message}; use --resnapshot {logged.name}", found.position())
    return [names[field.name.lower()] for field in table.schema]


def _have_all(present: Mask, indexes: list[int]) -> Mask:
    """Return which images have all of some columns."""
    have: Mask = np.logical_and.reduce(present[:, indexes], axis=1)
    return have


def _flags(array: pa.Array) -> Mask:
    flags: Mask = array.fill_null(False).to_numpy(zero_copy_only=False)
    return flags
