"""Search logs for a table that a pattern matches, without reading rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase

from binspark.errors import DecodeError
from binspark.event import Event, EventDecoder, TableMap, TransactionPayload
from binspark.files.header_scan import open_scanner
from binspark.files.splits import PlannedLog
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.kernels.walk import Look
from binspark.options.values import is_pattern

_MAX_EVENTS = 20_000
_MAX_NAME_BYTES = 255


def maps_table(logs: Sequence[PlannedLog], pattern: str) -> bool | None:
    """Return whether a log contains rows of a table that a name or pattern matches.

    None if that is not known after as many events as can be decoded in about a second.
    """
    left = _MAX_EVENTS
    for log in logs:
        if not log.can_split:
            return None
        for event in _maps(log, _known_beginning(pattern)):
            if isinstance(event.body, TableMap) and fnmatchcase(f"{event.body.schema}.{event.body.table}", pattern):
                return True
            left -= 1
            if not left:
                return None
    return False


def _maps(log: PlannedLog, name: bytes) -> Iterator[Event]:
    """Yield table maps whose names begin like this, and what is in payloads, up to damage."""
    decoder = EventDecoder(log.name)
    with suppress(DecodeError), open_scanner(log) as scanner:
        for event in scanner.events(
            Look.TABLE_MAPS | Look.PAYLOADS, max(log.start, FIRST_EVENT_OFFSET), log.size, name
        ):
            yield event
            if isinstance(event.body, TransactionPayload):
                yield from decoder.inner_events(event)


def _known_beginning(pattern: str) -> bytes:
    """Return how the names in a TABLE_MAP begin that a pattern may match: each has its length before it."""
    schema, _, table = pattern.partition(".")
    if is_pattern(schema) or not table:
        return b""
    return _encoded(schema) + (b"" if is_pattern(table) else _encoded(table))


def _encoded(name: str) -> bytes:
    encoded = name[:_MAX_NAME_BYTES].encode()[:_MAX_NAME_BYTES]
    return bytes((len(encoded),)) + encoded + b"\0"
