"""What a server answers to a dump: an event, the end, or an error."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.wire import Cursor, Writer

EVENT = 0x00
END = 0xFE
ERROR = 0xFF

_END_LENGTH = 9
_STATE_MARK = ord("#")
_STATE_LENGTH = 5


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
    """Whether a packet is EOF: a long one that begins alike is not."""
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
