"""Scan logs for schemas: all DDL in them, and the newest schema of one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError
from binspark.event import Event, EventDecoder, TableMap, TransactionPayload
from binspark.files.header_scan import HeaderScanner, open_scanner
from binspark.files.read import read_frames
from binspark.files.rolled_back import rolled_back_rows
from binspark.files.splits import PlannedLog
from binspark.frames import EventCode
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.kernels.walk import Look
from binspark.schema.history import SchemaHistory, is_logged_statement, is_rollback, logged_rows, may_define_tables
from binspark.schema.table import TableSchema
from binspark.transactions.rollbacks import RollbackFollower, is_followed

_PARALLEL_SCANS = 8
_WINDOW = 64 << 20
_MAX_NAME_BYTES = 255
_HEADS = frozenset({EventCode.FORMAT_DESCRIPTION, EventCode.START_V3})
_STATEMENTS = _HEADS | {EventCode.QUERY, EventCode.QUERY_COMPRESSED, EventCode.EXECUTE_LOAD_QUERY}
_MAPS = _HEADS | {EventCode.TABLE_MAP, EventCode.TRANSACTION_PAYLOAD}


def read_history(
    logs: Sequence[PlannedLog], history: SchemaHistory, *, with_logged_statements: bool = False
) -> SchemaHistory:
    """Feed a history with the DDL of logs, and return it. Rows are skipped.

    A narrowed log is scanned from its start offset, where an event must begin. `with_logged_statements` records
    statements that change rows (`LoggedRows`), and which rows of logs were rolled back (`RolledBackRows`).
    """
    follower = RollbackFollower()
    with ThreadPoolExecutor(_PARALLEL_SCANS) as pool:
        scans = pool.map(partial(_definitions, with_logged_statements=with_logged_statements), logs)
        for log, events in zip(logs, scans, strict=True):
            rolled_back = rolled_back_rows(log, events, follower) if with_logged_statements else {}
            for event in events:
                history.feed(event)
                if with_logged_statements and is_logged_statement(event.body):
                    history.record(event, logged_rows(event))
                elif event.offset in rolled_back:
                    history.record(event, rolled_back[event.offset])
    return history


def newest_schema(logs: Sequence[PlannedLog], table: str, history: SchemaHistory) -> tuple[TableSchema, Event] | None:
    """Return the schema of a table at its last TABLE_MAP, and that event; None if no log maps the table."""
    for log in reversed(logs):
        event = _last_map(log, table)
        if event is not None:
            history_there = history.at(event.file, event.offset)
            history_there.feed(event)
            return history_there.table_schema(event.body, event.position), event
    return None


def _definitions(log: PlannedLog, *, with_logged_statements: bool) -> list[Event]:
    """Return the first event of a log, the statements that may define tables, and some that concern rows.

    Those change rows, or roll back rows that are in the log: the first of each, or all with what they depend on.
    """
    found: list[Event] = []
    sought = [is_logged_statement, is_rollback]
    for event in _before_damage(_statements(log)):
        if _defines_tables(event) or (with_logged_statements and is_followed(event)):
            found.append(event)
            continue
        kind = next((kind for kind in sought if kind(event.body)), None)
        if kind is not None:
            found.append(event)
            if not with_logged_statements:
                sought.remove(kind)
    return found


def _statements(log: PlannedLog) -> Iterator[Event]:
    if not log.can_split:
        yield from _events_of(log, _STATEMENTS)
        return
    with open_scanner(log) as scanner:
        yield EventDecoder(log.name).decode(scanner.head.frame)
        yield from scanner.events(Look.STATEMENTS, max(log.start, FIRST_EVENT_OFFSET))


def _events_of(log: PlannedLog, codes: frozenset[int]) -> Iterator[Event]:
    """Yield the events of some types in a log that has to be read from its beginning, also those inside payloads."""
    decoder = EventDecoder(log.name)
    for frame in read_frames(log.source):
        if frame.type_code not in codes:
            continue
        event = decoder.decode(frame)
        yield event
        if frame.type_code == EventCode.TRANSACTION_PAYLOAD:
            yield from decoder.inner_events(event)


def _before_damage(events: Iterator[Event]) -> Iterator[Event]:
    """Yield events up to damage, which is reported when rows are read."""
    with suppress(DecodeError):
        yield from events


def _defines_tables(event: Event) -> bool:
    return event.offset == FIRST_EVENT_OFFSET or may_define_tables(event.body)


def _last_map(log: PlannedLog, table: str) -> Event | None:
    """Return the last TABLE_MAP of a table in a log."""
    if not log.can_split:
        return _last(_before_damage(_events_of(log, _MAPS)), table)
    with suppress(DecodeError), open_scanner(log) as scanner:
        return _last_in_windows(scanner, table)
    return None


def _last_in_windows(scanner: HeaderScanner, table: str) -> Event | None:
    """Search a log backwards, one window at a time."""
    log = scanner.log
    finder = LogBytes(scanner.file.read_at, log.size, scanner.head.format)
    start = end = log.size if log.end is None else min(log.size, log.end)
    while start > FIRST_EVENT_OFFSET:
        start = max(FIRST_EVENT_OFFSET, start - _WINDOW)
        begin = start if start == FIRST_EVENT_OFFSET else finder.find_start(start, end)
        if begin is not None:
            found = _last(_maps(scanner, begin, end, table), table)
            if found is not None:
                return found
            end = begin
    return None


def _maps(scanner: HeaderScanner, start: int, end: int, table: str) -> Iterator[Event]:
    """Yield the TABLE_MAPs of a table, every payload, and the events inside payloads."""
    decoder = EventDecoder(scanner.log.name)
    for event in scanner.events(Look.TABLE_MAPS | Look.PAYLOADS, start, end, _encoded_name(table)):
        yield event
        if isinstance(event.body, TransactionPayload):
            yield from _before_damage(decoder.inner_events(event))


def _encoded_name(table: str) -> bytes:
    """Return the name of a table as it is written in a TABLE_MAP. No table has a name too long for that."""
    parts = [part[:_MAX_NAME_BYTES].encode()[:_MAX_NAME_BYTES] for part in table.partition(".")[::2]]
    return b"".join(bytes((len(part),)) + part + b"\0" for part in parts)


def _last(events: Iterator[Event], table: str) -> Event | None:
    last = None
    for event in events:
        if isinstance(event.body, TableMap) and f"{event.body.schema}.{event.body.table}" == table:
            last = event
    return last
