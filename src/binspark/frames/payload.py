"""Compressed bytes inside events: whole transactions (zstd), and MariaDB's queries and rows (zlib).

Nothing here believes a length before it has seen the bytes. A transaction is expanded piece by piece and framed at
once, so its memory is that of its largest event.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from io import BytesIO
from typing import Any

import zstandard

from binspark.errors import DecodeError, Malformed, Unsupported
from binspark.frames.format import ChecksumAlgorithm, LogFormat
from binspark.frames.frame import Frame
from binspark.frames.framer import Framer
from binspark.position import Position
from binspark.wire import Cursor
from binspark.wire.meaning import says

_LONGEST_FRAME_HEADER = 18
_BLOCK_HEADER = 3
_REPEATED_BYTE = 1
_CHECKSUM = 4
_SKIPPABLE_MAGIC = range(0x184D2A50, 0x184D2A60)
_SKIPPABLE_HEADER = 8


def is_whole(stream: bytes) -> bool:
    """Tell whether zstd frames end where the bytes end. Raises `ZstdError` where no frame begins."""
    end = 0
    while end < len(stream):
        end = _frame_end(stream, end)
    return end == len(stream)


def _frame_end(stream: bytes, start: int) -> int:
    """Return where the frame at `start` ends, beyond the stream if it is cut."""
    head = stream[start : start + _LONGEST_FRAME_HEADER]
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


class PayloadReader:
    """Reads what a transaction payload expands to, as much at a time as the caller has room for."""

    def __init__(self, payload: bytes, compression: int, expected_size: int | None, limits: Limits) -> None:
        if compression not in PayloadCompression._value2member_map_:
            raise Unsupported(f"a transaction payload with compression type {compression}")
        self._payload = payload
        self._expected_size = expected_size
        self._limit = limits.payload_bytes
        self._produced = 0
        self._stream: Any = BytesIO(payload)
        self._compressed = compression == PayloadCompression.ZSTD
        if self._compressed:
            self._stream = zstandard.ZstdDecompressor().stream_reader(payload, read_across_frames=True)

    def read_into(self, buffer: memoryview) -> int:
        """Fill a buffer as far as there are bytes; return how far, 0 at the end, when everything was checked."""
        try:
            count: int = self._stream.readinto(buffer)
            is_cut = count == 0 and self._compressed and not is_whole(self._payload)
        except zstandard.ZstdError as error:
            raise Malformed(f"a transaction payload is not zstd: {error}") from None
        if is_cut:
            raise Malformed("a transaction payload ends in the middle of its zstd stream")
        self._produced += count
        self._check_size(at_end=count == 0)
        return count

    def _check_size(self, *, at_end: bool) -> None:
        expected, produced = self._expected_size, self._produced
        if expected is not None and produced > expected:
            raise Malformed(f"a transaction payload expands to more than the {expected} bytes it announces")
        if produced > self._limit:
            raise Unsupported(f"a transaction payload expands to more than the limit of {self._limit} bytes")
        if at_end and expected is not None and produced != expected:
            raise Malformed(f"a transaction payload expands to {produced} bytes, it announces {expected}")


def expand_payload(payload: bytes, compression: int, expected_size: int | None, limits: Limits) -> Iterator[bytes]:
    """Yield the events of a transaction payload, as pieces of any size."""
    reader = PayloadReader(payload, compression, expected_size, limits)
    buffer = bytearray(_PIECE)
    while count := reader.read_into(memoryview(buffer)):
        yield bytes(memoryview(buffer)[:count])


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
