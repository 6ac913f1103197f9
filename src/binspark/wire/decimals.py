"""DECIMAL in MySQL's packed format: nine digits in four bytes, big-endian, the sign in the top bit.

The digits before and after the decimal point are packed separately. Full groups of nine digits take four bytes; the
remaining digits (the first ones before the point, the last ones after it) take 1, 1, 2, 2, 3, 3, 4, 4 bytes for 1 to 8
digits. All bytes of a negative number are inverted, then the top bit of the first byte is inverted in every number, so
that the order of the bytes is the order of the numbers.
"""

from __future__ import annotations

from decimal import Decimal

from binspark.errors import EncodeError, Malformed

_DIGITS_PER_GROUP = 9
_PARTIAL_GROUP_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
MAX_PRECISION = 65
MAX_SCALE = 38


def packed_decimal_length(precision: int, scale: int) -> int:
    """Return the length in bytes of a DECIMAL(precision, scale)."""
    return _part_length(precision - scale) + _part_length(scale)


def decode_packed_decimal(packed: bytes, precision: int, scale: int) -> Decimal:
    """Decode the bytes of one DECIMAL(precision, scale)."""
    negative = not packed[0] & 0x80
    mask = 0xFF if negative else 0x00
    plain = bytearray(byte ^ mask for byte in packed)
    plain[0] ^= 0x80
    integer_digits = precision - scale
    integer_length = _part_length(integer_digits)
    digits = _decode_integer_part(plain[:integer_length], integer_digits)
    digits += _decode_fraction_part(plain[integer_length:], scale)
    return Decimal((int(negative), tuple(map(int, digits or "0")), -scale))


def encode_packed_decimal(value: Decimal, precision: int, scale: int) -> bytes:
    """Encode one DECIMAL(precision, scale)."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent < -scale:
        raise EncodeError(f"{value} has more than {scale} digits after the decimal point")
    text = "".join(map(str, digits)) + "0" * (exponent + scale)
    text = text.rjust(precision, "0")
    if len(text) > precision and text[: len(text) - precision].strip("0"):
        raise EncodeError(f"{value} does not fit DECIMAL({precision},{scale})")
    text = text[len(text) - precision :]
    packed = bytearray(_encode_part(text[: precision - scale], leading=True))
    packed += _encode_part(text[precision - scale :], leading=False)
    packed[0] ^= 0x80
    return bytes(byte ^ 0xFF for byte in packed) if sign else bytes(packed)


def _part_length(digits: int) -> int:
    groups, partial = divmod(digits, _DIGITS_PER_GROUP)
    return groups * 4 + _PARTIAL_GROUP_BYTES[partial]


def _decode_integer_part(part: bytes | bytearray, digits: int) -> str:
    partial = digits % _DIGITS_PER_GROUP
    first = _PARTIAL_GROUP_BYTES[partial]
    text = _decode_group(part[:first], partial) if partial else ""
    return text + _decode_full_groups(part[first:])


def _decode_fraction_part(part: bytes | bytearray, digits: int) -> str:
    partial = digits % _DIGITS_PER_GROUP
    full = len(part) - _PARTIAL_GROUP_BYTES[partial]
    text = _decode_full_groups(part[:full])
    return text + _decode_group(part[full:], partial) if partial else text


def _decode_full_groups(part: bytes | bytearray) -> str:
    return "".join(_decode_group(part[at : at + 4], _DIGITS_PER_GROUP) for at in range(0, len(part), 4))


def _decode_group(group: bytes | bytearray, digits: int) -> str:
    value = int.from_bytes(group, "big")
    if value >= 10**digits:
        raise Malformed(f"decimal group is {value}, expected at most {digits} digits")
    return str(value).rjust(digits, "0")


def _encode_part(digits: str, *, leading: bool) -> bytes:
    partial = len(digits) % _DIGITS_PER_GROUP
    cut = partial if leading else len(digits) - partial
    head, tail = digits[:cut], digits[cut:]
    groups = [head, *_chunks(tail)] if leading else [*_chunks(head), tail]
    return b"".join(int(g).to_bytes(_PARTIAL_GROUP_BYTES[len(g)], "big") for g in groups if g)


def _chunks(digits: str) -> list[str]:
    return [digits[at : at + _DIGITS_PER_GROUP] for at in range(0, len(digits), _DIGITS_PER_GROUP)]
