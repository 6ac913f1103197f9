"""Semi-synchronous replication: a source waits with its answer to a client until a reader has acknowledged.

Where both sides agreed on it, two bytes stand before every event: a magic, and whether the source waits. The reader
answers with the place up to which it has everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from binspark.wire import Cursor, Writer

MAGIC = 0xEF
HEADER_LENGTH = 2
_WAITS = 0x01


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What a reader has: everything up to a place."""

    file: str
    position: int


def decode_header(packet: Cursor) -> bool:
    """Decode what stands before an event; return whether the source waits for an acknowledgement.

    offset  bytes  field
    0       1      0xef
    1       1      1 if the source waits, else 0
    """
    magic = packet.u8("magic")
    if magic != MAGIC:
        raise packet.malformed(f"0x{magic:02x} where the mark of semi-synchronous replication, 0x{MAGIC:02x}, stands")
    return bool(packet.u8("waits") & _WAITS)


def encode_header(*, waits: bool) -> bytes:
    """Encode what stands before an event."""
    return bytes((MAGIC, _WAITS if waits else 0))


def decode_acknowledgement(packet: Cursor) -> Acknowledgement:
    """Decode a reader's answer.

    offset  bytes  field
    0       1      0xef
    1       8      where the event that is acknowledged ends
    9       rest   name of its log
    """
    magic = packet.u8("magic")
    if magic != MAGIC:
        raise packet.malformed(f"0x{magic:02x} does not begin an acknowledgement")
    position = packet.u64("position")
    return Acknowledgement(packet.rest_text("file"), position)


def encode_acknowledgement(acknowledgement: Acknowledgement) -> bytes:
    """Encode a reader's answer."""
    writer = Writer()
    writer.u8(MAGIC)
    writer.u64(acknowledgement.position)
    writer.text(acknowledgement.file)
    return writer.take()
