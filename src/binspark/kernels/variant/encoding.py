"""Scalars, arrays and objects in the encoding of VARIANT that Parquet and Spark share.

A value begins with a byte: two bits are the kind (primitive, short string, object, array), six bits depend on it.
Writers take the address to write at, where there is room, and return the address after what they wrote. They may
overwrite up to eight bytes more than that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load64, store8, store16, store32, store64, store_unsigned
from binspark.kernels.text import copy_short


def _header(kind: int) -> Any:
    """Return the first byte of a primitive; no literal, for which Numba would compile each function once more."""
    return np.int64(kind << 2)


NULL, TRUE, FALSE = _header(0), _header(1), _header(2)
_INT1, _INT2, _INT4, _INT8 = _header(3), _header(4), _header(5), _header(6)
DOUBLE = _header(7)
_DECIMAL4, _DECIMAL8, _DECIMAL16 = _header(8), _header(9), _header(10)
DATE, TIMESTAMP, DATETIME = _header(11), _header(12), _header(13)
FLOAT = _header(14)
_BINARY, _LONG_STRING = _header(15), _header(16)
_SHORT_STRING, _OBJECT, _ARRAY = 1, 2, 3

MAX_SHORT_STRING = 63
_MAX_ONE_BYTE_COUNT = 255
_DECIMAL4_DIGITS, _DECIMAL8_DIGITS = 9, 18
_DECIMAL4_END, _DECIMAL8_END = 10**_DECIMAL4_DIGITS, 10**_DECIMAL8_DIGITS
_LOW_32 = 0xFFFF_FFFF

WIDEST_SCALAR = 32
"""Bytes that a scalar of fixed size may write to."""


@kernel
def write_integer(at: int, value: int) -> int:
    """Write a signed integer in as few bytes as it needs."""
    if -0x80 <= value < 0x80:
        store16(at, _INT1 | value << 8)
        return at + 2
    if -0x8000 <= value < 0x8000:
        store32(at, _INT2 | value << 8)
        return at + 3
    if -0x8000_0000 <= value < 0x8000_0000:
        store64(at, _INT4 | value << 8)
        return at + 5
    return write_word(at, _INT8, value)


@kernel
def write_word(at: int, header: int, word: int) -> int:
    """Write a header and eight bytes."""
    store8(at, header)
    store64(at + 1, word)
    return at + 9


@kernel
def write_half_word(at: int, header: int, word: int) -> int:
    """Write a header and four bytes."""
    store8(at, header)
    store32(at + 1, word)
    return at + 5


@kernel
def write_decimal(at: int, low: int, high: int, scale: int) -> int:
    """Write a decimal, whose digits are a signed number of two words, in as few bytes as it needs."""
    if high == low >> 63:
        if -_DECIMAL4_END < low < _DECIMAL4_END and scale <= _DECIMAL4_DIGITS:
            store64(at, _DECIMAL4 | scale << 8 | (low & _LOW_32) << 16)
            return at + 6
        if -_DECIMAL8_END < low < _DECIMAL8_END and scale <= _DECIMAL8_DIGITS:
            store16(at, _DECIMAL8 | scale << 8)
            store64(at + 2, low)
            return at + 10
    store16(at, _DECIMAL16 | scale << 8)
    store64(at + 2, low)
    store64(at + 10, high)
    return at + 18


@kernel
def write_string_header(at: int, length: int) -> int:
    """Write the header of a string."""
    if length <= MAX_SHORT_STRING:
        store8(at, _SHORT_STRING | length << 2)
        return at + 1
    return write_half_word(at, _LONG_STRING, length)


@kernel
def string_size(length: int) -> int:
    """Return the size of a string with its header."""
    return length + (1 if length <= MAX_SHORT_STRING else 5)


@kernel
def write_string(at: int, source: int, length: int) -> int:
    """Write a string with its header."""
    at = write_string_header(at, length)
    copy_short(at, source, length)
    return at + length


@kernel
def write_binary(at: int, source: int, length: int) -> int:
    """Write bytes with their header."""
    at = write_half_word(at, _BINARY, length)
    copy_short(at, source, length)
    return at + length


@kernel
def header_size(count: int, key_bytes: int, offset_bytes: int) -> int:
    """Return the length of the header of an array or object; an array has no keys."""
    return (2 if count <= _MAX_ONE_BYTE_COUNT else 5) + count * key_bytes + (count + 1) * offset_bytes


@kernel
def begin_container(at: int, count: int, key_bytes: int, offset_bytes: int) -> int:
    """Write the beginning of an array or object; return the address for the numbers of keys, then the offsets."""
    is_large = count > _MAX_ONE_BYTE_COUNT
    if key_bytes:
        store8(at, _OBJECT | (offset_bytes - 1) << 2 | (key_bytes - 1) << 4 | is_large << 6)
    else:
        store8(at, _ARRAY | (offset_bytes - 1) << 2 | is_large << 4)
    if is_large:
        store32(at + 1, count)
        return at + 5
    store8(at + 1, count)
    return at + 2


@kernel
def write_header(at: int, entries: int, count: int, size: int, key_bytes: int, offset_bytes: int) -> None:
    """Write the header of an array or object whose elements take `size` bytes."""
    keys = begin_container(at, count, key_bytes, offset_bytes)
    offsets = keys + key_bytes * count
    for index in range(count):
        entry = load64(entries + 8 * index)
        if key_bytes:
            store_unsigned(keys + key_bytes * index, entry >> 32, key_bytes)
        store_unsigned(offsets + offset_bytes * index, entry & _LOW_32, offset_bytes)
    store_unsigned(offsets + offset_bytes * count, size, offset_bytes)


@kernel
def entry_of(key: int, offset: int) -> int:
    """Return one word for a member of an object, or an element of an array, whose key is 0."""
    return key << 32 | offset
