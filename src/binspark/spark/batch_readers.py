"""Readers of rows for splits, which know of tables what the options let them know."""

from __future__ import annotations

from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.event import Event, Query
from binspark.files.split_reader import MakeReader
from binspark.schema.history import SchemaHistory
from binspark.spark.options import Ddl, SourceOptions


def batch_readers(selection: Selection, options: SourceOptions) -> MakeReader:
    """Return what makes the readers of a split's parts."""

    def make(history: SchemaHistory) -> BatchReader:
        if options.ddl is Ddl.IGNORE:
            history = _DeafHistory(history.catalog, lower_case_names=history.lower_case_names)
        return BatchReader(selection, history)

    return make


class _DeafHistory(SchemaHistory):
    """Knows what it was told before the log began; statements of the log change nothing."""

    def feed(self, event: Event) -> None:
        """Take notice of an event, unless it is a statement."""
        if not isinstance(event.body, Query):
            super().feed(event)
