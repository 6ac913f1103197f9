"""HEARTBEAT and HEARTBEAT_V2: what a source sends while it has no events to send. They are not in any log file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from binspark.event.context import Context
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import code
from binspark.wire.packed import encode_packed

_LONG_POSITION = 8


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """HEARTBEAT: the log file that the source sends from; the position is in the header.

    A position past 4 GiB does not fit in the header: MariaDB writes it to the body, and 0 to the header. The protocol's
    documents show a heartbeat without a body, whose `log_file` is empty; servers always write the name.
    """

    log_file: str
    log_position: int | None = None


class HeartbeatField(IntEnum):
    """The fields of HEARTBEAT_V2."""

    END = 0
    LOG_FILE = 1
    LOG_POSITION = 2


@dataclass(frozen=True, slots=True)
class HeartbeatV2:
    """HEARTBEAT_V2: log file and position of the source; the position may be past 4 GiB."""

    log_file: str | None
    log_position: int | None
    unknown_fields: tuple[tuple[int, bytes], ...] = ()


def decode_heartbeat(body: Cursor, _context: Context) -> Heartbeat:
    """Decode HEARTBEAT.

    offset  bytes  field
    0       8      position past 4 GiB; present if byte 7 is 0, as in every position and in no file name
    0 or 8  rest   name of the file, not terminated
    """
    # No flag announces the position. Its highest byte is 0 for all logs below 2^56 bytes, and a name contains no 0.
    is_far = body.remaining > _LONG_POSITION and not body.data[body.offset + _LONG_POSITION - 1]
    log_position = body.u64("log_position") if is_far else None
    return Heartbeat(body.rest_text("log_file"), log_position)


def encode_heartbeat(event: Heartbeat, writer: Writer, _context: Context) -> None:
    """Encode HEARTBEAT: the inverse of `decode_heartbeat`."""
    if event.log_position is not None:
        writer.u64(event.log_position)
    writer.text(event.log_file)


def decode_heartbeat_v2(body: Cursor, _context: Context) -> HeartbeatV2:
    """Decode HEARTBEAT_V2: fields of packed type, packed length, value; type 0 ends them.

    type  value
    1     name of the file
    2     position, a packed integer
    """
    log_file: str | None = None
    log_position: int | None = None
    unknown: list[tuple[int, bytes]] = []
    while body.remaining and (kind := body.packed("field", code(HeartbeatField))) != HeartbeatField.END:
        length = body.packed("length")
        match kind:
            case HeartbeatField.LOG_FILE:
                log_file = body.text("log_file", length)
            case HeartbeatField.LOG_POSITION:
                log_position = body.packed("log_position")
            case _:
                unknown.append((kind, body.raw("unknown_field", length)))
    body.expect_end()
    return HeartbeatV2(log_file, log_position, tuple(unknown))


def encode_heartbeat_v2(event: HeartbeatV2, writer: Writer, _context: Context) -> None:
    """Encode HEARTBEAT_V2: the inverse of `decode_heartbeat_v2`."""
    if event.log_file is not None:
        writer.tagged(HeartbeatField.LOG_FILE, writer.encode_text(event.log_file))
    if event.log_position is not None:
        writer.tagged(HeartbeatField.LOG_POSITION, encode_packed(event.log_position))
    for kind, value in event.unknown_fields:
        writer.tagged(kind, value)
    writer.packed(HeartbeatField.END)
