"""Changed rows as lines of JSON: texts that other kernels wrote, put together."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import copy_bytes, get, load32, load32s, load64, store8, store32, store64
from binspark.kernels.printing.digits import write_unsigned

_NULL = int.from_bytes(b"null", "little")
_QUOTE = ord('"')


class Line(IntEnum):
    """Numbers that describe the rows of a batch and where their lines go, in an array of int64."""

    ROWS = 0
    TARGET = 1  # address of the first line
    ENDS = 2  # address of int64: the end of each line, counted from TARGET
    POSITIONS = 3  # address of int64: offset of the event of each row
    NUMBERS = 4  # address of int32: number of the row in its event
    EVENTS = 5  # address of the event at offset 0: its first four bytes are its time
    GTIDS = 6  # address of int32: which identifier each row has, -1 for none
    GTID_OFFSETS = 7  # address of int32
    GTID_TEXT = 8
    OPERATIONS = 9  # address of int32
    BEFORE_OFFSETS = 10  # address of int32: offset of the text of each before image; an empty text is none
    BEFORE_TEXT = 11
    AFTER_OFFSETS = 12
    AFTER_TEXT = 13
    KEY_OFFSETS = 14
    KEY_TEXT = 15
    WORDS = 16  # address and length of each word
    WIDTH = 17


class Word(IntEnum):
    """The text between the values of a line."""

    FILE_POS = 0
    ROW = 1
    GTID = 2
    TIMESTAMP = 3
    INSERT = 4  # schema, table and operation, up to the old row
    UPDATE = 5
    DELETE = 6
    TRUNCATE = 7
    AFTER = 8
    KEY = 9
    END = 10


@kernel
def write_lines(line: int) -> None:
    """Write a line for each row. There must be room for all of them."""
    target = get(line, Line.TARGET)
    at = target
    for row in range(get(line, Line.ROWS)):
        position = load64(get(line, Line.POSITIONS) + 8 * row)
        at = write_word(at, line, Word.FILE_POS)
        at = write_unsigned(at, position)
        at = write_word(at, line, Word.ROW)
        at = write_unsigned(at, load32(get(line, Line.NUMBERS) + 4 * row))
        at = write_word(at, line, Word.GTID)
        at = write_gtid(at, line, row)
        at = write_word(at, line, Word.TIMESTAMP)
        at = write_unsigned(at, load32(get(line, Line.EVENTS) + position))
        at = write_word(at, line, Word.INSERT + load32(get(line, Line.OPERATIONS) + 4 * row))
        at = write_text(at, get(line, Line.BEFORE_OFFSETS), get(line, Line.BEFORE_TEXT), row)
        at = write_word(at, line, Word.AFTER)
        at = write_text(at, get(line, Line.AFTER_OFFSETS), get(line, Line.AFTER_TEXT), row)
        at = write_word(at, line, Word.KEY)
        at = write_text(at, get(line, Line.KEY_OFFSETS), get(line, Line.KEY_TEXT), row)
        at = write_word(at, line, Word.END)
        store64(get(line, Line.ENDS) + 8 * row, at - target)


@kernel
def write_word(at: int, line: int, word: int) -> int:
    """Write the text between two values."""
    entry = get(line, Line.WORDS) + 16 * word
    length: int = load64(entry + 8)
    copy_bytes(at, load64(entry), length)
    return at + length


@kernel
def write_gtid(at: int, line: int, row: int) -> int:
    """Write an identifier. None has a letter that JSON writes otherwise."""
    number = load32s(get(line, Line.GTIDS) + 4 * row)
    if number < 0:
        store32(at, _NULL)
        return at + 4
    start = load32(get(line, Line.GTID_OFFSETS) + 4 * number)
    length: int = load32(get(line, Line.GTID_OFFSETS) + 4 * number + 4) - start
    store8(at, _QUOTE)
    copy_bytes(at + 1, get(line, Line.GTID_TEXT) + start, length)
    store8(at + 1 + length, _QUOTE)
    return at + length + 2


@kernel
def write_text(at: int, offsets: int, text: int, row: int) -> int:
    """Write an object, or `null` where there is none."""
    start = load32(offsets + 4 * row)
    length: int = load32(offsets + 4 * row + 4) - start
    if length == 0:
        store32(at, _NULL)
        return at + 4
    copy_bytes(at, text + start, length)
    return at + length


@kernel
def copy_in_order(target: int, starts: int, lengths: int, order: int, count: int) -> None:
    """Copy lines one after the other, in an order. Arguments are addresses of int64, one for each line."""
    for index in range(count):
        number = load64(order + 8 * index)
        length = load64(lengths + 8 * number)
        copy_bytes(target, load64(starts + 8 * number), length)
        target += length
