"""Rows of which the log has only some columns, and the mirror none: they are read from the server.

With MINIMAL images that happens while a table catches up that was copied: a row was read under its new key, or was not
there yet. And it happens with new rows: the log does not contain columns that got their defaults. The server has the
row as it is now; the changes until then follow in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

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
_DELETES = 1 << 16


def completed(
    config: ConnectionConfig, table: OpenTable, results: list[TaskResult], limits: LeafLimits
) -> list[TaskResult]:
    """Return results with the rows that they lack, as the server has them now."""
    return [_completed(config, table, result, limits) for result in results]


def _completed(config: ConnectionConfig, table: OpenTable, result: TaskResult, limits: LeafLimits) -> TaskResult:
    written, keys = result.rewritten, result.rewritten.incomplete
    if keys is None:
        return result
    directory = table.target.directory
    records = (
        complete_records(row_keys(table.table, batch), _READ, RecordOp.PUT, batch)
        for batch in read_keys(config, table.table, keys)
        if batch.num_rows
    )
    if table.is_merged:
        added = write_changes((), directory, table.table, chain(_deletes(table, keys), records), limits).changes
        return result._replace(rewritten=replace(written, changes=(*written.changes, *added), incomplete=None))
    again = rewrite(RangeTask(0, None, None, written.added), directory, table.table, records, limits)
    for file in written.added:
        remove(directory, file.path)
    return result._replace(rewritten=replace(written, added=again.added, incomplete=None))


def _deletes(table: OpenTable, keys: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield records that delete rows, for those that the server has not: a target that merges may have them."""
    schema = table.table.schema
    for begin in range(0, keys.num_rows, _DELETES):
        part = keys.slice(begin, _DELETES)
        columns = [
            part.column(name) if name in part.schema.names else pa.nulls(len(part), kind)
            for name, kind in zip(schema.names, schema.types, strict=True)
        ]
        rows = pa.RecordBatch.from_arrays(columns, schema=schema)
        yield complete_records(row_keys(table.table, rows), _BEFORE, RecordOp.DELETE, rows)
