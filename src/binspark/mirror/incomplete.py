"""Rows of which the log has only some columns, and the mirror none: they are read from the server.

With MINIMAL images that happens while a table catches up that was copied: a row was read under its new key, or was not
there yet. And it happens with new rows: the log does not contain columns that got their defaults. The server has the
row as it is now; the changes until then follow in the log.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from binspark.mirror.files.access import remove
from binspark.mirror.leaves import LeafLimits, RangeTask, rewrite, write_changes
from binspark.mirror.records.format import RecordOp, complete_records
from binspark.mirror.records.keys import row_keys
from binspark.mirror.runners.runner import TaskResult
from binspark.mirror.snapshot.read import read_keys
from binspark.mirror.tables.open_table import OpenTable
from binspark.server.config import ConnectionConfig

_BEFORE, _READ = "0", "1"


def completed(
    config: ConnectionConfig, table: OpenTable, results: list[TaskResult], limits: LeafLimits
) -> list[TaskResult]:
    """Return results with the rows that they lack, as the server has them now."""
    return [_completed(config, table, result, limits) for result in results]


def _completed(config: ConnectionConfig, table: OpenTable, result: TaskResult, limits: LeafLimits) -> TaskResult:
    written = result.rewritten
    if written.incomplete_rows is None:
        return result
    rows = read_keys(config, table.table, written.incomplete_rows)
    directory = table.target.directory
    task = RangeTask(0, None, None, written.added)
    records = [
        complete_records(row_keys(table.table, batch), _READ, RecordOp.PUT, batch)
        for batch in rows.to_batches()
        if batch.num_rows
    ]
    if table.is_merged:
        gone = _deletes(table, written.incomplete_rows)
        added = write_changes((), directory, table.table, [gone, *records], limits).changes
        changes = (*written.changes, *added)
        return result._replace(rewritten=replace(written, changes=changes, incomplete=(), incomplete_rows=None))
    again = rewrite(task, directory, table.table, records, limits)
    for file in written.added:
        remove(directory, file.path)
    return result._replace(rewritten=replace(written, added=again.added, incomplete=(), incomplete_rows=None))


def _deletes(table: OpenTable, keys: pa.RecordBatch) -> pa.RecordBatch:
    """Return records that delete rows, for those that the server has not: a target that merges may have them."""
    schema = table.table.schema
    columns = [
        keys.column(name) if name in keys.schema.names else pa.nulls(len(keys), kind)
        for name, kind in zip(schema.names, schema.types, strict=True)
    ]
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    return complete_records(row_keys(table.table, rows), _BEFORE, RecordOp.DELETE, rows)
