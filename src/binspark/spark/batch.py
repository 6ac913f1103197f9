"""Reads splits on executors."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from binspark.files.schema_file import log_doubtful_table
from binspark.files.splits import Split
from binspark.spark.options import ParseMode, Shape, SourceOptions, View
from binspark.spark.pickling import packed
from binspark.spark.plan import ReadPlan, SchemaVersion
from binspark.spark.schemas import arrow_schema

if TYPE_CHECKING:
    from binspark.spark.views.base import ViewReader


class SplitPartition(InputPartition):
    """A split, on its way to the executor that reads it."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self.split = split


class BinlogReader(DataSourceReader):
    """Reads what was planned. Schemas travel with the reader, once; partitions stay small."""

    def __init__(
        self, options: SourceOptions, plan: ReadPlan, schema: StructType, version: SchemaVersion | None
    ) -> None:
        self._options = options
        self._splits = plan.splits
        self._history = plan.history
        self._schema = schema
        self._version = version

    def __reduce__(self) -> tuple[Any, ...]:
        """Omit the splits: an executor receives its own in its partition, and does not need the others."""
        return packed(self, {**self.__dict__, "_splits": ()})

    def partitions(self) -> list[InputPartition]:
        """Return one partition for each split."""
        return [SplitPartition(split) for split in self._splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition. Where there are none, Spark creates one that is not ours."""
        if not isinstance(partition, SplitPartition):
            return iter(())
        self._options.begin_reading()
        from binspark.files.split_reader import SplitReader  # loads kernels, which planning need not wait for

        self._history.on_notice = log_doubtful_table  # pickled without it
        reader = SplitReader(self._history, _ignore if self._options.mode is ParseMode.PERMISSIVE else None)
        return self.view().read(partition.split, reader)

    def view(self) -> ViewReader:
        """Return what makes rows of a split."""
        return make_view(self._options, self._schema, self._version)


def make_view(options: SourceOptions, schema: StructType, version: SchemaVersion | None) -> ViewReader:
    """Return the reader of the view, or of the table, that the options select."""
    target = arrow_schema(schema)
    if version is not None and options.shape is not Shape.ROWS:
        from binspark.spark.views.shapes import ShapedView

        return ShapedView(options, schema, version)
    if version is not None:
        from binspark.spark.views.table import TableView

        return TableView(options, target, version)
    module, name = _VIEWS[options.view]
    view: ViewReader = getattr(import_module(f"binspark.spark.views.{module}"), name)(options, target)
    return view


def _ignore(_damage: object) -> None:
    """Skip what cannot be read: the view `_corrupt` reports it."""


# The module and class of each view, loaded when it is read: an executor's Python starts often, and loading kernels
# takes time.
_VIEWS = {
    View.CHANGES: ("changes", "ChangesView"),
    View.EVENTS: ("events", "EventsView"),
    View.TRANSACTIONS: ("events", "TransactionsView"),
    View.CHUNKS: ("chunks", "ChunksView"),
    View.TABLES: ("reports", "TablesView"),
    View.CORRUPT: ("reports", "CorruptView"),
}
