"""How the bytes of a field make its value, in words, for the encodings that are not plain."""

from __future__ import annotations

from collections.abc import Callable

from binspark.wire.packed import decode_varlen, unsigned_to_signed


def spell_out(kind: str, data: bytes) -> str:
    """Return how bytes make a value of this kind; nothing for those that need no explanation."""
    spell = _SPELLINGS.get(kind)
    return spell(data) if spell else ""


def _packed(data: bytes) -> str:
    """Spell out a packed integer: `0xfc: the next 2 bytes are 0x0105 = 261`."""
    if len(data) == 1:
        return ""
    return _following(data)


def _varlen(data: bytes) -> str:
    """Spell out a varlen integer: `0b…01: 2 bytes, 0x0ae1 >> 2 = 696`."""
    value = decode_varlen(data)
    if len(data) == 1:
        return f"0x{data[0]:02x} >> 1 = {value}"
    if len(data) == 9:
        return _following(data)
    whole = int.from_bytes(data, "little")
    low_bits = "0" + "1" * (len(data) - 1)
    return f"0b…{low_bits}: {len(data)} bytes, 0x{whole:0{2 * len(data)}x} >> {len(data)} = {value}"


def _signed_varlen(data: bytes) -> str:
    """Spell out a signed varlen integer, whose lowest bit is the sign."""
    folded = decode_varlen(data)
    value = unsigned_to_signed(folded)
    unfolded = f"~({folded} >> 1)" if folded & 1 else f"{folded} >> 1"
    return f"{_varlen(data)}; sign bit {folded & 1}, {unfolded} = {value}"


def _following(data: bytes) -> str:
    tail = data[1:]
    value = int.from_bytes(tail, "little")
    return f"0x{data[0]:02x}: the next {len(tail)} bytes are 0x{value:0{2 * len(tail)}x} = {value}"


_SPELLINGS: dict[str, Callable[[bytes], str]] = {
    "packed integer": _packed,
    "varlen integer": _varlen,
    "signed varlen integer": _signed_varlen,
}
