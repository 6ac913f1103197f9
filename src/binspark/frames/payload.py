"""Compressed bytes inside events: transactions (zstd), and MariaDB's statements and rows (zlib).

No length field is trusted: memory is allocated for bytes that are there. A transaction is decompressed in chunks and
framed immediately, so that it needs the memory of its largest event.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from io import BytesIO
from typing import Any

import zstandard

from binspark.errors import DecodeError, Malformed, OptionError, Unsupported
from binspark.frames.format import ChecksumAlgorithm, LogFormat
from binspark.frames.frame import Frame
from binspark.frames.framer import Framer
from binspark.position import Position
from binspark.wire import Cursor
from binspark.wire.meaning import note

_MAX_FRAME_HEADER = 18
_BLOCK_HEADER = 3
_REPEATED_BYTE = 1
_CHECKSUM = 4
_SKIPPABLE_MAGIC = range(0x184D2A50, 0x184D2A60)
_SKIPPABLE_HEADER = 8


def is_complete(stream: bytes) -> bool:
    """Return whether the last zstd frame ends where the bytes end. Raises `ZstdError` if a frame header is invalid.

    The decompressor ends without an error at the end of a truncated stream, so the blocks are followed here.
    """
    end = 0
    while end < len(stream):
        end = _frame_end(stream, end)
    return end == len(stream)


def _frame_end(stream: bytes, start: int) -> int:
    """Return the end of the frame at `start`, which is after the end of the stream if the frame is truncated."""
    head = stream[start : start + _MAX_FRAME_HEADER]
    if int.from_bytes(head[:4], "little") in _SKIPPABLE_MAGIC:
        return start + _SKIPPABLE_HEADER + int.from_bytes(head[4:_SKIPPABLE_HEADER], "little")
    at, is_last = start + zstandard.frame_header_size(head), False
    while not is_last:
        header = int.from_bytes(stream[at : at + _BLOCK_HEADER], "little")
        if at + _BLOCK_HEADER > len(stream):
            return len(stream) + 1
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        at += _BLOCK_HEADER + (1 if kind == _REPEATED_BYTE else size)
    return at + (_CHECKSUM if zstandard.get_frame_parameters(head).has_checksum else 0)


CHUNK_BYTES = 1 << 17
"""How much of a payload is decompressed at a time."""


class PayloadCompression(IntEnum):
    """How a transaction payload is compressed."""

    ZSTD = 0
    NONE = 255


DEFAULT_MAX_PAYLOAD_BYTES = 512 << 20
_max_payload_bytes = DEFAULT_MAX_PAYLOAD_BYTES
_ALLOW_MORE = (
    "if you trust the log, allow more (--max-payload-bytes SIZE, in Python binspark.set_max_payload_bytes, in Spark "
    "the option maxPayloadBytes)"
)


def max_payload_bytes() -> int:
    """Return how many bytes the compressed part of an event may become in this process."""
    return _max_payload_bytes


def set_max_payload_bytes(size: int) -> None:
    """Set how many bytes the compressed part of an event may become in this process; 512 MiB unless this is called.

    That is a transaction that MySQL compressed, or a statement, rows or a value that MariaDB compressed. A small log
    can claim any number, so a larger one is refused.

    >>> binspark.set_max_payload_bytes(4 << 30)  # doctest: +SKIP
    """
    global _max_payload_bytes
    if not isinstance(size, int) or size < 1:
        raise OptionError(f"must be a positive number of bytes, got {size!r}", option="max_payload_bytes")
    _max_payload_bytes = size


def exceeds_limit(name: str, size: int, limit: int) -> Unsupported:
    """Return the error for compressed bytes that become too many."""
    return Unsupported(f"{name} decompresses to {size} bytes, more than the limit of {limit}; {_ALLOW_MORE}")


def check_inner_size(size: int, limits: Limits) -> None:
    """Refuse an event inside a transaction payload that is larger than the limit, as soon as its header says so."""
    if size > limits.max_event:
        raise exceeds_limit("an event inside a transaction payload", size, limits.max_event)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large decompressed bytes may be, so that a small log cannot exhaust memory or disk.

    payload_bytes   of a transaction; None for the limit of this process, see `set_max_payload_bytes`
    event_bytes     of one event in it, or of a part of an event; None likewise
    """

    payload_bytes: int | None = None
    event_bytes: int | None = None

    @property
    def max_payload(self) -> int:
        """The limit of a transaction."""
        return _max_payload_bytes if self.payload_bytes is None else self.payload_bytes

    @property
    def max_event(self) -> int:
        """The limit of an event."""
        return _max_payload_bytes if self.event_bytes is None else self.event_bytes


DEFAULT_LIMITS = Limits()


class PayloadReader:
    """Reads the decompressed bytes of a transaction payload into buffers of the caller."""

    def __init__(self, payload: bytes, compression: int, expected_size: int | None, limits: Limits) -> None:
        if compression not in PayloadCompression._value2member_map_:
            raise Unsupported(f"unsupported payload compression type {compression}, expected 0 (ZSTD) or 255 (NONE)")
        if expected_size is not None and expected_size > limits.max_payload:
            raise exceeds_limit("transaction payload", expected_size, limits.max_payload)
        self._payload = payload
        self._expected_size = expected_size
        self._limit = limits.max_payload
        self._produced = 0
        self._stream: Any = BytesIO(payload)
        self._compressed = compression == PayloadCompression.ZSTD
        if self._compressed:
            self._stream = zstandard.ZstdDecompressor().stream_reader(payload, read_across_frames=True)

    def read_into(self, buffer: memoryview) -> int:
        """Fill a buffer and return the number of bytes; 0 is the end, after which all checks were done."""
        try:
            count: int = self._stream.readinto(buffer)
            is_truncated = count == 0 and self._compressed and not is_complete(self._payload)
        except zstandard.ZstdError as error:
            raise Malformed(f"transaction payload is not valid zstd: {error}") from None
        if is_truncated:
            raise Malformed("transaction payload ends before its zstd stream does")
        self._produced += count
        self._check_size(at_end=count == 0)
        return count

    def _check_size(self, *, at_end: bool) -> None:
        expected, produced = self._expected_size, self._produced
        if expected is not None and produced > expected:
            raise Malformed(f"transaction payload decompresses to more than its uncompressed size of {expected} bytes")
        if produced > self._limit:
            raise exceeds_limit("transaction payload", produced, self._limit)
        if at_end and expected is not None and produced != expected:
            raise Malformed(f"transaction payload decompresses to {produced} bytes, expected {expected}")


def expand_payload(payload: bytes, compression: int, expected_size: int | None, limits: Limits) -> Iterator[bytes]:
    """Yield the events of a transaction payload as chunks of any size."""
    reader = PayloadReader(payload, compression, expected_size, limits)
    buffer = bytearray(CHUNK_BYTES)
    while count := reader.read_into(memoryview(buffer)):
        yield bytes(memoryview(buffer)[:count])


def payload_frames(
    outer: Frame, payload: bytes, compression: int, expected_size: int | None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Frame]:
    """Yield the frames inside a transaction payload, which have no checksums."""
    framer = Framer(without_checksum(outer.format))
    index = 0
    try:
        for chunk in expand_payload(payload, compression, expected_size, limits):
            for frame in framer.feed(chunk):
                yield frame._replace(offset=outer.offset, end_offset=outer.end_offset, inner=index)
                index += 1
            check_inner_size(framer.expected_bytes, limits)
        framer.finish()
    except DecodeError as error:
        raise inside_payload(error, index, outer) from None


def inside_payload(error: DecodeError, index: int, outer: Frame) -> DecodeError:
    """Return an error with the event of a transaction payload that it is about."""
    message = f"event {index} inside TRANSACTION_PAYLOAD: {error.message}"
    return type(error)(message, Position(offset=outer.offset))


def inflate_block(block: Cursor, name: str, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Read MariaDB's compressed block to its end and return the decompressed bytes.

    offset  bytes  field
    0       1      0x80 | algorithm << 4 | n, the length of the next field; algorithm 0 is zlib
    1       n      uncompressed size, big-endian
    1+n     rest   compressed bytes
    """
    block.enter(name)
    lead = block.u8("lead", _lead_meaning)
    algorithm, size_length = lead >> 4 & 0x07, lead & 0x07
    if algorithm != 0:
        raise Unsupported(f"unsupported compression algorithm {algorithm} of {name}, expected 0 (zlib)")
    if not 1 <= size_length <= 4:
        raise block.malformed(f"uncompressed size of {name} takes {size_length} bytes, expected 1 to 4")
    size = block.uint_be("uncompressed_size", size_length)
    compressed = block.rest("data", note("compressed with zlib"))
    block.leave()
    if size > limits.max_event:
        raise exceeds_limit(name, size, limits.max_event)
    return _inflate(compressed, size, name)


def deflate_block(data: bytes) -> bytes:
    """Compress bytes as MariaDB does."""
    size_length = max(1, (len(data).bit_length() + 7) // 8)
    lead = bytes((0x80 | size_length,))
    return lead + len(data).to_bytes(size_length, "big") + zlib.compress(data)


def _inflate(compressed: bytes, size: int, name: str) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(compressed, size + 1)
    except zlib.error as error:
        raise Malformed(f"{name} is not valid zlib: {error}") from None
    if len(data) != size or not inflater.eof:
        raise Malformed(f"{name} does not decompress to its uncompressed size of {size} bytes")
    return data


def without_checksum(log_format: LogFormat) -> LogFormat:
    """Return the format of the events inside a payload, which have no checksums."""
    return replace(log_format, checksum=ChecksumAlgorithm.NONE)


def _lead_meaning(lead: int) -> str:
    return f"algorithm {lead >> 4 & 0x07}, the uncompressed size takes {lead & 0x07} bytes"
