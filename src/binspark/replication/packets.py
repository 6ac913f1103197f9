"""What a server sends in a dump (an event, the end, an error), and what a reader answers.

Semi-synchronous replication: a source delays its answer to a client until a reader has acknowledged the transaction. If
both sides agreed on it, two bytes come before every event: a magic number, and whether the source waits. The reader
answers with the position up to which it has everything.
"""

from __future__ import annotations

from dataclasses import dataclass

from binspark.replication.position import BinlogPosition
from binspark.wire import Cursor, Writer

EVENT = 0x00
END = 0xFE
ERROR = 0xFF

SEMI_SYNC_MAGIC = 0xEF
SEMI_SYNC_LENGTH = 2

_END_LENGTH = 9
_STATE_MARK = ord("#")
_STATE_LENGTH = 5
_WAITS = 0x01


@dataclass(frozen=True, slots=True)
class EndPacket:
    """EOF: the dump ends here."""

    warnings: int = 0
    status: int = 0


@dataclass(frozen=True, slots=True)
class ErrorPacket:
    """ERR: the dump failed."""

    code: int
    message: str
    state: str = ""


def is_end(packet: bytes) -> bool:
    """Return whether a packet is EOF: a long one that begins with the same byte is not."""
    return packet[:1] == bytes((END,)) and len(packet) < _END_LENGTH


def decode_end(packet: bytes) -> EndPacket:
    """Decode EOF.

    offset  bytes  field
    0       1      0xfe
    1       2      number of warnings   (not before 4.1)
    3       2      status flags         (not before 4.1)
    """
    body = Cursor(packet, 1)
    if not body.remaining:
        return EndPacket()
    end = EndPacket(body.u16("warnings"), body.u16("status"))
    body.expect_end()
    return end


def encode_end(packet: EndPacket) -> bytes:
    """Encode EOF."""
    writer = Writer()
    writer.u8(END)
    writer.u16(packet.warnings)
    writer.u16(packet.status)
    return writer.take()


def decode_error(packet: bytes) -> ErrorPacket:
    """Decode ERR.

    offset  bytes  field
    0       1      0xff
    1       2      error code
    3       1      #            (not before 4.1, nor before the login)
    4       5      SQL state    (likewise)
    9       rest   message
    """
    body = Cursor(packet, 1)
    code = body.u16("code")
    state = ""
    if body.remaining > _STATE_LENGTH and packet[body.offset] == _STATE_MARK:
        body.u8("state_mark")
        state = body.text("state", _STATE_LENGTH)
    return ErrorPacket(code, body.rest("message").decode("utf-8", "replace"), state)


def encode_error(packet: ErrorPacket) -> bytes:
    """Encode ERR."""
    writer = Writer()
    writer.u8(ERROR)
    writer.u16(packet.code)
    if packet.state:
        writer.u8(_STATE_MARK)
        writer.text(packet.state)
    writer.text(packet.message)
    return writer.take()


def decode_semi_sync_header(packet: Cursor) -> bool:
    """Decode what comes before an event; return whether the source waits for an acknowledgement.

    offset  bytes  field
    0       1      0xef
    1       1      1 if the source waits, else 0
    """
    _expect_magic(packet, "before an event")
    return bool(packet.u8("waits") & _WAITS)


def encode_semi_sync_header(*, waits: bool) -> bytes:
    """Encode what comes before an event."""
    return bytes((SEMI_SYNC_MAGIC, _WAITS if waits else 0))


def decode_acknowledgement(packet: Cursor) -> BinlogPosition:
    """Decode a reader's answer: the position up to which it has everything.

    offset  bytes  field
    0       1      0xef
    1       8      where the acknowledged event ends
    9       rest   name of its log
    """
    _expect_magic(packet, "in an acknowledgement")
    offset = packet.u64("position")
    return BinlogPosition(packet.rest_text("file"), offset)


def encode_acknowledgement(position: BinlogPosition) -> bytes:
    """Encode a reader's answer."""
    writer = Writer()
    writer.u8(SEMI_SYNC_MAGIC)
    writer.u64(position.offset)
    writer.text(position.file)
    return writer.take()


def _expect_magic(packet: Cursor, where: str) -> None:
    magic = packet.u8("magic")
    if magic != SEMI_SYNC_MAGIC:
        expected = f"expected 0x{SEMI_SYNC_MAGIC:02x} of semi-synchronous replication {where}"
        raise packet.malformed(f"found 0x{magic:02x}, {expected}")
