"""The rows of a mirrored table, in its newest version: checksums, hashes of single rows, and their values as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.mirror.check.key_ranges import KeyRange
from binspark.mirror.check.listing import Listing
from binspark.mirror.check.row_text import RowText, buckets, column_texts
from binspark.mirror.check.source_rows import text_literal
from binspark.mirror.check.sums import BucketSums
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves.leaf_reader import KeyedRows, LeafReader, with_bounds
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import IS_CURRENT
from binspark.mirror.snapshot.key_rows import key_literals
from binspark.mirror.snapshot.select import key_columns
from binspark.mirror.snapshot.statement import TableChanged
from binspark.mirror.targets.target import TableVersion, TargetTable


class MirrorRows:
    """Reads a version of a mirrored table; `refresh` takes the newest.

    versions   how the versions of its rows are stored, to read those that are current; None to read the table itself
    """

    def __init__(
        self, target: TargetTable, table: MirroredTable, text: RowText, versions: MirroredTable | None = None
    ) -> None:
        self._target = target
        self._table = table
        self._stored = versions or table
        self._text = text
        self._columns = key_columns(table)
        self._files: dict[str, DataFile] = {}
        self._definition: str | None = None
        self.refresh()

    @property
    def rows(self) -> int:
        """How many rows the files have."""
        return sum(file.rows for file in self._files.values())

    def refresh(self) -> TableVersion:
        """Read the newest version of the table."""
        self.version = self._target.read()
        definition = None if self.version.state is None else self.version.state.definition
        if self._definition not in (None, definition):
            raise TableChanged("its columns changed while it was compared: check it again")
        self._definition = definition
        unknown = [file for file in self.version.files if file.path not in self._files]
        found = {file.path: file for file in with_bounds(unknown, self._target.directory, self._stored)}
        self._files = {file.path: found.get(file.path) or self._files[file.path] for file in self.version.files}
        return self.version

    def sums(self, within: KeyRange) -> BucketSums:
        """Return the checksums of a range."""
        sums = BucketSums.empty(within.buckets, keyed=bool(self._table.key))
        for batch in self._batches(within):
            sums.add_rows(buckets(self._text.keys(batch), within.buckets), self._text.hashes(batch))
        return sums

    def listed(self, within: KeyRange, wanted: Collection[int]) -> Listing:
        """Return the rows of some buckets of a range."""
        chosen = np.zeros(within.buckets, dtype=bool)
        chosen[list(wanted)] = True
        return self._listed(within, lambda keys: chosen[buckets(keys, within.buckets)])

    def at_keys(self, within: KeyRange, keys: Collection[bytes]) -> Listing:
        """Return the rows of a range with some keys, given by their texts."""
        wanted = frozenset(keys)
        return self._listed(within, lambda found: np.fromiter((key in wanted for key in found), dtype=bool))

    def rows_at(self, within: KeyRange, keys: Collection[bytes]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range with some keys."""
        wanted = frozenset(keys)
        for batch in self._batches(within):
            rows = batch.filter(pa.array([key in wanted for key in self._text.keys(batch)], pa.bool_()))
            if rows.num_rows:
                yield rows

    def values(self, within: KeyRange, keys: Collection[bytes]) -> dict[bytes, list[bytes | None]]:
        """Return the canonical texts of all columns of rows, by their keys."""
        found: dict[bytes, list[bytes | None]] = {}
        for rows in self.rows_at(within, keys):
            columns = [column_texts(column, rows.column(column.name)) for column in self._text.columns]
            found.update(zip(self._text.keys(rows), map(list, zip(*columns, strict=True)), strict=True))
        return found

    def _listed(self, within: KeyRange, choose: Callable[[list[bytes]], np.ndarray]) -> Listing:
        listing = Listing()
        for batch in self._batches(within):
            rows = batch.filter(pa.array(choose(self._text.keys(batch))))
            keys, hashes = self._text.keys(rows), self._text.hashes(rows).tolist()
            written = key_literals(self._columns, rows) if self._columns else [(text_literal(key),) for key in keys]
            for key, value, literals in zip(keys, hashes, written, strict=True):
                listing.add(key, value, literals)
        return listing

    def _batches(self, within: KeyRange) -> Iterator[pa.RecordBatch]:
        reader = LeafReader(self._target.directory, self._stored)
        for file in self._files.values():
            if not _overlaps(file, within):
                continue
            if file.row_groups:
                yield from (self._current(found.rows) for found in reader.row_groups(file, within.low, within.high))
            else:
                yield from (self._current(_within(found, within)) for found in reader.batches(file))

    def _current(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if not self._stored.has_versions:
            return rows
        return rows.filter(rows.column(IS_CURRENT)).select(self._table.schema.names)


def _overlaps(file: DataFile, within: KeyRange) -> bool:
    if file.low is None or file.high is None:
        return bool(file.rows)
    return (within.high is None or file.low < within.high) and (within.low is None or file.high >= within.low)


def _within(found: KeyedRows, within: KeyRange) -> pa.RecordBatch:
    """Return the rows in a range, of rows in any order."""
    rows, keys = found.rows, found.keys
    for limit, compare in ((within.low, pc.greater_equal), (within.high, pc.less)):
        if limit is not None:
            mask = compare(keys, pa.scalar(limit, keys.type))
            rows, keys = rows.filter(mask), keys.filter(mask)
    return rows
