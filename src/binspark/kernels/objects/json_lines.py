"""Changed rows as lines of JSON, as `changes.change_json` writes them."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import NO_THREAD, Operation
from binspark.kernels.memory import get, load32, load32s, load64, store8, store16
from binspark.kernels.objects.layout import ChangedRows, Field, Outcome, changed_image
from binspark.kernels.objects.lines import (
    Lines,
    Word,
    end_line,
    has_key,
    old_fields,
    write_null,
    write_text_of,
    write_value,
    write_word,
)
from binspark.kernels.objects.rows import write_members
from binspark.kernels.printing.digits import write_unsigned
from binspark.kernels.text import copy_short

_DONE, _NO_ROOM = int(Outcome.DONE), int(Outcome.NO_ROOM)
_INSERT, _DELETE, _TRUNCATE = int(Operation.INSERT), int(Operation.DELETE), int(Operation.TRUNCATE)
_FIELD = 8 * int(Field.WIDTH)
_COMMA = int.from_bytes(b", ", "little")
_QUOTE, _OPEN, _CLOSE = (ord(character) for character in '"{}')


@kernel
def write_json_lines(lines: int) -> int:
    """Write a line of JSON for each row from the next one on; return why it stopped."""
    limit = get(lines, ChangedRows.LIMIT)
    for row in range(get(lines, ChangedRows.ROW), get(lines, ChangedRows.ROWS)):
        at = get(lines, ChangedRows.AT)
        if at > limit:
            return _NO_ROOM
        operation = load32(get(lines, ChangedRows.OPERATIONS) + 4 * row)
        at = write_json_head(at, lines, row, operation)
        has_old = operation != _INSERT and operation != _TRUNCATE
        at = write_image(at, lines, row, old_fields(lines, operation) if has_old else 0, ChangedRows.BEFORE_PRESENT)
        if at < 0:
            return at
        at = write_word(at, lines, Word.AFTER)
        has_new = operation != _DELETE and operation != _TRUNCATE
        new = get(lines, ChangedRows.NEW) if has_new else 0
        at = write_image(at, lines, row, new, ChangedRows.AFTER_PRESENT)
        if at < 0:
            return at
        at = write_word(at, lines, Word.KEY)
        at = write_json_key(at, lines, row, operation)
        if at < 0:
            return at
        if at > limit:
            return _NO_ROOM
        at = write_word(at, lines, Word.STATEMENT)
        at = write_text_of(at, lines, Lines.STATEMENTS, row)
        at = write_word(at, lines, Word.END)
        end_line(lines, row, at)
    return _DONE


@kernel
def write_json_head(at: int, lines: int, row: int, operation: int) -> int:
    """Write a line up to its old row."""
    at = write_word(at, lines, Word.FILE_POS)
    at = write_unsigned(at, load64(get(lines, Lines.POSITIONS) + 8 * row))
    at = write_word(at, lines, Word.ROW)
    at = write_unsigned(at, load32(get(lines, Lines.NUMBERS) + 4 * row))
    at = write_word(at, lines, Word.GTID)
    if load32s(get(lines, Lines.GTIDS) + 4 * row) < 0:
        at = write_null(at)
    else:  # no identifier has a letter that JSON writes otherwise
        store8(at, _QUOTE)
        at = write_text_of(at + 1, lines, Lines.GTIDS, row)
        store8(at, _QUOTE)
        at += 1
    at = write_word(at, lines, Word.TIMESTAMP)
    at = write_unsigned(at, load64(get(lines, Lines.TIMES) + 8 * row))
    at = write_word(at, lines, Word.SERVER)
    at = write_unsigned(at, load64(get(lines, Lines.SERVERS) + 8 * row))
    at = write_word(at, lines, Word.THREAD)
    thread = load32(get(lines, Lines.THREADS) + 4 * row)
    at = write_null(at) if thread == NO_THREAD else write_unsigned(at, thread)
    return write_word(at, lines, Word.INSERT + operation)


@kernel
def write_image(at: int, lines: int, row: int, fields: int, present: int) -> int:
    """Write a row as an object, or `null` if there are no `fields`; `present` says which columns it has."""
    if fields == 0:
        return write_null(at)
    count = get(lines, ChangedRows.FIELD_COUNT)
    return write_members(at, get(lines, ChangedRows.LIMIT), fields, count, changed_image(lines, row, present), row)


@kernel
def write_json_key(at: int, lines: int, row: int, operation: int) -> int:
    """Write the key of a row as an object, or `null` if it is not known."""
    limit, fields = get(lines, ChangedRows.LIMIT), old_fields(lines, operation)
    if operation == _TRUNCATE or not has_key(lines, row):
        return write_null(at)
    store8(at, _OPEN)
    at += 1
    for part in range(get(lines, ChangedRows.KEY_COUNT)):
        if part:
            store16(at, _COMMA)
            at += 2
        field = fields + _FIELD * load64(get(lines, ChangedRows.KEY) + 8 * part)
        length = get(field, Field.NAME_LENGTH)
        if at + length > limit:
            return _NO_ROOM
        copy_short(at, get(field, Field.NAME), length)
        at = write_value(at + length, limit, field, row)
        if at < 0:
            return at
    store8(at, _CLOSE)
    return at + 1
