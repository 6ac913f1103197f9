"""The two variable-length integers of the format.

A *packed* integer (MySQL's `net_store_length`):

first byte   value
0x00-0xfa    the byte itself
0xfc         the next 2 bytes
0xfd         the next 3 bytes
0xfe         the next 8 bytes
0xfb, 0xff   never an integer (NULL, and an error packet)

A *varlen* integer (MySQL's serialization framework, since 8.3): the number of trailing one bits of the first byte is
the number of bytes that follow; the low bits of the value fill the rest of the first byte. Signed values have their
sign in the lowest bit.
"""

from __future__ import annotations

from binspark.errors import EncodeError

U64_MAX = (1 << 64) - 1


def encode_packed(value: int) -> bytes:
    """Encode a packed integer in the shortest form, as servers do."""
    if value < 0 or value > U64_MAX:
        raise EncodeError(f"{value} does not fit in a packed integer (0 to {U64_MAX})")
    if value < 251:
        return bytes((value,))
    if value < 1 << 16:
        return b"\xfc" + value.to_bytes(2, "little")
    if value < 1 << 24:
        return b"\xfd" + value.to_bytes(3, "little")
    return b"\xfe" + value.to_bytes(8, "little")


def packed_tail_length(first_byte: int) -> int:
    """Return how many bytes follow the first byte of a packed integer, or -1 if it cannot be the first byte of one."""
    if first_byte < 251:
        return 0
    return _TAIL_LENGTHS.get(first_byte, -1)


_TAIL_LENGTHS = {0xFC: 2, 0xFD: 3, 0xFE: 8}


def encode_varlen(value: int) -> bytes:
    """Encode an unsigned varlen integer in the shortest form."""
    if value < 0 or value > U64_MAX:
        raise EncodeError(f"{value} does not fit in a varlen integer (0 to {U64_MAX})")
    length = min(max(1, -(-value.bit_length() // 7)), 9)
    ones = (1 << (length - 1)) - 1
    if length == 9:
        return b"\xff" + value.to_bytes(8, "little")
    return (value << length | ones).to_bytes(length, "little")


def encode_signed_varlen(value: int) -> bytes:
    """Encode a signed varlen integer: the sign is the lowest bit, negative values are inverted."""
    if not -(1 << 63) <= value < 1 << 63:
        raise EncodeError(f"{value} does not fit in a signed varlen integer of 64 bits")
    return encode_varlen(value << 1 if value >= 0 else (~value << 1) | 1)


def varlen_length(first_byte: int) -> int:
    """Return the length in bytes of a varlen integer, given its first byte."""
    return _VARLEN_LENGTHS[first_byte]


def decode_varlen(encoded: bytes) -> int:
    """Decode the complete bytes of an unsigned varlen integer."""
    length = len(encoded)
    if length == 9:
        return int.from_bytes(encoded[1:], "little")
    return int.from_bytes(encoded, "little") >> length


def unsigned_to_signed(value: int) -> int:
    """Return the signed value of a varlen integer that was read as unsigned."""
    return ~(value >> 1) if value & 1 else value >> 1


def _count_trailing_ones(byte: int) -> int:
    return ((byte + 1) & ~byte).bit_length() - 1


_VARLEN_LENGTHS = tuple(_count_trailing_ones(byte) + 1 for byte in range(256))
