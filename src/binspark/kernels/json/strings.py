"""Strings in JSON text: in quotes, with quotes, backslashes and control characters escaped.

Writers take the address to write at and the last address at which `ROOM` bytes may still be written. They return the
address after what they wrote, REFUSED or NO_ROOM.
"""

from __future__ import annotations

import numpy as np

from binspark.kernels.blocks import copy_16_plain, copy_32_plain
from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import load8, load64, store8, store16, store64
from binspark.kernels.text import few_bytes, is_utf8
from binspark.kernels.words import difference, trailing_zeros

ROOM = 128

QUOTE = ord('"')
_LOW_BITS = 0x0101_0101_0101_0101
_HIGH_BITS = -0x7F7F_7F7F_7F7F_7F80  # the top bit of each of eight bytes
_SPACES = 0x20 * _LOW_BITS
_QUOTES = QUOTE * _LOW_BITS
_BACKSLASHES = ord("\\") * _LOW_BITS
_WIDEST = 4  # bytes of a character
_LENGTH_SHIFT = 56
_BASE64 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", dtype=np.uint8).astype(
    np.int64
)
_BASE64_LINE_BYTES = 57  # make a line of 76 characters
_PAD = ord("=")
_NEWLINE = int.from_bytes(b"\\n", "little")


def _escapes() -> np.ndarray:
    """Return the escape of each byte up to the backslash: six bytes of text, and their number in the highest."""
    short = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", QUOTE: b'\\"', ord("\\"): b"\\\\"}
    texts = [short.get(byte, b"\\u%04x" % byte) for byte in range(ord("\\") + 1)]
    return np.array([int.from_bytes(text, "little") | len(text) << _LENGTH_SHIFT for text in texts], dtype=np.int64)


_ESCAPES = _escapes()


@inlined
def write_short(at: int, source: int, length: int, readable_end: int) -> int:
    """Write a quote and up to 32 bytes of text that need no care; return the address after it.

    0 if the text is longer, needs care, or begins where fewer than 32 bytes can be read.
    """
    if length > 32 or source + 32 > readable_end:
        return 0
    store8(at, QUOTE)
    marks = copy_32_plain(at + 1, source)
    return 0 if marks & ~(-1 << length) else at + 1 + length


@kernel
def write_quoted(at: int, limit: int, source: int, length: int) -> int:
    """Write UTF-8 text as a string: as blocks up to the first one with a byte that needs care, then with care."""
    if at > limit:
        return NO_ROOM
    store8(at, QUOTE)
    at += 1
    end = source + length
    while end - source >= 32:
        if at > limit:
            return NO_ROOM
        if copy_32_plain(at, source):
            return write_with_care(at, limit, source, end)
        at += 32
        source += 32
    left = end - source
    if left >= 16:
        if copy_16_plain(at, source) | copy_16_plain(at + left - 16, end - 16):
            return write_with_care(at, limit, source, end)
    elif left >= 8:
        head, tail = load64(source), load64(end - 8)
        if (special_bytes(head) | special_bytes(tail)) | (head | tail) & _HIGH_BITS:
            return write_with_care(at, limit, source, end)
        store64(at, head)
        store64(at + left - 8, tail)
    elif left:
        word = few_bytes(source, left)
        if special_bytes(word) | word & _HIGH_BITS:
            return write_with_care(at, limit, source, end)
        store64(at, word)
    at += left
    store8(at, QUOTE)
    return at + 1


@kernel
def write_with_care(at: int, limit: int, source: int, end: int) -> int:
    """Write the rest of a string, eight bytes at a time. From the first byte that is not ASCII on it is checked."""
    unchecked = _HIGH_BITS
    while source < end:
        if at > limit:
            return NO_ROOM
        left = end - source
        word = load64(source) if left >= 8 else few_bytes(source, left)
        if word & unchecked:
            if not is_utf8(source, left, _WIDEST):
                return REFUSED
            unchecked = 0
        store64(at, word)
        found = special_bytes(word)
        if found:
            plain = trailing_zeros(found) >> 3
            escape = _ESCAPES[load8(source + plain)]
            store64(at + plain, escape)
            at += plain + (escape >> _LENGTH_SHIFT)
            source += plain + 1
        else:
            at += min(left, 8)
            source += 8
    store8(at, QUOTE)
    return at + 1


@kernel
def special_bytes(word: int) -> int:
    """Mark the bytes that need an escape, in their top bits. The lowest mark is right, others may be too many."""
    quotes = word ^ _QUOTES
    backslashes = word ^ _BACKSLASHES
    marks = difference(word, _SPACES) & ~word
    marks |= difference(quotes, _LOW_BITS) & ~quotes
    marks |= difference(backslashes, _LOW_BITS) & ~backslashes
    return marks & _HIGH_BITS


@kernel
def write_base64(at: int, limit: int, source: int, length: int) -> int:
    """Write bytes in base64, in lines of 76 characters with an escaped newline between them."""
    on_line = 0
    end = source + length
    while source < end:
        if at > limit:
            return NO_ROOM
        if on_line == _BASE64_LINE_BYTES:
            store16(at, _NEWLINE)
            at += 2
            on_line = 0
        left = end - source
        group = load8(source) << 16
        if left > 1:
            group |= load8(source + 1) << 8
        if left > 2:
            group |= load8(source + 2)
        store8(at, _BASE64[group >> 18])
        store8(at + 1, _BASE64[group >> 12 & 63])
        store8(at + 2, _BASE64[group >> 6 & 63] if left > 1 else _PAD)
        store8(at + 3, _BASE64[group & 63] if left > 2 else _PAD)
        at += 4
        source += 3
        on_line += 3
    return at
