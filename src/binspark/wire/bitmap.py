"""Bitmaps, in the two bit orders that the format uses."""

from __future__ import annotations

from collections.abc import Sequence


def bitmap_length(bits: int) -> int:
    """Return the length in bytes of a bitmap with this number of bits."""
    return (bits + 7) // 8


def low_bits_first(bitmap: bytes, count: int) -> tuple[bool, ...]:
    """Return `count` bits, the lowest bit of each byte first (columns present, nullable columns)."""
    value = int.from_bytes(bitmap, "little")
    return tuple(bool(value >> index & 1) for index in range(count))


def high_bits_first(bitmap: bytes, count: int) -> tuple[bool, ...]:
    """Return `count` bits, the highest bit of each byte first (signedness, visibility)."""
    return tuple(bool(bitmap[index >> 3] & (0x80 >> (index & 7))) for index in range(count))


def encode_low_bits_first(bits: Sequence[bool]) -> bytes:
    """Pack bits, the lowest bit of each byte first."""
    value = sum(1 << index for index, bit in enumerate(bits) if bit)
    return value.to_bytes(bitmap_length(len(bits)), "little")


def encode_high_bits_first(bits: Sequence[bool]) -> bytes:
    """Pack bits, the highest bit of each byte first."""
    packed = bytearray(bitmap_length(len(bits)))
    for index, bit in enumerate(bits):
        if bit:
            packed[index >> 3] |= 0x80 >> (index & 7)
    return bytes(packed)
