"""Which rows of a log a condition selects. Conditions are about columns, so a log is read a second time for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from binspark.columns.metadata import Metadata
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.errors import BinlogError
from binspark.event import Event
from binspark.files.batches import source_batches
from binspark.files.damage import Damage
from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT, keep_standard_input
from binspark.files.windows import by_window
from binspark.kernels import cache
from binspark.schema.history import SchemaHistory

Numbers = npt.NDArray[np.int64]
_METADATA = frozenset({Metadata.LOG_POS, Metadata.LOG_ROW})
_NO_OFFSET = (1 << 63) - 1
_NONE = np.zeros(0, dtype=np.int64)


def condition_reader(
    selection: Selection, history: SchemaHistory, metadata: frozenset[Metadata] = _METADATA
) -> BatchReader:
    """Return what reads the rows that a selection with a condition selects, without their values.

    Times, servers and positions are left to the reader of the events: they are those of events or of transactions. It
    has a history of its own, which begins with what is known of tables before the logs.
    """
    cache.enable()
    wanted = replace(
        selection,
        columns=(),
        metadata_columns=metadata,
        in_windows=True,
        diffs=True,
        operations=selection.operations & ~Operations.TRUNCATE,
        start_position=None,
        stop_position=None,
        start_time=0,
        stop_time=None,
        server_id=None,
    )
    return BatchReader(wanted, SchemaHistory(history.base, lower_case_names=history.lower_case_names))


def make_readable_twice(log: LogSource) -> None:
    """Copy standard input to a temporary file, if it is the log: whoever reads it next, reads the copy."""
    if log.name == STANDARD_INPUT:
        keep_standard_input()


def row_numbers(batches: Iterable[TableBatch]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield where rows are, in the order of the log: positions of events, and numbers of rows in them.

    Rows inside a payload have its position, and are numbered throughout. An event may be in two results.
    """
    for group in by_window(batches):
        positions = np.concatenate([_numbers(found, Metadata.LOG_POS) for found in group])
        rows = np.concatenate([_numbers(found, Metadata.LOG_ROW) for found in group])
        order = np.lexsort((rows, positions))
        yield positions[order], rows[order]


class RowsAhead:
    """Rows of a log that were read ahead, in the order of the log.

    positions   of their events
    numbers     one for each row
    ended       whether no more can be read
    error       why no more can be read; None at the end of the log
    """

    def __init__(self, parts: Iterable[tuple[Numbers, Numbers]] = ()) -> None:
        self._parts = iter(parts)
        self.positions = self.numbers = _NONE
        self.ended = False
        self.error: BinlogError | None = None

    def read_until(self, is_reached: Callable[[], bool]) -> None:
        """Read until enough rows are known, or no more can be read."""
        while not self.ended and not is_reached():
            part = None
            try:
                part = next(self._parts, None)
            except BinlogError as error:
                self.error = error
            if part is None:
                self.ended = True
            else:
                self.positions = np.concatenate((self.positions, part[0]))
                self.numbers = np.concatenate((self.numbers, part[1]))

    def skip_rest(self) -> None:
        """Read the rest of the log, and keep no row."""
        with suppress(BinlogError):
            for _ in self._parts:
                pass


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Rows that are selected: positions of events, and numbers of rows in them. All are known up to an offset."""

    positions: Numbers
    rows: Numbers
    limit: int


class ConditionRows:
    """The rows of one log after the other that a selection with a condition selects, in the order of the log.

    They are read ahead of the events that somebody else reads, by as much as is asked for at a time.

    reader   the `condition_reader`
    """

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        self.reader = condition_reader(selection, history)
        self._ahead = RowsAhead()
        self._payload = -1
        self._payload_rows = 0

    def begin_source(self, log: LogSource, *, skip_damaged: bool = False) -> None:
        """Begin a log file, which is read to its end: a transaction may end after the position to stop at."""
        make_readable_twice(log)
        on_damage = _ignore if skip_damaged else None
        self.begin(source_batches(replace(log, stop=None), self.reader, on_damage=on_damage))

    def begin(self, batches: Iterable[TableBatch]) -> None:
        """Begin a log that `reader` reads."""
        self.read_to_end()
        self._ahead = RowsAhead(row_numbers(batches))
        self._payload = -1

    def read_to_end(self) -> None:
        """Read the rest of a log of which no row is asked for: it may define tables of the next one."""
        self._ahead.skip_rest()

    def known(self, start: int, stop: int) -> KnownRows:
        """Return the rows between two offsets, at least as far as they can be read; those before are forgotten."""
        self._forget(start, 0)
        self._read_until(stop, 0)
        return KnownRows(self._ahead.positions, self._ahead.numbers, self._limit())

    def first_number(self, event: Event) -> int:
        """Return the number of the first row of an event; inside a payload, rows are numbered throughout."""
        if event.inner is None:
            return 0
        if event.offset != self._payload:
            self._payload, self._payload_rows = event.offset, 0
        return self._payload_rows

    def has_any(self, position: int, first: int = 0) -> bool:
        """Return whether an event has rows that are selected from a number on. Events are asked for in their order."""
        self._forget(position, first)
        self._read_until(position, first)
        if self._ahead.error is not None and position >= self._limit():
            raise self._ahead.error
        return len(self._ahead.positions) > 0 and bool(self._ahead.positions[0] == position)

    def numbers(self, position: int, end: int) -> Numbers:
        """Return the numbers of the rows of an event that are selected; `end` is that after its last row.

        `has_any` was asked before.
        """
        self._payload_rows = end
        self._read_until(position, end)
        return self._ahead.numbers[: self._count_before(position, end)]

    def _limit(self) -> int:
        """Return the offset up to which all rows that are selected are known."""
        if self._ahead.error is not None and self._ahead.error.position.offset is not None:
            return self._ahead.error.position.offset
        if self._ahead.ended and self._ahead.error is None:
            return _NO_OFFSET
        return int(self._ahead.positions[-1]) if len(self._ahead.positions) else 0

    def _read_until(self, position: int, row: int) -> None:
        """Read until all rows that are selected before this one are known, or no more can be read."""
        self._ahead.read_until(lambda: self._has_reached(position, row))

    def _has_reached(self, position: int, row: int) -> bool:
        return len(self._ahead.positions) > 0 and (self._ahead.positions[-1], self._ahead.numbers[-1]) >= (
            position,
            row,
        )

    def _forget(self, position: int, row: int) -> None:
        """Drop the rows before one."""
        count = self._count_before(position, row)
        if count:
            self._ahead.positions, self._ahead.numbers = self._ahead.positions[count:], self._ahead.numbers[count:]

    def _count_before(self, position: int, row: int) -> int:
        start, end = self._ahead.positions.searchsorted((position, position + 1))
        return int(start + self._ahead.numbers[start:end].searchsorted(row))


def _numbers(found: TableBatch, name: Metadata) -> Numbers:
    numbers: Numbers = found.origin(name).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _ignore(_damage: Damage) -> None:
    """Leave it to the reader of the events to report damage."""
