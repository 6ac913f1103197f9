"""Single events and complete logs, decoded for tests."""

from __future__ import annotations

from typing import Any

from binspark.event import Event, TransactionPayload, decode_event, encode_body, inner_events
from binspark.frames import ChecksumAlgorithm, Framer
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.testing.builder import MYSQL_9_7, HeaderFields, ServerKind, event_bytes

FIRST_OFFSET = 4


def decode(type_code: int, body: bytes | str, kind: ServerKind = MYSQL_9_7, limits: Limits = DEFAULT_LIMITS) -> Event:
    """Decode one event of a log without checksums, given its body as bytes or in hex."""
    raw = bytes.fromhex(body) if isinstance(body, str) else body
    log_format = kind.log_format(ChecksumAlgorithm.NONE)
    event = event_bytes(type_code, raw, HeaderFields(1_700_000_000, 1), log_format, FIRST_OFFSET)
    (frame,) = Framer(log_format, FIRST_OFFSET).feed(event)
    return decode_event(frame, "binlog.000001", limits)


def decode_body_of(type_code: int, body: bytes | str, kind: ServerKind = MYSQL_9_7) -> Any:
    """Decode one event to the end, and return its body."""
    event = decode(type_code, body, kind)
    assert event.extra == b""
    return event.body


def encode(type_code: int, body: Any, kind: ServerKind = MYSQL_9_7) -> bytes:
    """Encode the body of one event of a log without checksums."""
    return encode_body(type_code, body, kind.log_format(ChecksumAlgorithm.NONE))


def read_log(content: bytes) -> list[Event]:
    """Decode all events of a complete log; those inside payloads follow their payload."""
    events: list[Event] = []
    framer = Framer()
    for frame in framer.feed(content):
        event = decode_event(frame, "binlog.000001")
        events.append(event)
        if isinstance(event.body, TransactionPayload):
            events += inner_events(event)
    framer.finish()
    return events


def complete_event(event: str) -> Event:
    """Decode one event with header and checksum, given in hex, out of a log of MySQL 8 or 9."""
    log_format = MYSQL_9_7.log_format(ChecksumAlgorithm.CRC32)
    (frame,) = Framer(log_format).feed(bytes.fromhex(event))
    return decode_event(frame)
