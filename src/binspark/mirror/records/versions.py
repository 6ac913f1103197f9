"""Rows of the log as versions of the rows of a mirrored table: records at the key of the version that they end."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata import Metadata
from binspark.columns.reader import TableBatch
from binspark.errors import SchemaError
from binspark.event import RowOperation
from binspark.mirror.records.changes import LogColumns
from binspark.mirror.records.format import RecordOp, complete_records
from binspark.mirror.records.keys import row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import SEQ, current_table, version_rows
from binspark.schema.table import TableSchema


def version_records(versions: MirroredTable, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows, which are new versions, as records."""
    keys = pc.binary_join_element_wise(row_keys(versions, rows), rows.column(SEQ).cast(pa.binary()), b"")
    return complete_records(keys, rows.column(SEQ), RecordOp.PUT, rows)


def ending_records(versions: MirroredTable, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return records that end all versions of a range of keys, one for each time."""
    keys = pa.repeat(pa.scalar(b""), rows.num_rows)
    assert rows.schema == versions.schema
    return complete_records(keys, rows.column(SEQ), RecordOp.END, rows)


def is_emptying(found: TableBatch) -> np.ndarray:
    """Return which rows of a batch are not rows, but say that the table was emptied."""
    flags: np.ndarray = _is(found, RowOperation.TRUNCATE).to_numpy(zero_copy_only=False)
    return flags


class VersionMaker:
    """Makes records of the rows of one table, each of which is a version, or ends one."""

    def __init__(self, versions: MirroredTable) -> None:
        self._versions = versions
        self._current = current_table(versions)
        self._known: dict[TableSchema, LogColumns] = {}

    def records(self, found: TableBatch) -> pa.RecordBatch:
        """Return the records of a batch without rows that empty the table."""
        columns = self._known.get(found.table)
        if columns is None:
            columns = self._known[found.table] = LogColumns(self._current, found)
        rows = columns.converted(found, found.values)
        is_delete, is_update = _is(found, RowOperation.DELETE), _is(found, RowOperation.UPDATE)
        if columns.absent(found, is_delete.to_numpy(zero_copy_only=False)) is not None:
            name = found.table.name
            message = f"rows of {name} have only some columns in the log, and --scd2 needs all of them"
            advice = f"set binlog_row_image=FULL on the server, then copy the table with --resnapshot {name}"
            raise SchemaError(f"{message}: {advice}", found.position())
        seq, time = found.origin(Metadata.SEQ), found.origin(Metadata.COMMIT_TIME)
        is_current = pc.if_else(is_delete, pa.scalar(None, pa.bool_()), pa.scalar(True))
        made = version_rows(self._versions, rows, time, seq, is_current)
        old = self._old_rows(found, columns, made, is_update)
        records = version_records(self._versions, made)
        return records if old is None else pa.concat_batches([version_records(self._versions, old), records])

    def _old_rows(
        self, found: TableBatch, columns: LogColumns, made: pa.RecordBatch, is_update: pa.Array
    ) -> pa.RecordBatch | None:
        """Return what ends the versions of rows that moved to other keys; only the columns of the key count."""
        if not pc.any(is_update).as_py():
            return None
        if columns.has_logged_key:
            parts = dict(zip(self._current.key, columns.key_parts(found), strict=True))
        else:
            before = columns.converted(found, found.before.flatten())
            parts = {name: before[self._current.schema.get_field_index(name)] for name in self._current.key}
        old = [parts.get(field.name, pa.nulls(made.num_rows, field.type)) for field in self._current.schema]
        ended = pa.nulls(made.num_rows, pa.bool_())
        seq, time = found.origin(Metadata.SEQ), found.origin(Metadata.COMMIT_TIME)
        rows = version_rows(self._versions, old, time, seq, ended).filter(is_update)
        moved = pc.not_equal(row_keys(self._versions, rows), row_keys(self._versions, made.filter(is_update)))
        return rows.filter(moved) if pc.any(moved).as_py() else None

    def endings(self, found: TableBatch) -> pa.RecordBatch:
        """Return the records of rows that empty the table."""
        count = found.batch.num_rows
        nothing = [pa.nulls(count, field.type) for field in self._current.schema]
        seq, time = found.origin(Metadata.SEQ), found.origin(Metadata.COMMIT_TIME)
        return ending_records(
            self._versions, version_rows(self._versions, nothing, time, seq, pa.nulls(count, pa.bool_()))
        )


def _is(found: TableBatch, operation: RowOperation) -> pa.Array:
    return pc.equal(found.origin(Metadata.OP).dictionary_decode(), operation)
