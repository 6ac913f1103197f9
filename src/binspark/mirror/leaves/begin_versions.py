"""The rows of a range of keys as versions, beside the versions that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from binspark.documents.conversion import conversion
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves.leaf_reader import KeyedRows, LeafReader
from binspark.mirror.leaves.leaf_writer import LeafWriter
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.reduce import last_per_key, without_superseded
from binspark.mirror.leaves.sorter import RecordSorter
from binspark.mirror.leaves.versions import Ending, VersionCloser
from binspark.mirror.records.format import KEY, RecordOp, complete_records, row_columns
from binspark.mirror.records.keys import row_keys
from binspark.mirror.records.versions import version_records
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import TIME, version_rows


@dataclass(frozen=True, slots=True)
class RangeOfVersions:
    """A range of keys: files with rows in it, and files with versions in it. They may have others, too."""

    low: bytes | None
    high: bytes | None
    rows: tuple[DataFile, ...]
    known: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True)
class VersionFiles:
    """Where the files of a table are, and its schema."""

    directory: TableDirectory
    table: MirroredTable

    def within(self, files: Sequence[DataFile], low: bytes | None, high: bytes | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of files that are in a range of keys."""
        reader = LeafReader(self.directory, self.table)
        for file in files:
            for found in reader.within(file, low, high):
                yield found.rows


@dataclass(frozen=True, slots=True)
class BeginVersions:
    """Lets versions begin with the rows of a range of keys. It is sent to executors.

    known       the versions that are there
    rows        the rows that the table has
    new         the table of versions, with the columns of now
    directory   where its new files are
    ending      when versions end that are not among the rows, and others begin
    """

    known: VersionFiles
    rows: VersionFiles
    range: RangeOfVersions
    new: MirroredTable
    directory: TableDirectory
    ending: Ending
    limits: LeafLimits

    def __call__(self) -> tuple[DataFile, ...]:
        """Write the versions: those that differ from the rows end, and others begin."""
        closer = VersionCloser(self.new, replaces=self.ending)
        with RecordSorter(without_superseded, last_per_key, self.limits.memory_bytes) as sorter:
            for rows in self._known_versions():
                sorter.add(complete_records(row_keys(self.new, rows), "", RecordOp.PUT, rows))
            for rows in self._new_versions():
                sorter.add(version_records(self.new, rows))
            sorter.finish()
            sorted_rows = (KeyedRows(part.column(KEY), row_columns(part)) for part in sorter.chunks(None, None))
            with LeafWriter(self.directory, self.new, self.limits) as writer:
                for part in closer.closed(sorted_rows):
                    writer.write(part)
                return writer.finish()

    def _known_versions(self) -> Iterator[pa.RecordBatch]:
        """Yield the versions that are there, with the columns of now: NULL in those that they do not have.

        Versions from before the key was what it is may have NULL in a column of it: they cannot be stored any more.
        """
        for found in self.known.within(self.range.known, self.range.low, self.range.high):
            arrays = [_conformed(found, field) for field in self.new.schema]
            rows = pa.RecordBatch.from_arrays(arrays, schema=self.new.schema)
            for name in self.new.key:
                if rows.column(name).null_count:
                    rows = rows.filter(rows.column(name).is_valid())
            yield rows

    def _new_versions(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the table as versions."""
        for found in self.rows.within(self.range.rows, self.range.low, self.range.high):
            count = found.num_rows
            begins = pa.repeat(pa.scalar(self.ending.time, TIME), count)
            seq = pa.repeat(pa.scalar(self.ending.seq), count)
            yield version_rows(self.new, found.columns, begins, seq, pa.repeat(pa.scalar(True), count))


def can_have_keys(known: MirroredTable, new: MirroredTable) -> bool:
    """Return whether versions that are there have all columns of a key, in types that become those of now."""
    types = {field.name: field.type for field in known.schema}
    return all(name in types and conversion(types[name], new.schema.field(name).type) is not None for name in new.key)


def _conformed(rows: pa.RecordBatch, field: pa.Field) -> pa.Array:
    index = rows.schema.get_field_index(field.name)
    step = None if index < 0 else conversion(rows.schema.field(index).type, field.type)
    return pa.nulls(rows.num_rows, field.type) if step is None else step(rows.column(index))
