"""Bytes as base64, in lines of 76 characters."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load8, load_big_endian, store8, store16, store32, word_table

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_PAIR = word_table([_ALPHABET[pair >> 6] | _ALPHABET[pair & 63] << 8 for pair in range(1 << 12)])
_LINE_BYTES = 57
_LINE_LENGTH = 77
_NEWLINE, _EQUALS = ord("\n"), ord("=")


def base64_length(length: int) -> int:
    """Return how many bytes the lines for so many bytes have at most."""
    return (length // _LINE_BYTES + 1) * _LINE_LENGTH + 16


@kernel
def write_base64(at: int, source: int, length: int) -> int:
    """Write lines of base64; return the address after them. Up to five bytes after the source are read."""
    end = source + length
    while source < end:
        stop = source + _LINE_BYTES
        if stop > end:
            stop = end
        while source + 3 <= stop:
            bits = load_big_endian(source, 3)
            store32(at, _PAIR(bits >> 12) | _PAIR(bits & 0xFFF) << 16)
            at += 4
            source += 3
        if source < stop:
            bits = load8(source) << 16
            if stop - source == 2:
                bits |= load8(source + 1) << 8
            store16(at, _PAIR(bits >> 12))
            store16(at + 2, _PAIR(bits & 0xFFF))
            store8(at + 3, _EQUALS)
            if stop - source == 1:
                store8(at + 2, _EQUALS)
            at += 4
            source = stop
        store8(at, _NEWLINE)
        at += 1
    return at
