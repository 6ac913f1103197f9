"""Which rows meet the condition of `where`. Conditions are about columns, so the log is read a second time for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from binspark.columns.metadata import Metadata
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.errors import OptionError
from binspark.files.batches import source_batches
from binspark.files.damage import Damage
from binspark.files.sources import STANDARD_INPUT, LogSource
from binspark.files.windows import by_window
from binspark.kernels import cache
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.schema.history import SchemaHistory

_ROW_BITS = 32
_METADATA = frozenset({Metadata.LOG_POS, Metadata.LOG_ROW})


class ConditionRows:
    """The rows of one log after the other that meet a condition: both readers go through the log in the same order."""

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        cache.enable()
        wanted = replace(
            selection,
            columns=(),
            metadata_columns=_METADATA,
            in_windows=True,
            diffs=True,
            operations=selection.operations & ~Operations.TRUNCATE,
        )
        own_history = SchemaHistory(history.base, lower_case_names=history.lower_case_names)
        self._reader = BatchReader(wanted, own_history)
        self._rows: Iterator[int] = iter(())
        self._next: int | None = None

    def begin_source(self, source: LogSource, *, skip_damaged: bool) -> None:
        """Begin a log file."""
        if source.name == STANDARD_INPUT:
            raise OptionError("needs a file: standard input cannot be read twice", option="where")
        on_damage = _ignore if skip_damaged else None
        self._begin(source_batches(source, self._reader, on_damage=on_damage))

    def begin_chunk(self, chunk: LogChunk) -> None:
        """Begin a chunk of a server's log."""
        self._begin(read_chunks(self._reader, iter([chunk])))

    def has(self, position: int, row: int) -> bool:
        """Return whether a row meets the condition. Rows are asked for in the order of the log."""
        wanted = position << _ROW_BITS | row
        while self._next is not None and self._next < wanted:
            self._next = next(self._rows, None)
        return self._next == wanted

    def _begin(self, batches: Iterable[TableBatch]) -> None:
        self._rows = _row_numbers(batches)
        self._next = next(self._rows, None)


def _row_numbers(batches: Iterable[TableBatch]) -> Iterator[int]:
    for group in by_window(batches):
        numbers = [
            found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False).astype(np.int64) << _ROW_BITS
            | found.origin(Metadata.LOG_ROW).to_numpy(zero_copy_only=False)
            for found in group
        ]
        yield from np.sort(np.concatenate(numbers)).tolist()


def _ignore(_damage: Damage) -> None:
    """Leave it to the other reader to report damage."""
