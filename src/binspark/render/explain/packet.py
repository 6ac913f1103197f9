"""Explain a command of the replication protocol: the packet with which a replica registers or asks for a log."""

from __future__ import annotations

from binspark.errors import DecodeError, OptionError
from binspark.render.explain.explanation import Explanation, Field, Section, spell_out
from binspark.replication.commands import CommandCode, read_command
from binspark.wire import RecordingCursor, Span

_HEADER_LENGTH = 4
_LENGTH_BYTES = 3


def packet_bytes(text: str) -> bytes:
    """Parse the bytes of a packet, written in hex; spaces, colons and 0x do not count."""
    digits = "".join(text.lower().replace("0x", "").replace(":", "").split())
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        raise OptionError(f"must be bytes in hex, got {text!r}", option="packet") from None
    if not data:
        raise OptionError("must be bytes in hex, got none", option="packet")
    return data


def explain_packet(data: bytes) -> Explanation:
    """Explain the payload of a packet, with or without the packet's header of four bytes."""
    start = _HEADER_LENGTH if _has_header(data) else 0
    fields: list[Field] = []
    if start:
        length, number = int.from_bytes(data[:_LENGTH_BYTES], "little"), data[_LENGTH_BYTES]
        fields += [
            Field(Section.HEADER, 0, data[:3], "payload_length", "uint24", length, "bytes after the packet header"),
            Field(Section.HEADER, 3, data[3:4], "sequence_id", "uint8", number, "0: a command begins"),
        ]
    cursor = RecordingCursor(data, start)
    name, error = "COMMAND", None
    try:
        command = read_command(cursor)
        name = f"COM_{CommandCode(data[start]).name}"
        summary = repr(command)
        cursor.expect_end()
    except DecodeError as refused:
        error, summary = refused.message, ""
    fields += [_field(span, data) for span in cursor.spans]
    end = fields[-1].end if fields else start
    if end < len(data):
        rest = data[end:]
        fields.append(Field(Section.UNDECODED, end, rest, "undecoded", "bytes", rest, error or ""))
    return Explanation("packet", 0, len(data), name, None, tuple(fields), error=error, summary=summary)


def _has_header(data: bytes) -> bool:
    return len(data) > _HEADER_LENGTH and int.from_bytes(data[:_LENGTH_BYTES], "little") == len(data) - _HEADER_LENGTH


def _field(span: Span, data: bytes) -> Field:
    part = data[span.offset : span.end]
    meaning = "; ".join(words for words in (spell_out(span.kind, part), span.meaning) if words)
    return Field(Section.BODY, span.offset, part, span.name, span.kind, span.value, meaning)
