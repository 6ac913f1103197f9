"""What writers of lines share: the numbers of the rows of a batch and of its words, and how they are read."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Operation
from binspark.kernels.memory import call_writer, copy_bytes, get, load32, load32s, load64, put, store32
from binspark.kernels.objects.layout import ChangedRows, Field, changed_image, has_value, is_present

_UPDATE = int(Operation.UPDATE)
_NULL = int.from_bytes(b"null", "little")


class Lines(IntEnum):
    """Numbers of the lines that rows become, after those of `ChangedRows` in the same array."""

    POSITIONS = 15  # address of int64: offset of the event of each row
    NUMBERS = 16  # address of int32: number of the row in its event
    TIMES = 17  # address of int64: seconds since 1970, as they are shown
    SERVERS = 18  # address of int64
    THREADS = 19  # address of uint32
    GTIDS = 20  # address of int32: which identifier each row has, -1 for none
    GTID_OFFSETS = 21  # address of int32
    GTID_TEXT = 22
    STATEMENTS = 23  # address of int32: which statement each row has, -1 for none
    STATEMENT_OFFSETS = 24  # address of int32
    STATEMENT_TEXT = 25  # statements as JSON
    WORDS = 26  # address and length of each word
    FILE_WIDTH = 27  # characters of the name of the file
    MAX_WIDTH = 28  # maximum characters of a value in text, 0 for no limit
    ZONES = 29  # address of int64: minutes that the time zone is ahead of UTC at each time, 0 for UTC
    WIDTH = 30


class Word(IntEnum):
    """The text between the values of a line."""

    FILE_POS = 0
    ROW = 1
    GTID = 2
    TIMESTAMP = 3
    SERVER = 4
    THREAD = 5
    INSERT = 6  # schema, table and operation, up to the old row
    UPDATE = 7
    DELETE = 8
    TRUNCATE = 9
    AFTER = 10
    KEY = 11
    STATEMENT = 12
    END = 13
    UNCHANGED = 14
    ARROW = 15


@kernel
def write_value(at: int, limit: int, field: int, row: int) -> int:
    """Write a value as JSON."""
    if has_value(field, row):
        return call_writer(get(field, Field.WRITER), field, row, at, limit)
    return write_null(at)


@kernel
def old_fields(lines: int, operation: int) -> int:
    """Return the address of the columns that have the old row; for an insert, of those that have the new one."""
    return get(lines, ChangedRows.OLD) if operation == _UPDATE else get(lines, ChangedRows.NEW)


@kernel
def has_key(lines: int, row: int) -> bool:
    """Return whether the columns of the key are in the old row; of an insert, in the new one."""
    image = changed_image(lines, row, ChangedRows.BEFORE_PRESENT)
    for part in range(get(lines, ChangedRows.KEY_COUNT)):
        if not is_present(image, load64(get(lines, ChangedRows.KEY) + 8 * part)):
            return False
    return get(lines, ChangedRows.KEY_COUNT) > 0


@kernel
def write_word(at: int, lines: int, word: int) -> int:
    """Write the text between two values."""
    entry = get(lines, Lines.WORDS) + 16 * word
    length: int = load64(entry + 8)
    copy_bytes(at, load64(entry), length)
    return at + length


@kernel
def write_text_of(at: int, lines: int, numbers: int, row: int) -> int:
    """Write the GTID or the statement of a row, or `null` where there is none."""
    number = load32s(get(lines, numbers) + 4 * row)
    if number < 0:
        return write_null(at)
    offset = get(lines, numbers + 1) + 4 * number
    start = load32(offset)
    length: int = load32(offset + 4) - start
    copy_bytes(at, get(lines, numbers + 2) + start, length)
    return at + length


@kernel
def write_null(at: int) -> int:
    """Write `null`."""
    store32(at, _NULL)
    return at + 4


@kernel
def end_line(lines: int, row: int, at: int) -> None:
    """Note where a line ends."""
    put(lines, ChangedRows.AT, at)
    put(lines, ChangedRows.ROW, row + 1)
    store32(get(lines, ChangedRows.OFFSETS) + 4 * (row + 1), at - get(lines, ChangedRows.START))
