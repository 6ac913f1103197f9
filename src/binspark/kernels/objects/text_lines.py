"""Changed rows as lines of text for people, as `changes.change_line` writes them."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Operation
from binspark.kernels.memory import get, load8, load32, load64, store8, store16
from binspark.kernels.objects.layout import ChangedRows, Field, Outcome, changed_image, is_present
from binspark.kernels.objects.lines import Lines, Word, end_line, has_key, write_value, write_word
from binspark.kernels.printing.digits import write_pair, write_unsigned
from binspark.kernels.printing.temporal import write_datetime_text
from binspark.kernels.text import copy_short, equal_bytes
from binspark.kernels.words import ZERO

_DONE, _NO_ROOM = int(Outcome.DONE), int(Outcome.NO_ROOM)
_UPDATE, _TRUNCATE = int(Operation.UPDATE), int(Operation.TRUNCATE)
_FIELD = 8 * int(Field.WIDTH)
_SECOND = 1_000_000
_COLON, _COMMA = (int.from_bytes(text, "little") for text in (b": ", b", "))
_SPACE, _EQUALS, _PLUS, _MINUS, _END_OF_HOUR, _UTC, _UNKNOWN, _NEWLINE = (ord(character) for character in " =+-:Z?\n")
_ELLIPSIS = int.from_bytes("…".encode(), "little")
_ELLIPSIS_LENGTH = 3
_POSITION_WIDTH = 24
_CONTINUES = 0x80  # the top bits of a byte that continues a character


@kernel
def write_text_lines(lines: int) -> int:
    """Write a line of text for each row from the next one on; return why it stopped."""
    limit = get(lines, ChangedRows.LIMIT)
    for row in range(get(lines, ChangedRows.ROW), get(lines, ChangedRows.ROWS)):
        at = get(lines, ChangedRows.AT)
        if at > limit:
            return _NO_ROOM
        operation = load32(get(lines, ChangedRows.OPERATIONS) + 4 * row)
        at = write_text_head(at, lines, row, operation)
        if operation == _UPDATE:
            at = write_changes(at, lines, row)
        elif operation != _TRUNCATE:
            at = write_values(at, lines, row)
        if at < 0:
            return at
        if at > limit:
            return _NO_ROOM
        store8(at, _NEWLINE)
        end_line(lines, row, at + 1)
    return _DONE


@kernel
def write_text_head(at: int, lines: int, row: int, operation: int) -> int:
    """Write a line up to the name of its table."""
    start = at = write_word(at, lines, Word.FILE_POS)
    at = write_unsigned(at, load64(get(lines, Lines.POSITIONS) + 8 * row))
    store8(at, _PLUS)
    at = write_unsigned(at + 1, load32(get(lines, Lines.NUMBERS) + 4 * row))
    for _ in range(max(_POSITION_WIDTH - get(lines, Lines.FILE_WIDTH) - (at - start), ZERO) + 1):
        store8(at, _SPACE)
        at += 1
    at = write_datetime_text(at, load64(get(lines, Lines.TIMES) + 8 * row) * _SECOND, ZERO)
    at = write_zone(at, get(lines, Lines.ZONES), row)
    return write_word(at, lines, Word.INSERT + operation)


@kernel
def write_zone(at: int, zones: int, row: int) -> int:
    """Write the time zone of a row's time: `Z`, or hours and minutes."""
    if zones == 0:
        store8(at, _UTC)
        return at + 1
    minutes = load64(zones + 8 * row)
    store8(at, _PLUS if minutes >= 0 else _MINUS)
    at = write_pair(at + 1, abs(minutes) // 60)
    store8(at, _END_OF_HOUR)
    return write_pair(at + 1, abs(minutes) % 60)


@kernel
def write_values(at: int, lines: int, row: int) -> int:
    """Write the values of an inserted or deleted row."""
    limit, fields = get(lines, ChangedRows.LIMIT), get(lines, ChangedRows.NEW)
    image = changed_image(lines, row, ChangedRows.AFTER_PRESENT)
    is_first = True
    for index in range(get(lines, ChangedRows.FIELD_COUNT)):
        if is_present(image, index):
            store16(at, _SPACE | _SPACE << 8)
            at = write_named(at + (2 if is_first else 1), lines, fields + _FIELD * index, row)
            if at < 0:
                return at
            if at > limit:
                return _NO_ROOM
            is_first = False
    return at


@kernel
def write_named(at: int, lines: int, field: int, row: int) -> int:
    """Write the name and the value of a column."""
    limit, length = get(lines, ChangedRows.LIMIT), get(field, Field.NAME_LENGTH)
    if at + length > limit:
        return _NO_ROOM
    copy_short(at, get(field, Field.NAME), length)
    store8(at + length, _EQUALS)
    start = at + length + 1
    at = write_value(start, limit, field, row)
    return at if at < 0 else shortened(start, at, get(lines, Lines.MAX_WIDTH))


@kernel
def write_changes(at: int, lines: int, row: int) -> int:
    """Write the key of an updated row, and the values that have changed."""
    limit, old, new = get(lines, ChangedRows.LIMIT), get(lines, ChangedRows.OLD), get(lines, ChangedRows.NEW)
    store8(at, _SPACE)
    at += 1
    if has_key(lines, row):
        for part in range(get(lines, ChangedRows.KEY_COUNT)):
            store8(at, _SPACE)
            at = write_named(at + 1, lines, old + _FIELD * load64(get(lines, ChangedRows.KEY) + 8 * part), row)
            if at < 0:
                return at
            if at > limit:
                return _NO_ROOM
    before = changed_image(lines, row, ChangedRows.BEFORE_PRESENT)
    after = changed_image(lines, row, ChangedRows.AFTER_PRESENT)
    is_first = True
    for index in range(get(lines, ChangedRows.FIELD_COUNT)):
        if is_present(after, index):
            start = at
            if is_first:
                store8(at, _SPACE)
                at += 1
            else:
                store16(at, _COMMA)
                at += 2
            old_field = old + _FIELD * index if is_present(before, index) else 0
            at = write_change(at, lines, old_field, new + _FIELD * index, row)
            if at < 0:
                return at
            if at > limit:
                return _NO_ROOM
            if at == 0:
                at = start
            else:
                is_first = False
    if is_first:
        at = write_word(at, lines, Word.UNCHANGED)
    return at


@kernel
def write_change(at: int, lines: int, old: int, new: int, row: int) -> int:
    """Write the old and the new value of a column, if they differ; 0 if not. Without `old` it is not known."""
    limit, length, width = get(lines, ChangedRows.LIMIT), get(new, Field.NAME_LENGTH), get(lines, Lines.MAX_WIDTH)
    if at + length > limit:
        return _NO_ROOM
    copy_short(at, get(new, Field.NAME), length)
    store16(at + length, _COLON)
    start = at + length + 2
    old_end = write_old(start, limit, old, row)
    if old_end < 0:
        return old_end
    if old_end > limit:
        return _NO_ROOM
    new_start = write_word(old_end, lines, Word.ARROW)
    at = write_value(new_start, limit, new, row)
    if at < 0:
        return at
    if old and old_end - start == at - new_start and equal_bytes(start, new_start, at - new_start):
        return 0
    cut = shortened(start, old_end, width)
    if cut == old_end:
        return shortened(new_start, at, width)
    new_start = write_word(cut, lines, Word.ARROW)
    at = write_value(new_start, limit, new, row)
    return at if at < 0 else shortened(new_start, at, width)


@kernel
def write_old(at: int, limit: int, field: int, row: int) -> int:
    """Write a value of the old row; a question mark if it is not known."""
    if field:
        return write_value(at, limit, field, row)
    store8(at, _UNKNOWN)
    return at + 1


@kernel
def shortened(start: int, end: int, width: int) -> int:
    """Cut a text off where it has more than `width` characters; return its end."""
    if width == 0 or end - start <= width:
        return end
    count, cut = 0, start
    for at in range(start, end):
        if load8(at) & 0xC0 != _CONTINUES:
            count += 1
            if count == width:
                cut = at
            elif count > width:
                store16(cut, _ELLIPSIS)
                store8(cut + 2, _ELLIPSIS >> 16)
                return cut + _ELLIPSIS_LENGTH
    return end
