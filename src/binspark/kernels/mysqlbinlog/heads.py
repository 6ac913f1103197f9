"""What is printed before every event: its position, time, server and checksum; and the times of commits."""

from __future__ import annotations

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.memory import byte_table, get, load8, load32, store8
from binspark.kernels.mysqlbinlog.layout import CLOCK_FIELDS, CLOCK_SLOTS, LONG_TIME, SHORT_TIME
from binspark.kernels.mysqlbinlog.texts import Text
from binspark.kernels.printing.digits import write_padded, write_unsigned
from binspark.kernels.text import copy_short
from binspark.kernels.words import ZERO

_MICROSECONDS = 1_000_000
_hex = byte_table(b"0123456789abcdef")
_POINT, _OPEN, _CLOSE, _SPACE = (ord(character) for character in ".() ")
_SIX = ZERO + 6


@inlined
def write_text(at: int, texts: int, text: int) -> int:
    """Write one of the texts."""
    length = get(texts, 2 * text + 1)
    copy_short(at, get(texts, 2 * text), length)
    return at + length


@kernel
def write_hex(at: int, source: int, count: int) -> int:
    """Write bytes as hexadecimal digits."""
    for index in range(count):
        byte = load8(source + index)
        store8(at, _hex(byte >> 4))
        store8(at + 1, _hex(byte & 15))
        at += 2
    return at


@inlined
def clock_slot(clock: int, second: int) -> int:
    """Return the slot that has the texts of a second, if any has."""
    return clock + 8 * CLOCK_FIELDS * (second & (CLOCK_SLOTS - 1))


@kernel
def write_head(
    at: int, texts: int, clock: int, event: int, position: int, end_position: int, with_checksum: bool
) -> int:
    """Write what every event begins with, without the space at its end."""
    at = write_text(at, texts, Text.AT)
    at = write_unsigned(at, position)
    at = write_text(at, texts, Text.NEWLINE_HASH)
    copy_short(at, get(clock_slot(clock, load32(event)), ZERO + 1), ZERO + SHORT_TIME)
    at = write_text(at + SHORT_TIME, texts, Text.SERVER)
    at = write_unsigned(at, load32(event + 5))
    at = write_text(at, texts, Text.END_POSITION)
    at = write_unsigned(at, end_position)
    if not with_checksum:
        return at
    at = write_text(at, texts, Text.CHECKSUM)
    last = event + load32(event + 9) - 1
    for index in range(4):
        at = write_hex(at, last - index, ZERO + 1)
    return at


@kernel
def write_moment(at: int, texts: int, clock: int, text: int, microseconds: int) -> int:
    """Write a commit time as a number and as text."""
    at = write_text(at, texts, text)
    at = write_unsigned(at, microseconds)
    store8(at, _SPACE)
    store8(at + 1, _OPEN)
    second = microseconds // _MICROSECONDS
    copy_short(at + 2, get(clock_slot(clock, second), ZERO + 2), ZERO + LONG_TIME)
    at += 2 + LONG_TIME
    store8(at, _POINT)
    at = write_padded(at + 1, microseconds - second * _MICROSECONDS, _SIX)
    at = write_text(at, texts, Text.ZONE)
    store8(at, _CLOSE)
    return at + 1
