"""The view `changes`: the rows of every table, each as one value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.columns.options import TimeFormat, ZeroDates
from binspark.columns.selection import Selection
from binspark.documents.row_images import RowImages
from binspark.documents.row_objects import json_rows, variant_rows
from binspark.spark.options import RowFormat, SourceOptions
from binspark.spark.views.base import LogReader, batch_readers

_MAX_ROWS = 1 << 14  # every VARIANT comes with the names of its columns
_IMAGES = frozenset({"before", "after"})


@dataclass(frozen=True)
class ChangesView:
    """Makes one value of each row, and of its key. Only what the target needs is decoded."""

    options: SourceOptions
    target: pa.Schema

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield the changes of a split."""
        for found in reader.batches(part, batch_readers(self.selection, self.options)):
            yield self._batch(found)

    @property
    def selection(self) -> Selection:
        """What must be decoded for the columns of the target."""
        selected = self.options.selection
        names = set(self._names)
        images = names & _IMAGES
        policies = replace(selected.options, time=TimeFormat.INTERVAL)  # images have text in any case
        if self.options.rows is RowFormat.JSON:
            policies = replace(policies, zero_dates=ZeroDates.STRING)
        return replace(
            selected,
            columns=None if images else (),
            before="before" in images,
            images=bool(images),
            metadata_columns=frozenset(name for name in Metadata if name in names) | {Metadata.OP},
            absent=False,
            max_rows=min(selected.max_rows, _MAX_ROWS),
            options=policies,
        )

    @property
    def _names(self) -> list[str]:
        """The names of the columns, without their prefix."""
        length = len(self.options.selection.metadata_prefix)
        return [name[length:] for name in self.target.names]

    def _batch(self, found: TableBatch) -> pa.RecordBatch:
        images = RowImages(found, json_rows if self.options.rows is RowFormat.JSON else variant_rows)
        arrays = [_column(name, found, images) for name in self._names]
        return pa.RecordBatch.from_arrays(arrays, schema=self.target)


def _column(name: str, found: TableBatch, images: RowImages) -> pa.Array:
    match name:
        case "schema":
            return pa.repeat(found.table.schema, found.batch.num_rows)
        case "table":
            return pa.repeat(found.table.table, found.batch.num_rows)
        case "after":
            return images.after()
        case "before":
            return images.before()
        case Metadata.KEY:
            return images.keys()
    array = found.origin(Metadata(name))
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
