"""The versions of the rows of mirrored tables: where they begin, and begin again after a copy.

From there on they are kept as tables are: each range of the log is applied to a table and to its versions, each with
its position in the commit.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa

from binspark.documents.conversion import conversion
from binspark.mirror.change_records import KEY, RecordOp, complete_records, row_columns
from binspark.mirror.keys import row_keys
from binspark.mirror.leaves.leaf_reader import KeyedRows, LeafReader
from binspark.mirror.leaves.leaf_writer import LeafWriter
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.reduce import last_per_key, without_superseded
from binspark.mirror.leaves.sorter import RecordSorter
from binspark.mirror.leaves.versions import Ending, VersionCloser, version_records
from binspark.mirror.mirrored_table import MirroredTable
from binspark.mirror.open_table import OpenTable
from binspark.mirror.tables import MirroredTables
from binspark.mirror.version_table import TIME, seq_at, version_rows, versioned
from binspark.replication.position import BinlogPosition

log = logging.getLogger("binspark.mirror")


def begin_versions(tables: MirroredTables, lag_seconds: float | None = None) -> None:
    """Let the versions of all tables begin that have none yet, or that were copied again since.

    `lag_seconds` is how old the first change is that is not applied yet.
    """
    if not tables.settings.scd2:
        return
    for table in tables:
        if table.has_versions or not table.is_applied:
            continue
        if not table.table.key:
            log.warning("%s has no key, so that the versions of its rows cannot be kept", table.name)
            continue
        versions = tables.versions_of(table.name)
        if versions is None or _is_to_begin(versions, table, tables.cut_position):
            versions = versions or tables.open_versions(table)
            began = table.state.copied or int(time.time() - (lag_seconds or 0))
            ending = Ending(datetime.fromtimestamp(began, UTC), seq_at(table.position))
            _begin(versions, table, versioned(table.table, tables.target.column_type), ending, tables.settings.limits)


def _is_to_begin(versions: OpenTable, table: OpenTable, last_cut: BinlogPosition | None) -> bool:
    """Return whether versions have to begin with the rows that a table has.

    A table is committed after its versions, except where another program was in the way: then, if the mirror was killed
    as well, its definition may be ahead.
    """
    if not versions.is_applied:
        return True
    if versions.definition != table.definition and not versions.position.reaches(table.position):
        return True
    if last_cut is None or versions.position.reaches(last_cut):
        return False
    message = "%s lacks the changes from %s to %s: the mirror ran without --scd2"
    log.warning(message, versions.name, versions.position.describe(), last_cut.describe())
    return True


def _begin(versions: OpenTable, table: OpenTable, new: MirroredTable, ending: Ending, limits: LeafLimits) -> None:
    """Let the versions that are valid be the rows that a table has: those that differ end, and others begin."""
    closer = VersionCloser(new, replaces=ending)
    directory = versions.directory_for(new.schema)
    with RecordSorter(without_superseded, last_per_key, limits.memory_bytes) as sorter:
        for rows in _known_versions(versions, new):
            sorter.add(complete_records(row_keys(new, rows), "", RecordOp.PUT, rows))
        for rows in _new_versions(table, new, ending):
            sorter.add(version_records(new, rows))
        sorter.finish()
        sorted_rows = (KeyedRows(part.column(KEY), row_columns(part)) for part in sorter.chunks(None, None))
        with LeafWriter(directory, new, limits) as writer:
            for part in closer.closed(sorted_rows):
                writer.write(part)
            files = writer.finish()
    state = replace(table.state, key=new.key, has_versions=True, pending=None, staged=None, copied=None)
    versions.replace_rows(state, new.schema, files, directory)
    versions.skip_to(table.position)


def _known_versions(versions: OpenTable, new: MirroredTable) -> Iterator[pa.RecordBatch]:
    """Yield the versions that are there, with the columns of now: NULL in those that they do not have."""
    reader = LeafReader(versions.target.directory, versions.table)
    for file in versions.version.files:
        for found in reader.batches(file):
            arrays = [_conformed(found.rows, field) for field in new.schema]
            yield pa.RecordBatch.from_arrays(arrays, schema=new.schema)


def _conformed(rows: pa.RecordBatch, field: pa.Field) -> pa.Array:
    index = rows.schema.get_field_index(field.name)
    step = None if index < 0 else conversion(rows.schema.field(index).type, field.type)
    return pa.nulls(rows.num_rows, field.type) if step is None else step(rows.column(index))


def _new_versions(table: OpenTable, new: MirroredTable, begin: Ending) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table as versions."""
    reader = LeafReader(table.target.directory, table.table)
    for file in table.version.files:
        for found in reader.batches(file):
            count = found.rows.num_rows
            begins, seq = pa.repeat(pa.scalar(begin.time, TIME), count), pa.repeat(pa.scalar(begin.seq), count)
            yield version_rows(new, found.rows.columns, begins, seq, pa.repeat(pa.scalar(True), count))
