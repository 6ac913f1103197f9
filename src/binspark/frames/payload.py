"""Compressed bytes inside events: whole transactions (zstd), and MariaDB's queries and rows (zlib).

Nothing here believes a length before it has seen the bytes. A transaction is expanded piece by piece and framed at
once, so its memory is that of its largest event.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

import zstandard

from binspark.errors import DecodeError, Malformed, Unsupported
from binspark.frames.format import ChecksumAlgorithm, LogFormat
from binspark.frames.frame import Frame
from binspark.frames.framer import Framer
from binspark.frames.zstd_blocks import is_whole
from binspark.position import Position
from binspark.wire import Cursor
from binspark.wire.meaning import says

_PIECE = 1 << 17


class PayloadCompression(IntEnum):
    """How a transaction payload is compressed."""

    ZSTD = 0
    NONE = 255


@dataclass(frozen=True, slots=True)
class Limits:
    """How far compressed bytes may expand, so that a small log cannot fill a machine."""

    payload_bytes: int = 64 << 30
    event_bytes: int = 4 << 30


DEFAULT_LIMITS = Limits()


def expand_payload(payload: bytes, compression: int, expected_size: int | None, limits: Limits) -> Iterator[bytes]:
    """Yield the events of a transaction payload, as pieces of any size."""
    if compression not in PayloadCompression._value2member_map_:
        raise Unsupported(f"a transaction payload with compression type {compression}")
    produced = 0
    for piece in _pieces(payload, compression):
        produced += len(piece)
        if expected_size is not None and produced > expected_size:
            raise Malformed(f"a transaction payload expands to more than the {expected_size} bytes it announces")
        if produced > limits.payload_bytes:
            raise Unsupported(f"a transaction payload expands to more than the limit of {limits.payload_bytes} bytes")
        yield piece
    if expected_size is not None and produced != expected_size:
        raise Malformed(f"a transaction payload expands to {produced} bytes, it announces {expected_size}")


def payload_frames(
    outer: Frame, payload: bytes, compression: int, expected_size: int | None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Frame]:
    """Yield the frames inside a transaction payload. They have no checksums of their own."""
    framer = Framer(without_checksum(outer.format))
    index = 0
    try:
        for piece in expand_payload(payload, compression, expected_size, limits):
            for frame in framer.feed(piece):
                yield frame._replace(offset=outer.offset, end_offset=outer.end_offset, inner=index)
                index += 1
            if framer.pending_bytes > limits.event_bytes:
                raise Unsupported(f"an event inside a payload exceeds the limit of {limits.event_bytes} bytes")
        framer.finish()
    except DecodeError as error:
        place = f"event {index} inside TRANSACTION_PAYLOAD"
        raise type(error)(f"{place}: {error.message}", Position(offset=outer.offset)) from None


def inflate_block(block: Cursor, name: str, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Read MariaDB's compressed block to its end and return what it expands to.

    offset  bytes  field
    0       1      0x80 | algorithm << 4 | n, the length of the next field; algorithm 0 is zlib
    1       n      uncompressed size, big-endian
    1+n     rest   compressed bytes
    """
    block.enter(name)
    lead = block.u8("lead", _lead_meaning)
    algorithm, size_length = lead >> 4 & 0x07, lead & 0x07
    if algorithm != 0:
        raise Unsupported(f"{name} is compressed with algorithm {algorithm}; only 0 (zlib) is known")
    if not 1 <= size_length <= 4:
        raise block.malformed(f"the uncompressed size of {name} takes {size_length} bytes, 1 to 4 are possible")
    size = block.uint_be("uncompressed_size", size_length)
    compressed = block.rest("data", says("compressed with zlib"))
    block.leave()
    if size > limits.event_bytes:
        raise Unsupported(f"{name} expands to {size} bytes, the limit is {limits.event_bytes}")
    return _inflate(compressed, size, name)


def deflate_block(data: bytes) -> bytes:
    """Compress bytes as MariaDB does."""
    size_length = max(1, (len(data).bit_length() + 7) // 8)
    lead = bytes((0x80 | size_length,))
    return lead + len(data).to_bytes(size_length, "big") + zlib.compress(data)


def _pieces(payload: bytes, compression: int) -> Iterator[bytes]:
    if compression == PayloadCompression.NONE:
        yield payload
        return
    try:
        with zstandard.ZstdDecompressor().stream_reader(payload, read_across_frames=True) as reader:
            while piece := reader.read(_PIECE):
                yield piece
        if not is_whole(payload):
            raise Malformed("a transaction payload ends in the middle of its zstd stream")
    except zstandard.ZstdError as error:
        raise Malformed(f"a transaction payload is not zstd: {error}") from None


def _inflate(compressed: bytes, size: int, name: str) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(compressed, size + 1)
    except zlib.error as error:
        raise Malformed(f"{name} is not zlib: {error}") from None
    if len(data) != size or not inflater.eof:
        raise Malformed(f"{name} does not expand to the {size} bytes it announces")
    return data


def without_checksum(log_format: LogFormat) -> LogFormat:
    """Return the format of events inside a payload, which have no checksums of their own."""
    return replace(log_format, checksum=ChecksumAlgorithm.NONE)


def _lead_meaning(lead: int) -> str:
    return f"algorithm {lead >> 4 & 0x07}, the uncompressed size takes {lead & 0x07} bytes"
