"""INCIDENT: the source's log may lack events. IGNORABLE: an event that may be skipped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from binspark.event.context import Context
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import code


class IncidentKind(IntEnum):
    """The kinds of incidents."""

    NONE = 0
    LOST_EVENTS = 1


@dataclass(frozen=True, slots=True)
class Incident:
    """INCIDENT: events may be missing from here on."""

    incident: int
    message: str


@dataclass(frozen=True, slots=True)
class Ignorable:
    """IGNORABLE: a placeholder without a defined meaning."""

    data: bytes


def decode_incident(body: Cursor, _context: Context) -> Incident:
    """Decode INCIDENT.

    offset  bytes  field
    0       2      1: lost events
    2       1      length of the message
    3       n      message
    """
    kind = body.u16("incident", code(IncidentKind))
    return Incident(kind, body.text("message", body.u8("message_length")))


def encode_incident(event: Incident, writer: Writer, _context: Context) -> None:
    """Encode INCIDENT: the inverse of `decode_incident`."""
    message = writer.encode_text(event.message)
    writer.u16(event.incident)
    writer.u8(len(message))
    writer.raw(message)


def decode_ignorable(body: Cursor, _context: Context) -> Ignorable:
    """Decode IGNORABLE: bytes without a defined layout."""
    return Ignorable(body.rest("data"))


def encode_ignorable(event: Ignorable, writer: Writer, _context: Context) -> None:
    """Encode IGNORABLE: the inverse of `decode_ignorable`."""
    writer.raw(event.data)
