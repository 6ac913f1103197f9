"""Changed rows as statements, as `sql.statements` writes them one at a time: the change again, or its inverse.

The memory after the limit has room for everything of a row but its values of variable size, which look at the limit.
"""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import NO_ROOM, REFUSED, Operation
from binspark.kernels.memory import (
    call_writer,
    get,
    load8,
    load16,
    load32,
    load64,
    put,
    store8,
    store16,
    store32,
    store64,
)
from binspark.kernels.objects.layout import ChangedRows, Outcome, changed_image, has_value, is_present
from binspark.kernels.sql.layout import Guards, SqlField, Statements
from binspark.kernels.text import copy_short, equal_bytes

_DONE = int(Outcome.DONE)
_INSERT, _UPDATE, _DELETE = int(Operation.INSERT), int(Operation.UPDATE), int(Operation.DELETE)
_FIELD = 8 * int(SqlField.WIDTH)
_NULL, _SEPARATOR, _END, _CLOSE_END = (int.from_bytes(text, "little") for text in (b"NULL", b", ", b";\n", b");\n"))
_AND, _WHERE, _LIMIT = (int.from_bytes(text, "little") for text in (b" AND ", b" WHERE ", b" LIMIT 1"))
_NEVER, _IF_EXACT = int(Guards.NEVER), int(Guards.IF_EXACT)
_COMMENT = int.from_bytes(b" /* of t", "little")
_VALUES = tuple(int.from_bytes(text, "little") for text in (b") VALUES", b" ("))


@kernel
def write_statements(rows: int) -> int:
    """Write a statement for each row that has none yet; return why it stopped."""
    count, by_reference, undo = (
        get(rows, ChangedRows.ROWS),
        get(rows, Statements.BY_REFERENCE),
        get(rows, Statements.UNDO),
    )
    for index in range(get(rows, ChangedRows.ROW), count):
        row = count - 1 - index if undo else index
        at = get(rows, ChangedRows.AT)
        if at > get(rows, ChangedRows.LIMIT):
            return NO_ROOM
        if load8(by_reference + row) == 0:
            end = write_statement(at, rows, row, undo)
            if end == NO_ROOM:
                return NO_ROOM
            if end < 0:
                store8(by_reference + row, 1)
            else:
                at = end
        put(rows, ChangedRows.AT, at)
        put(rows, ChangedRows.ROW, index + 1)
        store32(get(rows, ChangedRows.OFFSETS) + 4 * (index + 1), at - get(rows, ChangedRows.START))
    return _DONE


@kernel
def write_statement(at: int, rows: int, row: int, undo: int) -> int:
    """Write the statement of a row; nothing if it changes nothing."""
    operation = load32(get(rows, ChangedRows.OPERATIONS) + 4 * row)
    before = changed_image(rows, row, ChangedRows.BEFORE_PRESENT)
    after = changed_image(rows, row, ChangedRows.AFTER_PRESENT)
    new, old = get(rows, ChangedRows.NEW), get(rows, ChangedRows.OLD)
    if operation == _UPDATE:
        if not undo:
            return write_update(at, rows, row, old, before, 0, before, new, after)
        if not is_restorable(rows, before, after) or not is_identified(rows, new, after, old, before):
            return REFUSED
        return write_update(at, rows, row, new, after, old, before, old, after)
    if operation != _INSERT and operation != _DELETE:
        return REFUSED
    if (operation == _INSERT) == (undo == 0):
        if undo and not is_restorable(rows, before, 0):
            return REFUSED
        return write_insert(at, rows, row, new, after)
    if undo and not is_identified(rows, new, after, 0, after):
        return REFUSED
    at = write_text(at, rows, Statements.DELETE)
    at = write_condition(at, rows, row, new, before, 0, before)
    return at if at < 0 else write_end(at, rows)


@kernel
def held_field(index: int, first: int, first_image: int, second: int, second_image: int) -> int:
    """Return the address of a column in the first image that has it, 0 if none has."""
    if is_present(first_image, index):
        return first + _FIELD * index
    if second and is_present(second_image, index):
        return second + _FIELD * index
    return 0


@kernel
def is_restorable(rows: int, before: int, after: int) -> bool:
    """Return whether the old row has all columns that can be set and that the new one has."""
    fields = get(rows, ChangedRows.NEW)
    for index in range(get(rows, ChangedRows.FIELD_COUNT)):
        is_set = get(fields + _FIELD * index, SqlField.SETTABLE) and is_present(after, index)
        if is_set and not is_present(before, index):
            return False
    return True


@kernel
def is_identified(rows: int, first: int, first_image: int, second: int, second_image: int) -> bool:
    """Return whether a row has its key, or all columns."""
    if has_key(rows, first, first_image, second, second_image):
        return True
    for index in range(get(rows, ChangedRows.FIELD_COUNT)):
        if held_field(index, first, first_image, second, second_image) == 0:
            return False
    return True


@kernel
def has_key(rows: int, first: int, first_image: int, second: int, second_image: int) -> bool:
    """Return whether a row has the columns of its key."""
    for part in range(get(rows, ChangedRows.KEY_COUNT)):
        index = load64(get(rows, ChangedRows.KEY) + 8 * part)
        if held_field(index, first, first_image, second, second_image) == 0:
            return False
    return get(rows, ChangedRows.KEY_COUNT) > 0


@kernel
def write_insert(at: int, rows: int, row: int, fields: int, image: int) -> int:
    """Write an INSERT of the columns that a row has."""
    if image == 0:
        at = write_text(at, rows, Statements.INSERT_ALL)
    else:
        at = write_text(at, rows, Statements.INSERT)
        is_first = True
        for index in range(get(rows, ChangedRows.FIELD_COUNT)):
            field = fields + _FIELD * index
            if get(field, SqlField.SETTABLE) and is_present(image, index):
                at = write_separator(at, is_first)
                at = write_text(at, field, SqlField.NAME)
                is_first = False
        store64(at, _VALUES[0])
        store16(at + 8, _VALUES[1])
        at += 10
    limit = get(rows, ChangedRows.LIMIT)
    is_first = True
    for index in range(get(rows, ChangedRows.FIELD_COUNT)):
        field = fields + _FIELD * index
        if get(field, SqlField.SETTABLE) and is_present(image, index):
            at = write_separator(at, is_first)
            at = write_value(at, limit, field, row)
            if at < 0:
                return at
            is_first = False
    store32(at, _CLOSE_END)
    return at + 3


@kernel
def write_update(
    at: int, rows: int, row: int, first: int, first_image: int, second: int, second_image: int, wanted: int, image: int
) -> int:
    """Write an UPDATE of what differs between the current row, in one or two images, and the wanted one."""
    start = at
    limit = get(rows, ChangedRows.LIMIT)
    at = write_text(at, rows, Statements.UPDATE)
    is_first, has_changed = True, False
    for index in range(get(rows, ChangedRows.FIELD_COUNT)):
        field = wanted + _FIELD * index
        is_set = False
        if get(field, SqlField.SETTABLE) and is_present(image, index):
            current = held_field(index, first, first_image, second, second_image)
            is_set = current == 0 or differs(current, field, row)
        if is_set:
            at = write_separator(at, is_first)
            at = write_text(at, field, SqlField.SETS)
            at = write_value(at, limit, field, row)
            if at < 0:
                return at
            is_first, has_changed = False, True
        elif get(field, SqlField.KEEPS_TIME):
            at = write_separator(at, is_first)
            at = write_text(at, field, SqlField.KEEPS)
            is_first = False
    if not has_changed:
        return start
    store64(at, _WHERE)
    at = write_condition(at + 7, rows, row, first, first_image, second, second_image)
    return at if at < 0 else write_end(at, rows)


@kernel
def write_end(at: int, rows: int) -> int:
    """Write the end of an UPDATE or DELETE, and what counts its rows."""
    store16(at, _END)
    return write_text(at + 2, rows, Statements.COUNTS)


@kernel
def write_condition(at: int, rows: int, row: int, first: int, first_image: int, second: int, second_image: int) -> int:
    """Write the condition for a row: by its key if it has one, else by all values, for one of equal rows."""
    limit = get(rows, ChangedRows.LIMIT)
    if has_key(rows, first, first_image, second, second_image):
        for part in range(get(rows, ChangedRows.KEY_COUNT)):
            index = load64(get(rows, ChangedRows.KEY) + 8 * part)
            field = held_field(index, first, first_image, second, second_image)
            at = write_part(at, limit, field, field, row, part == 0, SqlField.SETS)
            if at < 0:
                return at
        if get(rows, Statements.GUARDED):
            return write_guards(at, rows, row, first, first_image, second, second_image)
        return at
    count = get(rows, ChangedRows.FIELD_COUNT)
    is_first = True
    for index in range(count):
        field = held_field(index, first, first_image, second, second_image)
        if field and get(field, SqlField.SETTABLE):
            at = write_part(at, limit, field, field + _FIELD * count, row, is_first, SqlField.COMPARES)
            if at < 0:
                return at
            is_first = False
    store64(at, _LIMIT)
    return at + 8


@kernel
def write_guards(at: int, rows: int, row: int, first: int, first_image: int, second: int, second_image: int) -> int:
    """Write that the other columns of a row have the values that it was left with."""
    limit, count = get(rows, ChangedRows.LIMIT), get(rows, ChangedRows.FIELD_COUNT)
    for index in range(count):
        field = held_field(index, first, first_image, second, second_image)
        if field and get(field, SqlField.GUARDS) != _NEVER:
            start = at
            at = write_part(at, limit, field, field + _FIELD * count, row, False, SqlField.COMPARES)
            if at < 0:
                return at
            if get(field, SqlField.GUARDS) == _IF_EXACT and has_comment(start, at):
                at = start
    return at


@kernel
def has_comment(at: int, end: int) -> bool:
    """Return whether text has the beginning of the comment that says that a value becomes another."""
    while at + 8 <= end:
        if load64(at) == _COMMENT:
            return True
        at += 1
    return False


@kernel
def write_part(at: int, limit: int, field: int, compared: int, row: int, is_first: bool, words: int) -> int:
    """Write the condition for one column."""
    if not is_first:
        store64(at, _AND)
        at += 5
    if not has_value(field, row):
        return write_text(at, field, SqlField.IS_NULL)
    at = write_text(at, field, words)
    return call_writer(get(compared, SqlField.WRITER), compared, row, at, limit)


@kernel
def write_value(at: int, limit: int, field: int, row: int) -> int:
    """Write the literal of a value."""
    if has_value(field, row):
        return call_writer(get(field, SqlField.WRITER), field, row, at, limit)
    store32(at, _NULL)
    return at + 4


@kernel
def write_separator(at: int, is_first: bool) -> int:
    """Write a comma, unless nothing is before it."""
    if is_first:
        return at
    store16(at, _SEPARATOR)
    return at + 2


@kernel
def write_text(at: int, numbers: int, text: int) -> int:
    """Write one of the texts that numbers point to."""
    length: int = get(numbers, text + 1)
    copy_short(at, get(numbers, text), length)
    return at + length


@kernel
def differs(left: int, right: int, row: int) -> bool:
    """Return whether two values of a column differ. Those of fixed size are compared by their bits."""
    has_left, has_right = has_value(left, row), has_value(right, row)
    if not has_left or not has_right:
        return has_left != has_right
    size = get(left, SqlField.SIZE)
    if size:
        first, second = get(left, SqlField.VALUES) + size * row, get(right, SqlField.VALUES) + size * row
        if size == 8:
            return load64(first) != load64(second)
        if size == 4:
            return load32(first) != load32(second)
        if size == 1:
            return load8(first) != load8(second)
        if size == 2:
            return load16(first) != load16(second)
        return load64(first) != load64(second) or load64(first + 8) != load64(second + 8)
    first, second = get(left, SqlField.OFFSETS) + 4 * row, get(right, SqlField.OFFSETS) + 4 * row
    start, length = load32(first), load32(first + 4) - load32(first)
    if length != load32(second + 4) - load32(second):
        return True
    return not equal_bytes(get(left, SqlField.DATA) + start, get(right, SqlField.DATA) + load32(second), length)
