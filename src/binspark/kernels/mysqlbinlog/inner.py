"""Events of a compressed transaction as they would be outside it: with checksums."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import crc32_of
from binspark.kernels.memory import copy_bytes, load32, put, store32
from binspark.kernels.words import ZERO

_HEADER, _SIZE, _CHECKSUM = 19, 9, 4


@kernel
def add_checksums(target: int, source: int, length: int, crc_function: int, lengths: int) -> None:
    """Copy complete events, each with its CRC32; `crc_function` is 0 in a log without checksums.

    Put into `lengths` how many bytes were read and written. An event takes 4 bytes more, and has at least 19.
    """
    at, done = target, ZERO
    while length - done >= _HEADER:
        event = source + done
        size = load32(event + _SIZE)
        if size < _HEADER or size > length - done:
            break
        copy_bytes(at, event, size)
        if crc_function:
            store32(at + _SIZE, size + _CHECKSUM)
            store32(at + size, crc32_of(crc_function, at, size))
            at += _CHECKSUM
        at += size
        done += size
    put(lengths, ZERO, done)
    put(lengths, ZERO + 1, at - target)
