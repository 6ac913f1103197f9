"""Changes as files, for a target that merges them into its rows by itself.

A file has one record for each key: `OP`, which is PUT or DELETE, and the columns of the table; those of a deleted row
are NULL, but for its key. The files are in a directory that programs which remove unused files ignore, because its name
begins with `_`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from binspark.mirror.files.access import create_file, file_errors, file_name, new_path, remove
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.files.directory import open_directory
from binspark.mirror.leaves.leaf_format import WRITER_OPTIONS
from binspark.mirror.leaves.leaf_reader import stored_rows, with_bounds
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.merge import Merged, merge
from binspark.mirror.leaves.reduce import last_per_key, without_superseded
from binspark.mirror.leaves.rewrite import Rewritten
from binspark.mirror.leaves.sorter import RecordSorter
from binspark.mirror.records.format import KEY, OP, RecordOp, complete_records, row_columns
from binspark.mirror.schema.mirrored_table import MirroredTable

_DIRECTORY = "_binspark_changes"


def write_changes(
    stored: Sequence[DataFile],
    directory: TableDirectory,
    table: MirroredTable,
    changes: Iterable[pa.RecordBatch],
    limits: LeafLimits,
) -> Rewritten:
    """Write what changes come to, batches of change records in any order, to a file.

    Records with only some columns get the others from the stored rows: they are read where there are such records.
    """
    incomplete: list[pa.RecordBatch] = []
    rows = _StoredRows(stored, directory, table)
    with RecordSorter(without_superseded, last_per_key, limits.memory_bytes) as sorter:
        for batch in changes:
            sorter.add(batch)
        sorter.finish()
        files = _write(_complete(sorter.chunks(None, None), rows, incomplete), directory, table)
    return Rewritten((), (), pa.concat_batches(incomplete) if incomplete else None, changes=files)


def remove_changes(directory: TableDirectory) -> None:
    """Remove files of changes: a process was killed before it could do so."""
    with file_errors(directory, _DIRECTORY):
        folder = open_directory(directory.uri, directory.storage)
        folder.files.delete_dir_contents(folder.path(_DIRECTORY), missing_dir_ok=True)


class _StoredRows:
    """The rows that a table has. The bounds of its files are read when the first row is needed."""

    def __init__(self, files: Sequence[DataFile], directory: TableDirectory, table: MirroredTable) -> None:
        self._files = files
        self._directory = directory
        self._table = table

    @property
    def key(self) -> list[str]:
        """The columns of the key."""
        return list(self._table.key)

    def after(self, changes: pa.RecordBatch) -> Merged:
        """Return the rows with the keys of changes, after them."""
        self._files = with_bounds(self._files, self._directory, self._table)
        found = stored_rows(self._files, self._directory, self._table, changes.column(KEY).to_pylist())
        return merge(found, changes)


def _complete(
    chunks: Iterable[pa.RecordBatch], stored: _StoredRows, incomplete: list[pa.RecordBatch]
) -> Iterable[pa.RecordBatch]:
    """Yield records that delete or put a row; the keys of those of which no row is stored are added to a list."""
    for records in chunks:
        is_partial = pc.greater(records.column(OP), int(RecordOp.PUT))
        if not pc.any(is_partial).as_py():
            yield records
            continue
        yield records.filter(pc.invert(is_partial))
        merged = stored.after(records.filter(is_partial))
        yield complete_records(merged.rows.keys, "", RecordOp.PUT, merged.rows.rows)
        if merged.incomplete.num_rows:
            incomplete.append(merged.incomplete.select(stored.key))


def _write(chunks: Iterable[pa.RecordBatch], directory: TableDirectory, table: MirroredTable) -> tuple[DataFile, ...]:
    """Write records to a file. If there are none, there is no file, nor if the block fails."""
    parts = (records for records in chunks if records.num_rows)
    first = next(parts, None)
    if first is None:
        return ()
    path = f"{_DIRECTORY}/{file_name(new_path(directory))}"
    schema = pa.schema([pa.field(OP, pa.int8()), *table.schema])
    count = 0
    try:
        with create_file(directory, path) as file, pq.ParquetWriter(file, schema, **WRITER_OPTIONS) as writer:
            for records in chain([first], parts):
                arrays = [records.column(OP), *row_columns(records).columns]
                with file_errors(directory, path):
                    writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
                    size = int(file.tell())
                count += records.num_rows
    except BaseException:
        remove(directory, path)
        raise
    return (DataFile(path, size, count),)
