"""Values of Arrow arrays as literals, as `sql.literals` writes them one at a time.

Writers of values take a column, a row, where to write and the limit of that. They return the address after what they
wrote, NO_ROOM, or REFUSED for a value that Python must write.
"""

from __future__ import annotations

import numpy as np

from binspark.kernels.blocks import copy_16_literal, copy_32_literal
from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import copy_bytes, get, load8, load16, load32, load64, store8, store16, store64
from binspark.kernels.printing.numbers import write_decimal_digits, write_double_digits
from binspark.kernels.sql.layout import Plain, SqlField
from binspark.kernels.text import copy_short, few_bytes, is_utf8
from binspark.kernels.words import ZERO, difference

_QUOTE, _X, _E, _PLUS = (ord(character) for character in "'Xe+")
_TWO_QUOTES, _POINT_ZERO, _EXPONENT_ZERO = (int.from_bytes(text, "little") for text in (b"''", b".0", b"E0"))
_HEXADECIMAL = np.array([int.from_bytes(b"%02X" % byte, "little") for byte in range(256)], dtype=np.int64)
_NOT_FINITE = 0x7FF0_0000_0000_0000
_WIDEST = ZERO + 4
_LOW_BITS = 0x0101_0101_0101_0101
_HIGH_BITS = -0x7F7F_7F7F_7F7F_7F80  # the top bit of each of eight bytes
_SPACES, _QUOTES, _BACKSLASHES = 0x20 * _LOW_BITS, _QUOTE * _LOW_BITS, ord("\\") * _LOW_BITS
_BACKSLASH, _TILDE, _DELETE = (ord(character) for character in "\\~\x7f")
_ZONE_LENGTH = 6
_UTF8MB4 = tuple(int.from_bytes(text, "little") for text in (b"_utf8mb4", b" "))


def write_exact(field: int, row: int, at: int, _limit: int) -> int:
    """Write a decimal."""
    value = get(field, SqlField.VALUES) + 16 * row
    return write_decimal_digits(at, load64(value), load64(value + 8), get(field, SqlField.DIGITS))


def write_float(field: int, row: int, at: int, _limit: int) -> int:
    """Write a double with an exponent: without one it would be a decimal."""
    bits = load64(get(field, SqlField.VALUES) + 8 * row)
    if bits & _NOT_FINITE == _NOT_FINITE:
        return REFUSED
    start, at = at, write_double_digits(at, bits)
    if load16(at - 2) == _POINT_ZERO:
        at -= 2
    for letter in range(start, at):
        if load8(letter) == _E:
            return at
    store16(at, _EXPONENT_ZERO)
    return at + 2


def write_moment(field: int, row: int, at: int, limit: int) -> int:
    """Write a date or time, which is text already; of a TIMESTAMP without its zone."""
    offset = get(field, SqlField.OFFSETS) + 4 * row
    text, length = get(field, SqlField.DATA) + load32(offset), load32(offset + 4) - load32(offset)
    if get(field, SqlField.DIGITS) and load8(text + length - _ZONE_LENGTH) == _PLUS:
        length -= _ZONE_LENGTH
    if at + length > limit:
        return NO_ROOM
    store8(at, _QUOTE)
    copy_short(at + 1, text, length)
    store8(at + 1 + length, _QUOTE)
    return at + length + 2


def write_text(field: int, row: int, at: int, limit: int) -> int:
    """Write text: in quotes where it is plain, else in hexadecimal."""
    offset = get(field, SqlField.OFFSETS) + 4 * row
    start = load32(offset)
    return write_text_literal(at, limit, get(field, SqlField.DATA) + start, load32(offset + 4) - start, field)


@kernel
def write_text_literal(at: int, limit: int, source: int, length: int, field: int) -> int:
    """Write text at an address, by the rules of a column."""
    plain = get(field, SqlField.PLAIN)
    if plain != Plain.NONE or length == 0:
        end = write_quoted(at, limit, source, length, plain)
        if end:
            return end
    return write_hexadecimal(
        at, limit, source, length, get(field, SqlField.INTRODUCER), get(field, SqlField.INTRODUCER + 1)
    )


@kernel
def write_utf8_literal(at: int, limit: int, source: int, length: int) -> int:
    """Write text in UTF-8."""
    end = write_quoted(at, limit, source, length, Plain.UTF8)
    if end:
        return end
    store64(at, _UTF8MB4[0])
    store8(at + 8, _UTF8MB4[1])
    return write_hexadecimal(at + 9, limit, source, length, ZERO, ZERO)


@inlined
def write_quoted(at: int, limit: int, source: int, length: int, plain: int) -> int:
    """Write text in quotes; return 0 if it must be in hexadecimal."""
    if at + length > limit:
        return NO_ROOM
    store8(at, _QUOTE)
    if copy_plain(at + 1, source, length):
        store8(at + 1 + length, _QUOTE)
        return at + length + 2
    if is_plain(source, length, plain):
        return write_doubling_quotes(at, limit, source, length)
    return 0


@kernel
def copy_plain(at: int, source: int, length: int) -> bool:
    """Copy text; return whether all of it is ASCII that needs no care. Reads and writes no byte after it."""
    end = source + length
    while end - source >= 32:
        if copy_32_literal(at, source):
            return False
        at += 32
        source += 32
    left = end - source
    if left >= 16:
        return (copy_16_literal(at, source) | copy_16_literal(at + left - 16, end - 16)) == 0
    if left >= 8:
        head, tail = load64(source), load64(end - 8)
        store64(at, head)
        store64(at + left - 8, tail)
        return (special_bytes(head) | special_bytes(tail)) == 0
    if left:
        word = few_bytes(source, left)
        store64(at, word)
        return special_bytes(word) == 0
    return True


@kernel
def special_bytes(word: int) -> int:
    """Mark the bytes that need care, in their top bits: the lowest mark is right, others may be too many."""
    quotes, backslashes = word ^ _QUOTES, word ^ _BACKSLASHES
    marks = difference(word, _SPACES) & ~word
    marks |= difference(quotes, _LOW_BITS) & ~quotes
    marks |= difference(backslashes, _LOW_BITS) & ~backslashes
    marks |= word | difference(word, -2 * _LOW_BITS)  # what is not ASCII, and from the tilde on
    return marks & _HIGH_BITS


@kernel
def is_plain(source: int, length: int, plain: int) -> bool:
    """Return whether text means the same in quotes in every sql_mode, and in the character set of the connection."""
    highest = 0
    for at in range(source, source + length):
        byte = load8(at)
        if byte < 0x20 or byte in (_BACKSLASH, _DELETE) or (plain == Plain.ASCII and byte >= _TILDE):
            return False
        highest |= byte
    return highest < 0x80 or is_utf8(source, length, _WIDEST)


@kernel
def write_doubling_quotes(at: int, limit: int, source: int, length: int) -> int:
    """Write text in quotes, with quotes in it twice."""
    if at + 2 * length > limit:
        return NO_ROOM
    store8(at, _QUOTE)
    at += 1
    for here in range(source, source + length):
        byte = load8(here)
        if byte == _QUOTE:
            store16(at, _TWO_QUOTES)
            at += 2
        else:
            store8(at, byte)
            at += 1
    store8(at, _QUOTE)
    return at + 1


@kernel
def write_hexadecimal(at: int, limit: int, source: int, length: int, introducer: int, introducer_length: int) -> int:
    """Write bytes as X'...'."""
    if at + 2 * length + introducer_length > limit:
        return NO_ROOM
    copy_bytes(at, introducer, introducer_length)
    at += introducer_length
    if length == 0:
        store16(at, _TWO_QUOTES)
        return at + 2
    store8(at, _X)
    store8(at + 1, _QUOTE)
    at += 2
    for index in range(length):
        store16(at, _HEXADECIMAL[load8(source + index)])
        at += 2
    store8(at, _QUOTE)
    return at + 1
