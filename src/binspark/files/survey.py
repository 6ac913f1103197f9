"""What is known of tables over a set of logs: the DDL of all of them, and the newest shape of one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError
from binspark.event import Event, EventDecoder, TableMap, TransactionPayload
from binspark.files.hops import Hopper, opened
from binspark.files.read import source_events
from binspark.files.splits import PlannedLog
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.kernels.walk import Look
from binspark.schema.history import SchemaHistory, may_define_tables
from binspark.schema.table import TableSchema

_READERS = 8
_WINDOW = 64 << 20
_LONGEST_NAME = 255


def read_history(logs: Sequence[PlannedLog], history: SchemaHistory) -> SchemaHistory:
    """Feed a history with all that logs say about tables, and return it. Rows are stepped over.

    Of a log that is narrowed, what stands before its first offset is left out; an event must begin there.
    """
    with ThreadPoolExecutor(_READERS) as pool:
        for events in pool.map(_definitions, logs):
            for event in events:
                history.feed(event)
    return history


def newest_shape(logs: Sequence[PlannedLog], table: str, history: SchemaHistory) -> tuple[TableSchema, Event] | None:
    """Return the shape that a table had when the logs last mapped it, and the event that did; None if none does."""
    for log in reversed(logs):
        event = _last_map(log, table)
        if event is not None:
            then = history.at(event.file, event.offset)
            then.feed(event)
            return then.table_schema(event.body, event.position), event
    return None


def _definitions(log: PlannedLog) -> list[Event]:
    """Return the first event of a log and the statements that may define tables."""
    return [event for event in _sound(_statements(log)) if _tells(event)]


def _statements(log: PlannedLog) -> Iterator[Event]:
    if not log.can_split:
        yield from source_events(log.source)
        return
    with opened(log) as hopper:
        yield EventDecoder(log.name).decode(hopper.head.frame)
        yield from hopper.events(Look.STATEMENTS, max(log.first, FIRST_EVENT_OFFSET))


def _sound(events: Iterator[Event]) -> Iterator[Event]:
    """Yield events up to what is damaged: whoever reads the rows reports that."""
    with suppress(DecodeError):
        yield from events


def _tells(event: Event) -> bool:
    if event.offset == FIRST_EVENT_OFFSET:
        return True
    return may_define_tables(event.body)


def _last_map(log: PlannedLog, table: str) -> Event | None:
    """Return the last TABLE_MAP of a table in a log."""
    if not log.can_split:
        return _last(_sound(source_events(log.source)), table)
    with suppress(DecodeError), opened(log) as hopper:
        return _last_in_windows(hopper, table)
    return None


def _last_in_windows(hopper: Hopper, table: str) -> Event | None:
    """Look through a log backwards, a window at a time."""
    log = hopper.log
    finder = LogBytes(hopper.file.read_at, log.size, hopper.head.format)
    start = end = log.size
    while start > FIRST_EVENT_OFFSET:
        start = max(FIRST_EVENT_OFFSET, start - _WINDOW)
        begin = start if start == FIRST_EVENT_OFFSET else finder.find_start(start, end)
        if begin is not None:
            found = _last(_maps(hopper, begin, end, table), table)
            if found is not None:
                return found
            end = begin
    return None


def _maps(hopper: Hopper, start: int, end: int, table: str) -> Iterator[Event]:
    """Yield the TABLE_MAPs of a table, and all events inside payloads."""
    decoder = EventDecoder(hopper.log.name)
    for event in hopper.events(Look.TABLE_MAPS | Look.PAYLOADS, start, end, _written(table)):
        yield event
        if isinstance(event.body, TransactionPayload):
            yield from _sound(decoder.inner_events(event))


def _written(table: str) -> bytes:
    """Return how a TABLE_MAP writes the name of a table. Longer names than it can write are none of a table."""
    parts = [part[:_LONGEST_NAME].encode()[:_LONGEST_NAME] for part in table.partition(".")[::2]]
    return b"".join(bytes((len(part),)) + part + b"\0" for part in parts)


def _last(events: Iterator[Event], table: str) -> Event | None:
    last = None
    for event in events:
        if isinstance(event.body, TableMap) and f"{event.body.schema}.{event.body.table}" == table:
            last = event
    return last
