"""TRANSACTION_PAYLOAD: the events of a transaction in one event. LARGE_TRANSACTION_HEADER: where a transaction ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from binspark.event.context import Context
from binspark.frames import type_name
from binspark.frames.payload import PayloadCompression
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import code, note, quantity
from binspark.wire.packed import encode_packed


class PayloadField(IntEnum):
    """The ids of the fields before a payload."""

    END = 0
    PAYLOAD_SIZE = 1
    COMPRESSION_TYPE = 2
    UNCOMPRESSED_SIZE = 3


@dataclass(frozen=True, slots=True)
class TransactionPayload:
    """TRANSACTION_PAYLOAD: the events of a transaction. `uncompressed_size` is None if they are not compressed."""

    compression_type: int
    uncompressed_size: int | None
    payload: bytes
    unknown_fields: tuple[tuple[int, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class LargeTransactionHeader:
    """LARGE_TRANSACTION_HEADER: the offset of the event that ends a large transaction. The padding has no meaning."""

    version: int
    terminating_event_offset: int
    terminating_event_type: int
    padding: bytes


_BYTES = quantity("byte")
_LARGE = Layout(
    ("version", "B"),
    ("terminating_event_offset", "Q", note("of the event that ends the transaction")),
    ("terminating_event_type", "B", type_name),
)


def decode_transaction_payload(body: Cursor, _context: Context) -> TransactionPayload:
    """Decode TRANSACTION_PAYLOAD: fields of packed type, packed length, value; type 0 ends them; then the payload.

    type  value
    1     size of the payload, a packed integer
    2     compression, a packed integer; 0: zstd, 255: none
    3     uncompressed size of the payload, a packed integer
    """
    values: dict[int, int] = {}
    unknown: list[tuple[int, bytes]] = []
    while (kind := body.packed("field", code(PayloadField))) != PayloadField.END:
        part = body.sub("value", body.packed("length", _BYTES))
        match kind:
            case PayloadField.PAYLOAD_SIZE | PayloadField.UNCOMPRESSED_SIZE:
                values[kind] = part.packed(PayloadField(kind).name.lower(), _BYTES)
            case PayloadField.COMPRESSION_TYPE:
                values[kind] = part.packed("compression_type", code(PayloadCompression))
            case _:
                unknown.append((kind, part.rest("unknown_field")))
        part.expect_end()
    if PayloadField.PAYLOAD_SIZE not in values or PayloadField.COMPRESSION_TYPE not in values:
        raise body.malformed("transaction payload without PAYLOAD_SIZE or COMPRESSION_TYPE")
    payload = body.raw("payload", values[PayloadField.PAYLOAD_SIZE], note("the events of the transaction"))
    return TransactionPayload(
        values[PayloadField.COMPRESSION_TYPE], values.get(PayloadField.UNCOMPRESSED_SIZE), payload, tuple(unknown)
    )


def encode_transaction_payload(event: TransactionPayload, writer: Writer, _context: Context) -> None:
    """Encode TRANSACTION_PAYLOAD: the inverse of `decode_transaction_payload`."""
    writer.tagged(PayloadField.COMPRESSION_TYPE, encode_packed(event.compression_type))
    if event.uncompressed_size is not None:
        writer.tagged(PayloadField.UNCOMPRESSED_SIZE, encode_packed(event.uncompressed_size))
    writer.tagged(PayloadField.PAYLOAD_SIZE, encode_packed(len(event.payload)))
    for kind, value in event.unknown_fields:
        writer.tagged(kind, value)
    writer.packed(PayloadField.END)
    writer.raw(event.payload)


def decode_large_transaction_header(body: Cursor, _context: Context) -> LargeTransactionHeader:
    """Decode LARGE_TRANSACTION_HEADER.

    offset  bytes  field
    0       1      version, 1
    1       8      offset, in this file, of the event that ends the transaction
    9       1      type of that event
    10      rest   padding
    """
    version, offset, kind = body.fields(_LARGE)
    return LargeTransactionHeader(version, offset, kind, body.rest("padding"))


def encode_large_transaction_header(event: LargeTransactionHeader, writer: Writer, _context: Context) -> None:
    """Encode LARGE_TRANSACTION_HEADER: the inverse of `decode_large_transaction_header`."""
    writer.fields(_LARGE, event.version, event.terminating_event_offset, event.terminating_event_type)
    writer.raw(event.padding)
