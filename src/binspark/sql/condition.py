"""Which rows meet the condition of `where`: both readers of a log go through it in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from binspark.columns.reader import TableBatch
from binspark.columns.selection import Selection
from binspark.files.batches import source_batches
from binspark.files.condition_rows import condition_reader, make_readable_twice, row_numbers
from binspark.files.damage import Damage
from binspark.files.sources import LogSource
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.schema.history import SchemaHistory


class ConditionRows:
    """The rows of one log after the other that meet a condition."""

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        self._reader = condition_reader(selection, history)
        self._rows: Iterator[tuple[int, int]] = iter(())
        self._next: tuple[int, int] | None = None

    def begin_source(self, source: LogSource, *, skip_damaged: bool) -> None:
        """Begin a log file."""
        make_readable_twice(source)
        on_damage = _ignore if skip_damaged else None
        self._begin(source_batches(source, self._reader, on_damage=on_damage))

    def begin_chunk(self, chunk: LogChunk) -> None:
        """Begin a chunk of a server's log."""
        self._begin(read_chunks(self._reader, iter([chunk])))

    def has(self, position: int, row: int) -> bool:
        """Return whether a row meets the condition. Rows are asked for in the order of the log."""
        wanted = position, row
        while self._next is not None and self._next < wanted:
            self._next = next(self._rows, None)
        return self._next == wanted

    def _begin(self, batches: Iterable[TableBatch]) -> None:
        self._rows = _row_numbers(batches)
        self._next = next(self._rows, None)


def _row_numbers(batches: Iterable[TableBatch]) -> Iterator[tuple[int, int]]:
    for positions, rows in row_numbers(batches):
        yield from zip(positions.tolist(), rows.tolist(), strict=True)


def _ignore(_damage: Damage) -> None:
    """Leave it to the other reader to report damage."""
