"""Events of unknown types: kept with all their bytes, never dropped."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context
from binspark.wire import Cursor, Writer


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of an unknown type, with the bytes of its body."""

    code: int
    body: bytes


def decode_unknown(body: Cursor, context: Context) -> UnknownEvent:
    """Keep the body as it is."""
    return UnknownEvent(context.type_code, body.rest("body"))


def encode_unknown(event: UnknownEvent, writer: Writer, _context: Context) -> None:
    """Encode an event of an unknown type: the inverse of `decode_unknown`."""
    writer.raw(event.body)
