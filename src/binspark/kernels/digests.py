"""Digests of texts, two words each: whether two rows have the same values is seen by comparing them.

The hash is fast, not cryptographic: equal texts have equal digests, and different ones by accident with a chance of
2^-128; somebody who wants to can construct others.
"""

from __future__ import annotations

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.memory import load8, load32, load64, store64

_FIRST, _SECOND = -0x61C8864680B583EB, -0x3D4D51C2D82B14B1  # odd numbers with as many ones as zeros
_THIRD, _FOURTH = 0x165667B19E3779F9, -0x7A1435883D4D519D
_WORD = 8


@inlined
def mixed(word: int) -> int:
    """Return a number each bit of which depends on all bits of another."""
    word ^= word >> 33 & 0x7FFFFFFF
    word *= -0xAE502812AA7333
    word ^= word >> 33 & 0x7FFFFFFF
    word *= -0x3B314601E57A13AD
    return word ^ (word >> 33 & 0x7FFFFFFF)


@kernel
def digest_texts(digests: int, count: int, offsets: int, text: int, valid: int) -> None:
    """Continue the digests of rows with their texts, which begin at `offsets` (int32) in `text`.

    digests   the address of two words for each row
    valid     the address of a byte for each row: whether it has a text at all
    """
    for row in range(count):
        at = digests + 16 * row
        first, second = load64(at), load64(at + 8)
        start = load32(offsets + 4 * row)
        length = load32(offsets + 4 * (row + 1)) - start
        if load8(valid + row) == 0:
            length = -1
        first, second = (first ^ length) * _FIRST, (second + length) * _SECOND
        position, end = text + start, text + start + max(length, 0)
        while position + _WORD <= end:
            word = load64(position)
            first = (first ^ word) * _FIRST
            first ^= first >> 29 & 0x7FFFFFFFF
            second = (second + word * _THIRD) * _FOURTH
            second ^= second >> 32 & 0xFFFFFFFF
            position += _WORD
        word = 0
        while position < end:
            word = word << 8 | load8(position)
            position += 1
        first, second = mixed((first ^ word) * _FIRST), mixed((second + word * _THIRD) * _FOURTH)
        store64(at, first)
        store64(at + 8, second)
