"""Events as base64 in lines of 76 characters."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import byte_table, load8, load_big_endian, store8, store64, word_table

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_character = byte_table(_ALPHABET)
_pair = word_table([_ALPHABET[number >> 6] | _ALPHABET[number & 63] << 8 for number in range(4096)])
_BYTES_OF_LINE = 57
_NEWLINE, _FILL = ord("\n"), ord("=")


@kernel
def write_base64(at: int, source: int, length: int) -> int:
    """Write bytes as base64; every line ends with a newline. Return the address after it."""
    end = source + length
    while source < end:
        stop = min(source + _BYTES_OF_LINE, end)
        while stop - source >= 6:
            word = load_big_endian(source, 6)
            text = _pair(word >> 36) | _pair(word >> 24 & 4095) << 16
            store64(at, text | _pair(word >> 12 & 4095) << 32 | _pair(word & 4095) << 48)
            source += 6
            at += 8
        while source < stop:
            left = stop - source
            first = load8(source)
            second = load8(source + 1) if left > 1 else 0
            third = load8(source + 2) if left > 2 else 0
            store8(at, _character(first >> 2))
            store8(at + 1, _character((first & 3) << 4 | second >> 4))
            store8(at + 2, _character((second & 15) << 2 | third >> 6) if left > 1 else _FILL)
            store8(at + 3, _character(third & 63) if left > 2 else _FILL)
            source += 3
            at += 4
        source = stop
        store8(at, _NEWLINE)
        at += 1
    return at
