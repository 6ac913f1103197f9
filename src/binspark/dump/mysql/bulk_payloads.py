"""The events of compressed transactions for a kernel: decompressed a chunk at a time, with checksums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from binspark.dump.mysql.buffers import Buffer, address_of, numbers
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.payload import CHUNK_BYTES, DEFAULT_LIMITS, PayloadReader, check_inner_size
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.mysqlbinlog.inner import add_checksums

if TYPE_CHECKING:
    from binspark.event import Event, TransactionPayload

_SIZE = slice(9, 13)


class InnerEvents:
    """Complete events of a payload as they would be outside it. The buffers are used for one payload after the other.

    rest   after the last chunk: the bytes that are not a complete event
    """

    def __init__(self) -> None:
        self._plain = Buffer(0)
        self._events = Buffer(0)
        self._lengths = numbers((0, 0))
        self.rest = b""

    def chunks(self, event: Event) -> Iterator[tuple[Buffer, int]]:
        """Yield a buffer of events, and how many of its bytes are used, until the payload ends or is invalid.

        Memory is used for the bytes that are there, whatever sizes in headers say.
        """
        payload: TransactionPayload = event.body
        reader = PayloadReader(payload.payload, payload.compression_type, payload.uncompressed_size, DEFAULT_LIMITS)
        crc_function = crc32_address() if event.frame.format.checksum_length else 0
        left = 0
        self.rest = b""
        while count := reader.read_into(self._room_after(left)):
            filled = left + count
            add_checksums(self._events.address, self._plain.address, filled, crc_function, address_of(self._lengths))
            done, length = self._lengths
            if length:
                yield self._events, length
                self._plain.move_to_start(done, filled)
            left = filled - done
            if left >= HEADER_LENGTH:
                check_inner_size(self._size_of_first(), DEFAULT_LIMITS)
                if self._size_of_first() < HEADER_LENGTH:
                    break
        self.rest = bytes(self._plain.view[:left])

    def _room_after(self, used: int) -> memoryview:
        """Return the memory for the next chunk; twice as much of it if the first event takes all."""
        if used + CHUNK_BYTES > self._plain.room:
            self._plain = self._plain.grown(2 * (used + CHUNK_BYTES), used)
            self._events = Buffer(self._plain.room + self._plain.room // 4)
        return self._plain.view[used : used + CHUNK_BYTES]

    def _size_of_first(self) -> int:
        return int.from_bytes(self._plain.view[_SIZE], "little")


def without_checksum(data: bytes) -> bytes:
    """Return an event as the payload has it."""
    size = len(data) - CHECKSUM_LENGTH
    return data[: _SIZE.start] + size.to_bytes(4, "little") + data[_SIZE.stop : size]
