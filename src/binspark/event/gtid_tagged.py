"""GTID_TAGGED: a transaction begins, in MySQL's serialization framework (since 8.3).

A message is a version, its size, the id of the last field that a reader must know, and fields of id and value with
increasing ids. All are varlen integers (see `binspark.wire.packed`). Fields have no length, so that the end of a field
that a later server adds is not known: from the first unknown id on, the bytes are kept as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from uuid import UUID

from binspark.errors import Unsupported
from binspark.event.context import Context
from binspark.event.gtid import GtidFlag
from binspark.gtid import Gtid
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import code, flags, microseconds, note, quantity, server_version
from binspark.wire.packed import encode_varlen

_FRAMEWORK_VERSION = 1
_UUID_LENGTH = 16
_UUID_BYTES = tuple(f"sid_byte_{index}" for index in range(_UUID_LENGTH))
_LENGTH = quantity("byte", "all events of the transaction, this one included")
_MESSAGE_SIZE = quantity("byte", "from the version to the last field")
_NON_IGNORABLE = note("id of the last field that a reader must know, plus 1; 0: none")


class TaggedField(IntEnum):
    """The ids of the fields of a GTID_TAGGED."""

    GTID_FLAGS = 0
    SID = 1
    GNO = 2
    TAG = 3
    LAST_COMMITTED = 4
    SEQUENCE_NUMBER = 5
    IMMEDIATE_COMMIT_TIMESTAMP = 6
    ORIGINAL_COMMIT_TIMESTAMP = 7
    TRANSACTION_LENGTH = 8
    IMMEDIATE_SERVER_VERSION = 9
    ORIGINAL_SERVER_VERSION = 10
    COMMIT_GROUP_TICKET = 11


@dataclass(frozen=True, slots=True)
class GtidTagged:
    """GTID_TAGGED: a transaction begins whose GTID has a tag.

    The original commit time and version are those of the server that wrote the log unless the event contains others.
    """

    gtid_flags: int
    sid: str
    gno: int
    tag: str
    last_committed: int
    sequence_number: int
    immediate_commit_timestamp: int
    original_commit_timestamp: int
    transaction_length: int
    immediate_server_version: int
    original_server_version: int
    commit_group_ticket: int | None = None
    last_non_ignorable_field: int = 0
    unknown_fields: bytes = b""

    @property
    def gtid(self) -> Gtid:
        """The GTID of the transaction that follows, with its tag."""
        return Gtid(self.sid, self.gno, self.tag)


_REQUIRED = tuple(
    field
    for field in TaggedField
    if field
    not in (
        TaggedField.ORIGINAL_COMMIT_TIMESTAMP,
        TaggedField.ORIGINAL_SERVER_VERSION,
        TaggedField.COMMIT_GROUP_TICKET,
    )
)


def decode_gtid_tagged(body: Cursor, _context: Context) -> GtidTagged:
    """Decode GTID_TAGGED."""
    start = body.offset
    version = body.varlen("serialization_version")
    if version != _FRAMEWORK_VERSION:
        raise Unsupported(
            f"unsupported version {version} of the serialization framework, expected {_FRAMEWORK_VERSION}"
        )
    size = body.varlen("message_size", _MESSAGE_SIZE)
    last_non_ignorable = body.varlen("last_non_ignorable_field", _NON_IGNORABLE)
    message_end = start + size
    if not body.offset <= message_end <= body.end:
        raise body.malformed(f"message size is {size}, but the body has {body.end - start} bytes")
    if last_non_ignorable > max(TaggedField) + 1:
        raise Unsupported(
            f"unknown field {last_non_ignorable - 1} must not be ignored; a later version of binspark may support it"
        )
    message = body.sub("message", message_end - body.offset)
    return _from_fields(message, *_read_fields(message), last_non_ignorable)


def encode_gtid_tagged(event: GtidTagged, writer: Writer, _context: Context) -> None:
    """Encode GTID_TAGGED: the inverse of `decode_gtid_tagged`."""
    fields = Writer(writer.encoding)
    for field, value in _present_fields(event):
        fields.varlen(field)
        _WRITERS.get(field, Writer.varlen)(fields, value)
    fields.raw(event.unknown_fields)
    tail = encode_varlen(event.last_non_ignorable_field) + fields.take()
    version = encode_varlen(_FRAMEWORK_VERSION)
    writer.raw(version + _size_with_itself(len(version) + len(tail)) + tail)


def _read_fields(message: Cursor) -> tuple[dict[int, Any], bytes]:
    values: dict[int, Any] = {}
    expected = 0
    while message.remaining:
        field_start = message.offset
        field = message.varlen("field", code(TaggedField))
        if field not in TaggedField._value2member_map_:
            message.rest("unknown_fields")
            return values, message.data[field_start : message.offset]
        if field < expected:
            raise message.malformed(f"field {field} after field {expected - 1}, expected increasing ids")
        values[field] = _READERS[field](message)
        expected = field + 1
    return values, b""


def _from_fields(message: Cursor, values: dict[int, Any], unknown: bytes, last_non_ignorable: int) -> GtidTagged:
    missing = [field.name.lower() for field in _REQUIRED if field not in values]
    if missing:
        raise message.malformed(f"missing fields: {', '.join(missing)}")
    known = {TaggedField(field).name.lower(): value for field, value in values.items()}
    known.setdefault("original_commit_timestamp", known["immediate_commit_timestamp"])
    known.setdefault("original_server_version", known["immediate_server_version"])
    Gtid(known["sid"], known["gno"], known["tag"])  # raises an error for an invalid number or tag
    return GtidTagged(**known, last_non_ignorable_field=last_non_ignorable, unknown_fields=unknown)


def _present_fields(event: GtidTagged) -> list[tuple[int, Any]]:
    """Return the fields that a server writes: an original only if it differs, a ticket only if there is one."""
    same_time = event.original_commit_timestamp == event.immediate_commit_timestamp
    same_version = event.original_server_version == event.immediate_server_version
    omitted = {
        TaggedField.ORIGINAL_COMMIT_TIMESTAMP: same_time,
        TaggedField.ORIGINAL_SERVER_VERSION: same_version,
        TaggedField.COMMIT_GROUP_TICKET: event.commit_group_ticket is None,
    }
    return [(field, getattr(event, field.name.lower())) for field in TaggedField if not omitted.get(field)]


def _size_with_itself(size: int) -> bytes:
    """Encode a size that includes the length of its own encoding."""
    encoded = encode_varlen(size + 1)
    while len(encode_varlen(size + len(encoded))) != len(encoded):
        encoded = encode_varlen(size + len(encoded) + 1)
    return encode_varlen(size + len(encoded))


def _read_uuid(message: Cursor) -> str:
    """Read sixteen varlen integers, one for each byte of the UUID; those from 0x80 on take two bytes."""
    values: list[int] = []

    def meaning(byte: int) -> str:
        return _uuid_byte_meaning([*values, byte])

    for name in _UUID_BYTES:
        values.append(message.varlen(name, meaning))  # noqa: PERF401 (the meaning uses the values before)
    if max(values) > 0xFF:
        raise message.malformed(f"a byte of the UUID is {max(values)}, expected at most 255")
    return str(UUID(bytes=bytes(values)))


def _uuid_byte_meaning(values: list[int]) -> str:
    if len(values) < _UUID_LENGTH or max(values) > 0xFF:
        return f"0x{values[-1]:02x}"
    return f"0x{values[-1]:02x}; {UUID(bytes=bytes(values))}"


def _write_uuid(writer: Writer, value: str) -> None:
    for byte in UUID(value).bytes:
        writer.varlen(byte)


def _write_tag(writer: Writer, value: str) -> None:
    raw = writer.encode_text(value)
    writer.varlen(len(raw))
    writer.raw(raw)


_READERS: dict[int, Callable[[Cursor], Any]] = {
    TaggedField.GTID_FLAGS: lambda message: message.varlen("gtid_flags", flags(GtidFlag)),
    TaggedField.SID: _read_uuid,
    TaggedField.GNO: lambda message: message.signed_varlen("gno"),
    TaggedField.TAG: lambda message: message.text("tag", message.varlen("tag_length")),
    TaggedField.LAST_COMMITTED: lambda message: message.signed_varlen("last_committed"),
    TaggedField.SEQUENCE_NUMBER: lambda message: message.signed_varlen("sequence_number"),
    TaggedField.IMMEDIATE_COMMIT_TIMESTAMP: lambda message: message.varlen("immediate_commit_timestamp", microseconds),
    TaggedField.ORIGINAL_COMMIT_TIMESTAMP: lambda message: message.varlen("original_commit_timestamp", microseconds),
    TaggedField.TRANSACTION_LENGTH: lambda message: message.varlen("transaction_length", _LENGTH),
    TaggedField.IMMEDIATE_SERVER_VERSION: lambda message: message.varlen("immediate_server_version", server_version),
    TaggedField.ORIGINAL_SERVER_VERSION: lambda message: message.varlen("original_server_version", server_version),
    TaggedField.COMMIT_GROUP_TICKET: lambda message: message.varlen("commit_group_ticket"),
}

_WRITERS: dict[int, Callable[[Writer, Any], None]] = {
    TaggedField.SID: _write_uuid,
    TaggedField.GNO: Writer.signed_varlen,
    TaggedField.TAG: _write_tag,
    TaggedField.LAST_COMMITTED: Writer.signed_varlen,
    TaggedField.SEQUENCE_NUMBER: Writer.signed_varlen,
}
