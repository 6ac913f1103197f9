"""Which rows a condition selects, in step with the events that have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from binspark.columns.selection import Selection
from binspark.errors import BinlogError, OptionError, Unsupported
from binspark.event import Event, Rows, TableMap
from binspark.event.rows import ROWS_KINDS, unknown_table_id
from binspark.files.batches import source_batches
from binspark.files.condition_rows import Numbers, condition_reader, condition_rows
from binspark.files.sources import STANDARD_INPUT, LogSource
from binspark.schema.history import SchemaHistory
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import decode_change
from binspark.wire import Cursor

_NO_OFFSET = (1 << 63) - 1
_NONE = np.zeros(0, dtype=np.int64)
_ANY_TEXT = ValueOptions(undecodable=Undecodable.BINARY)


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Rows that are selected: positions of events, and numbers of rows in them. All are known up to an offset."""

    positions: Numbers
    rows: Numbers
    limit: int


class PickedRows:
    """Follows the events of logs, and the rows that are selected in them, which are in the same order.

    Rows are read ahead of events, by as much as is asked for at a time.
    """

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        # Times, servers and positions select complete transactions: not by those of each event in them.
        within = replace(
            selection, start_position=None, stop_position=None, start_time=0, stop_time=None, server_id=None
        )
        self._reader = condition_reader(within, history)
        self._history = history
        self._maps: dict[int, TableMap] = {}
        self._parts: Iterator[tuple[Numbers, Numbers]] = iter(())
        self._positions = self._rows = _NONE
        self._ended = True
        self._error: BinlogError | None = None
        self._payload = -1
        self._payload_rows = 0

    def begin_file(self, log: LogSource) -> None:
        """Begin a log."""
        if log.name == STANDARD_INPUT:
            raise OptionError("needs logs that can be read twice, which standard input cannot", option="where")
        self._read_to_end()
        # A transaction that begins before the position to stop at is read to its end.
        self._parts = condition_rows(source_batches(replace(log, stop=None), self._reader))
        self._positions = self._rows = _NONE
        self._ended, self._error = False, None
        self._payload = -1

    def note(self, event: Event) -> None:
        """Note which tables there are."""
        self._history.feed(event)
        if isinstance(event.body, TableMap):
            self._maps[event.body.table_id] = event.body

    def known(self, start: int, stop: int) -> KnownRows:
        """Return the rows that are selected between two offsets, at least as far as they can be read."""
        self._forget(start, 0)
        self._read_until(stop, 0)
        return KnownRows(self._positions, self._rows, self._limit())

    def left_of(self, event: Event, rows: Rows) -> Rows | None:
        """Return a rows event with the rows that are selected; None if there are none."""
        offset, first = event.offset, 0
        if event.inner is not None:
            if offset != self._payload:
                self._payload, self._payload_rows = offset, 0
            first = self._payload_rows
        self._forget(offset, first)
        self._read_until(offset, first)
        if self._error is not None and offset >= self._limit():
            raise self._error
        if event.inner is None and (not len(self._positions) or self._positions[0] != offset):
            return None
        spans = self._spans(event, rows)
        self._payload_rows = first + len(spans)
        kept = [spans[number - first] for number in self._numbers(offset, first + len(spans))]
        if not kept:
            return None
        if len(kept) == len(spans):
            return rows
        return replace(rows, rows=b"".join(rows.rows[start:end] for start, end in kept), compressed=None)

    def _limit(self) -> int:
        """Return the offset up to which all rows that are selected are known."""
        if self._error is not None and self._error.position.offset is not None:
            return self._error.position.offset
        if self._ended and self._error is None:
            return _NO_OFFSET
        return int(self._positions[-1]) if len(self._positions) else 0

    def _numbers(self, position: int, end: int) -> list[int]:
        """Return the numbers of the rows that are selected in an event, up to one of the next event."""
        self._read_until(position, end)
        numbers: list[int] = self._rows[: self._count_before(position, end)].tolist()
        return numbers

    def _read_until(self, position: int, row: int) -> None:
        """Read until all rows that are selected before this one are known, or no more can be read."""
        while not self._ended and not self._has_reached(position, row):
            part = None
            try:
                part = next(self._parts, None)
            except BinlogError as error:
                self._error = error
            if part is None:
                self._ended = True
            else:
                self._positions = np.concatenate((self._positions, part[0]))
                self._rows = np.concatenate((self._rows, part[1]))

    def _read_to_end(self) -> None:
        """Read the rest of a log of which no row is asked for: it may define tables of the next one."""
        with suppress(BinlogError):
            for _ in self._parts:
                pass

    def _has_reached(self, position: int, row: int) -> bool:
        return len(self._positions) > 0 and (self._positions[-1], self._rows[-1]) >= (position, row)

    def _forget(self, position: int, row: int) -> None:
        """Forget the rows before one."""
        count = self._count_before(position, row)
        if count:
            self._positions, self._rows = self._positions[count:], self._rows[count:]

    def _count_before(self, position: int, row: int) -> int:
        start, end = self._positions.searchsorted((position, position + 1))
        return int(start + self._rows[start:end].searchsorted(row))

    def _spans(self, event: Event, rows: Rows) -> list[tuple[int, int]]:
        """Return where each row is in the rows of an event."""
        kind = ROWS_KINDS[event.type_code]
        if kind.partial:
            raise Unsupported("partial updates of JSON documents cannot be cut by a condition", event.position)
        table_map = self._maps.get(rows.table_id)
        if table_map is None:
            raise unknown_table_id(rows, event.position)
        columns = self._history.table_schema(table_map, event.position).columns
        cursor, spans = Cursor(rows.rows), []
        while cursor.remaining:
            start = cursor.offset
            decode_change(cursor, rows, kind, columns, _ANY_TEXT)
            spans.append((start, cursor.offset))
        return spans
