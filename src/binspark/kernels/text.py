"""Text: copied once, and checked on the way."""

from __future__ import annotations

from binspark.kernels.blocks import copy_16_ascii, copy_32_ascii
from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.memory import copy_bytes, load8, load16, load32, load64, store8, store32, store64

_HIGH_BITS = -0x7F7F7F7F7F7F7F80  # the top bit of each of eight bytes
_SPACES = 0x20 * 0x0101_0101_0101_0101  # eight of them
_LONG = 96


@kernel
def copy_short(target: int, source: int, length: int) -> None:
    """Copy bytes; for few of them this is faster than a call."""
    if length > _LONG:
        copy_bytes(target, source, length)
        return
    if length >= 8:
        at = 0
        while at + 8 <= length:
            store64(target + at, load64(source + at))
            at += 8
        store64(target + length - 8, load64(source + length - 8))
        return
    if length >= 4:
        store32(target, load32(source))
        store32(target + length - 4, load32(source + length - 4))
        return
    for at in range(length):
        store8(target + at, load8(source + at))


@inlined
def copy_utf8(target: int, source: int, length: int, widest: int) -> bool:
    """Copy text and return whether it is UTF-8 with characters of at most `widest` bytes.

    Most text is ASCII, which shows in the top bits.
    """
    seen = 0
    if length >= 32:
        at = 32
        while at < length:
            seen |= copy_32_ascii(target + at - 32, source + at - 32)
            at += 32
        if seen | copy_32_ascii(target + length - 32, source + length - 32) == 0:
            return True
        return is_utf8(source, length, widest)
    if length >= 16:
        seen = copy_16_ascii(target, source) | copy_16_ascii(target + length - 16, source + length - 16)
        return seen == 0 or is_utf8(source, length, widest)
    if length >= 8:
        head = load64(source)
        tail = load64(source + length - 8)
        store64(target, head)
        store64(target + length - 8, tail)
        seen = head | tail
    elif length >= 4:
        head = load32(source)
        tail = load32(source + length - 4)
        store32(target, head)
        store32(target + length - 4, tail)
        seen = head | tail
    else:
        for at in range(length):
            byte = load8(source + at)
            store8(target + at, byte)
            seen |= byte
    if seen & _HIGH_BITS == 0:
        return True
    return is_utf8(source, length, widest)


@kernel
def is_utf8(source: int, length: int, widest: int) -> bool:
    """Return whether bytes are UTF-8: no overlong form, no surrogate, nothing beyond U+10FFFF."""
    at = source
    end = source + length
    while at < end:
        first = load8(at)
        if first < 0x80:
            at += 1
            continue
        if first < 0xC2 or first > 0xF4:
            return False
        more = 1 if first < 0xE0 else (2 if first < 0xF0 else 3)
        if more >= widest or at + more >= end:  # the last of them would be at or after the end
            return False
        second = load8(at + 1)
        low, high = 0x80, 0xBF
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F
        elif first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
        if second < low or second > high:
            return False
        for index in range(2, more + 1):
            if load8(at + index) & 0xC0 != 0x80:
                return False
        at += more + 1
    return True


@kernel
def copy_through_table(target: int, source: int, length: int, table: int) -> int:
    """Write text in a single-byte character set as UTF-8; return its length, -1 for a byte that is not a character."""
    written = 0
    for at in range(length):
        entry = load32(table + 4 * load8(source + at))
        count = entry >> 24
        if count == 0:
            return -1
        store32(target + written, entry)
        written += count
    return written


@kernel
def few_bytes(source: int, count: int) -> int:
    """Return one to seven bytes as a word that is filled up with spaces."""
    fill = _SPACES << 8 * count
    if count >= 4:
        return fill | load32(source) | load32(source + count - 4) << 8 * (count - 4)
    if count >= 2:
        return fill | load16(source) | load16(source + count - 2) << 8 * (count - 2)
    return fill | load8(source)


@kernel
def equal_bytes(left: int, right: int, length: int) -> bool:
    """Return whether the bytes at two addresses are the same."""
    at = 0
    while length - at >= 8:
        if load64(left + at) != load64(right + at):
            return False
        at += 8
    return at == length or few_bytes(left + at, length - at) == few_bytes(right + at, length - at)
