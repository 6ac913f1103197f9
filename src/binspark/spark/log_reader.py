"""What views read from: splits of files, or ranges of a server's log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pyarrow as pa

from binspark.columns.reader import BatchReader, TableBatch
from binspark.event import Event
from binspark.schema.history import SchemaHistory


class LogReader(Protocol):
    """Reads a part of a log: `part` is a `Split` or a `LiveRange`, as the reader knows them."""

    def batches(self, part: Any, make_reader: Callable[[SchemaHistory], BatchReader]) -> Iterator[TableBatch]:
        """Yield the rows of the transactions of a part."""
        ...

    def events(self, part: Any, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events of a part."""
        ...


class ViewReader(Protocol):
    """Makes the rows of a view out of a part of a log."""

    def read(self, part: Any, reader: LogReader) -> Iterator[pa.RecordBatch]:
        """Yield batches in the schema that is asked for."""
        ...
