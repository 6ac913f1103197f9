"""Which rows a condition selects: those that `rows` finds, in step with the events that have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from binspark.changes.change import Change
from binspark.errors import DecodeError, Unsupported
from binspark.event import Event, Rows, TableMap
from binspark.event.rows import ROWS_KINDS, unknown_table_id
from binspark.schema.history import SchemaHistory
from binspark.values.options import Undecodable, ValueOptions
from binspark.values.rows import decode_change
from binspark.wire import Cursor

NO_OFFSET = (1 << 63) - 1
"""Instead of an offset in a log, after all of them."""

_ANY_TEXT = ValueOptions(undecodable=Undecodable.BINARY)


class PickedRows:
    """Follows the events of logs, and the changes that are selected in them, which are in the same order.

    A change has the position of its event and the number of its row in it; inside a payload both are those of the
    payload, whose rows are numbered throughout.
    """

    def __init__(self, history: SchemaHistory) -> None:
        self._history = history
        self._changes: Iterator[Change] = iter(())
        self._next: Change | None = None
        self._maps: dict[int, TableMap] = {}
        self._error: DecodeError | None = None
        self._payload = -1
        self._payload_rows = 0

    def begin_file(self, changes: Iterator[Change]) -> None:
        """Begin a log, in which these changes are selected."""
        self._changes = changes
        self._advance()
        self._payload = -1

    def end_file(self) -> None:
        """End a log: changes that could not be read are an error."""
        self._next = None
        self._check()

    def _advance(self) -> None:
        """Go to the next change. An error is raised when the changes before it are written."""
        try:
            self._next = next(self._changes, None)
        except DecodeError as error:
            self._next, self._error = None, error

    def _check(self) -> None:
        if self._next is None and self._error is not None:
            raise self._error

    @property
    def next_offset(self) -> int:
        """The offset of the next event of which rows are selected; 0 if that is not known."""
        if self._next is not None:
            return self._next.pos
        return NO_OFFSET if self._error is None else 0

    def note(self, event: Event) -> None:
        """Note which tables there are."""
        self._history.feed(event)
        if isinstance(event.body, TableMap):
            self._maps[event.body.table_id] = event.body

    def left_of(self, event: Event, rows: Rows) -> Rows | None:
        """Return a rows event with the rows that are selected; None if there are none."""
        first = 0
        if event.inner is not None:
            if event.offset != self._payload:
                self._payload, self._payload_rows = event.offset, 0
            first = self._payload_rows
        while self._next is not None and self._next.pos < event.offset:
            self._advance()
        self._check()
        if event.inner is None and (self._next is None or self._next.pos != event.offset):
            return None
        spans = self._spans(event, rows)
        self._payload_rows = first + len(spans)
        kept = [spans[number - first] for number in self._numbers(event.offset, first + len(spans))]
        if not kept:
            return None
        if len(kept) == len(spans):
            return rows
        return replace(rows, rows=b"".join(rows.rows[start:end] for start, end in kept), compressed=None)

    def _numbers(self, position: int, end: int) -> Iterator[int]:
        """Yield the numbers of the rows that are selected in an event, up to one of the next event."""
        while self._next is not None and self._next.pos == position and self._next.row < end:
            yield self._next.row
            self._advance()

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
