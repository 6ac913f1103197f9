"""Events as base64 in lines of 76 characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from binspark.kernels.compiler import intrinsic, ir, kernel, types
from binspark.kernels.memory import byte_table, load8, load_big_endian, store8, store64, word_table

_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_character = byte_table(_ALPHABET)
_pair = word_table([_ALPHABET[number >> 6] | _ALPHABET[number & 63] << 8 for number in range(4096)])
_BYTES_OF_LINE = 57
_NEWLINE, _FILL = ord("\n"), ord("=")
_LANE = 16
_DISTANCES = ((51, "<=", 71), (25, "<=", 65), (62, "==", -19), (63, "==", -16))
"""How far characters are from their numbers, from which number on; -4 for digits."""
_DIGITS = -4


class _Vectors:
    """Writes instructions for vectors of one kind."""

    def __init__(self, builder: Any, element: Any, count: int) -> None:
        self.builder = builder
        self.kind = ir.VectorType(element, count)

    def constant(self, values: Sequence[int]) -> Any:
        """Return a vector with the values in turns."""
        repeated = [values[index % len(values)] for index in range(self.kind.count)]
        return ir.Constant(self.kind, [ir.Constant(self.kind.element, value) for value in repeated])

    def times(self, vector: Any, factors: Sequence[int]) -> Any:
        """Return the products with factors in turns."""
        return self.builder.mul(vector, self.constant(factors))


def _encoder(lanes: int) -> Any:
    """Return an intrinsic that writes 12 bytes for each lane as 16 characters; it reads 4 bytes more at the end."""

    @intrinsic
    def encode(_typing: Any, _target: Any, _source: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            numbers = _six_bits(builder, _spread(builder, arguments[1], lanes), lanes)
            bytes_of = _Vectors(builder, ir.IntType(8), _LANE * lanes)
            distance = bytes_of.constant([_DIGITS])
            for number, relation, value in _DISTANCES:
                is_meant = builder.icmp_signed(relation, numbers, bytes_of.constant([number]))
                distance = builder.select(is_meant, bytes_of.constant([value]), distance)
            target = builder.inttoptr(arguments[0], bytes_of.kind.as_pointer())
            builder.store(builder.add(numbers, distance), target, align=1)
            return ir.Constant(ir.IntType(64), 0)

        return types.int64(types.int64, types.int64), generate

    return encode


def _spread(builder: Any, source: Any, lanes: int) -> Any:
    """Load 12 bytes for each lane. Of each three, the second one comes twice: 2, 1, 3, 2."""
    pointer = ir.VectorType(ir.IntType(8), _LANE).as_pointer()
    loaded = []
    for lane in range(lanes):
        address = builder.add(source, ir.Constant(ir.IntType(64), 12 * lane))
        loaded.append(builder.load(builder.inttoptr(address, pointer)))
        loaded[-1].align = 1
    order = [3 * group + byte for group in range(4) for byte in (1, 0, 2, 1)]
    indexes = [_LANE * lane + index for lane in range(lanes) for index in order]
    mask = _Vectors(builder, ir.IntType(32), _LANE * lanes).constant(indexes)
    return builder.shuffle_vector(loaded[0], loaded[-1], mask)


def _six_bits(builder: Any, spread: Any, lanes: int) -> Any:
    """Return the numbers of six bits that the bytes contain, one in each byte.

    Half of them move to the right, the others to the left, each in a word of 16 bits: that is done by multiplying.
    """
    half = _Vectors(builder, ir.IntType(16), 8 * lanes)
    wide = _Vectors(builder, ir.IntType(32), 8 * lanes)
    words = builder.bitcast(spread, half.kind)
    right = builder.zext(builder.and_(words, half.constant([0xFC00, 0x0FC0])), wide.kind)
    right = builder.trunc(builder.lshr(wide.times(right, [0x0040, 0x0400]), wide.constant([16])), half.kind)
    left = half.times(builder.and_(words, half.constant([0x03F0, 0x003F])), [0x0010, 0x0100])
    return builder.bitcast(builder.or_(right, left), ir.VectorType(ir.IntType(8), _LANE * lanes))


_encode_12, _encode_24 = _encoder(1), _encoder(2)


@kernel
def write_base64(at: int, source: int, length: int) -> int:
    """Write bytes as base64; every line ends with a newline. Return the address after it.

    Up to 7 bytes more are read, and 8 more written.
    """
    end = source + length
    while end - source >= _BYTES_OF_LINE:
        _encode_24(at, source)
        _encode_24(at + 32, source + 24)
        _encode_12(at + 64, source + 48)
        store8(at + 76, _NEWLINE)
        source += _BYTES_OF_LINE
        at += 77
    if source == end:
        return at
    while end - source >= 6:
        word = load_big_endian(source, 6)
        text = _pair(word >> 36) | _pair(word >> 24 & 4095) << 16
        store64(at, text | _pair(word >> 12 & 4095) << 32 | _pair(word & 4095) << 48)
        source += 6
        at += 8
    while source < end:
        left = end - source
        first = load8(source)
        second = load8(source + 1) if left > 1 else 0
        third = load8(source + 2) if left > 2 else 0
        store8(at, _character(first >> 2))
        store8(at + 1, _character((first & 3) << 4 | second >> 4))
        store8(at + 2, _character((second & 15) << 2 | third >> 6) if left > 1 else _FILL)
        store8(at + 3, _character(third & 63) if left > 2 else _FILL)
        source += 3
        at += 4
    store8(at, _NEWLINE)
    return at + 1
