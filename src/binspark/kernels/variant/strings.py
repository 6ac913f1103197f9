"""Strings in JSON text that have escapes, as UTF-8."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.json.strings import special_bytes
from binspark.kernels.memory import get, load8, load64, put, store8, store64
from binspark.kernels.objects.layout import Outcome, Work
from binspark.kernels.text import few_bytes
from binspark.kernels.words import trailing_zeros

_WRONG, _NO_ROOM = int(Outcome.WRONG), int(Outcome.NO_ROOM)
QUOTE, _BACKSLASH, _U = (ord(character) for character in '"\\u')
_NONE = -1
_HIGH_SURROGATE, _LOW_SURROGATE, _SURROGATES_END = 0xD800, 0xDC00, 0xE000


def _by_byte(values: dict[str, int]) -> np.ndarray:
    table = np.full(256, -1, dtype=np.int64)
    for character, value in values.items():
        table[ord(character)] = value
    return table


_UNESCAPED = _by_byte({**{c: ord(c) for c in '"\\/'}, "b": 8, "t": 9, "n": 10, "f": 12, "r": 13})
_HEXADECIMAL = _by_byte({character: int(character, 16) for character in "0123456789abcdefABCDEF"})


@kernel
def find_special(source: int, end: int) -> int:
    """Return the address of the next quote, backslash or control character; `end` if there is none."""
    while source < end:
        left = end - source
        found = special_bytes(load64(source) if left >= 8 else few_bytes(source, left))
        if found:
            return source + (trailing_zeros(found) >> 3)
        source += 8
    return end


def decode_string(work: int, at: int, limit: int, source: int) -> int:
    """Write the text of a string, given the address after its first quote."""
    end = get(work, Work.END)
    while source < end and at <= limit:
        left = end - source
        word = load64(source) if left >= 8 else few_bytes(source, left)
        store64(at, word)
        found = special_bytes(word)
        if found == 0:
            at += 8
            source += 8
            continue
        plain = trailing_zeros(found) >> 3
        at += plain
        source += plain
        special = load8(source)
        if special == QUOTE:
            put(work, Work.SOURCE, source + 1)
            return at
        if special != _BACKSLASH or end - source < 2:
            break
        point, source = read_escape(source + 1, end)
        if point < 0:
            break
        at = write_utf8(at, point)
    put(work, Work.SOURCE, min(source, end))
    return _NO_ROOM if at > limit else _WRONG


@kernel
def read_escape(source: int, end: int) -> tuple[int, int]:
    """Return the character after a backslash, and the address after it; a number below 0 if it is invalid."""
    if load8(source) != _U:
        return _UNESCAPED[load8(source)], source + 1
    point = code_unit(source, end)
    if point < _HIGH_SURROGATE or point >= _SURROGATES_END:
        return point, source + 5
    second = _NONE
    if point < _LOW_SURROGATE and end - source > 5 and load8(source + 5) == _BACKSLASH:
        second = code_unit(source + 6, end)
    if second < _LOW_SURROGATE or second >= _SURROGATES_END:
        return _NONE, source
    return 0x1_0000 + (point - _HIGH_SURROGATE << 10) + second - _LOW_SURROGATE, source + 11


@kernel
def code_unit(source: int, end: int) -> int:
    """Read u and four hexadecimal digits; return a number below 0 if they are not there."""
    if end - source < 5 or load8(source) != _U:
        return _NONE
    unit = 0
    for at in range(source + 1, source + 5):
        unit = unit << 4 | _HEXADECIMAL[load8(at)]
    return unit


@kernel
def write_utf8(at: int, point: int) -> int:
    """Write a character. Those of more than one byte have a mark in each, and the number of bytes in the first."""
    if point < 0x80:
        store8(at, point)
        return at + 1
    more = 1 if point < 0x800 else (2 if point < 0x1_0000 else 3)
    store8(at, 0xFF00 >> more + 1 & 0xFF | point >> 6 * more)
    for index in range(more):
        store8(at + more - index, 0x80 | point >> 6 * index & 0x3F)
    return at + more + 1
