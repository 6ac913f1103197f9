"""What views read from and what they are: parts of logs, and readers of batches with the schemas that options allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from binspark.columns.log_scan import LogScan
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Selection
from binspark.event import Event, Query
from binspark.files.split_reader import MakeReader
from binspark.schema.emptied import NONE_EMPTIED, Emptied, emptied_by
from binspark.schema.history import SchemaHistory
from binspark.spark.options import DdlMode, SourceOptions

Item = TypeVar("Item")


class LogReader(Protocol):
    """Reads a part of a log: a `Split` or a `ServerRange`, whichever the reader is for."""

    def batches(self, part: Any, make_reader: Callable[[SchemaHistory], BatchReader]) -> Iterator[TableBatch]:
        """Yield the rows of the transactions of a part."""
        ...

    def scan(self, part: Any, scan: LogScan[Item]) -> Iterator[Item]:
        """Yield what a scan finds in a part."""
        ...


class ViewReader(Protocol):
    """Makes the rows of a view from a part of a log."""

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield batches in the target schema."""
        ...


def batch_readers(selection: Selection, options: SourceOptions) -> MakeReader:
    """Return what creates the readers for the parts of a split."""

    def make(history: SchemaHistory) -> BatchReader:
        if options.ddl is DdlMode.IGNORE:
            history = _FixedHistory.after(history)
        return BatchReader(selection, history)

    return make


class _FixedHistory(SchemaHistory):
    """Has the schemas that were known before the log; its statements change nothing."""

    def feed(self, event: Event) -> Emptied:
        """Note an event. A statement only empties tables."""
        if not isinstance(event.body, Query):
            return super().feed(event)
        change = self.read_query(event.body, event)
        return NONE_EMPTIED if change is None else emptied_by(change, self.catalog)
