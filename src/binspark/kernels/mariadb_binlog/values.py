"""The values of rows as MariaDB's tool prints them, the counterpart of `binspark.dump.mariadb.values`."""

from __future__ import annotations

from typing import Any

from binspark.kernels.compiler import intrinsic, ir, kernel, types
from binspark.kernels.decimals import store_decimal
from binspark.kernels.mariadb_binlog.layout import Column, Dump, Kind, Status, Table, Word
from binspark.kernels.memory import (
    get,
    load8,
    load16,
    load32,
    load32s,
    load64,
    load_big_endian,
    store8,
    store16,
    store64,
)
from binspark.kernels.printing.digits import write_pair, write_signed, write_unsigned
from binspark.kernels.printing.numbers import write_decimal_digits
from binspark.kernels.printing.packed_times import write_packed_clock, write_packed_fraction
from binspark.kernels.rows import count_present
from binspark.kernels.text import copy_short
from binspark.kernels.words import difference, stack_words

_NO_ROOM, _PYTHON = -int(Status.NO_ROOM), -int(Status.PYTHON)
_SIGNED, _UNSIGNED, _DECIMAL, _FLOAT, _DOUBLE, _BITS = (int(kind) for kind in list(Kind)[:6])
_TIMESTAMP, _DATETIME, _TIME, _DATE, _TEXT = (int(kind) for kind in list(Kind)[6:])
_ROOM = 512
_QUOTE, _BACKSLASH, _X, _MINUS, _COLON, _POINT, _SPACE, _ZERO, _ONE, _B = (ord(c) for c in "'\\x-:. 01b")
_OPEN, _CLOSE = int.from_bytes(b" (", "little"), ord(")")
_CONTROLS = 0x2020_2020_2020_2020
_TOPS = -0x7F7F_7F7F_7F7F_7F80
_COLUMN = 8 * int(Column.WIDTH)
_DATETIME_BIAS, _TIME_BIAS = 1 << 39, 1 << 23
_PRINTED = 400


@intrinsic
def print_double(_typing: Any, _function: Any, _target: Any, _capacity: Any, _format: Any, _bits: Any) -> Any:
    """Call C's snprintf by its address with one double; return the length of the text."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(64)
        kind = ir.FunctionType(ir.IntType(32), [byte, word, byte], var_arg=True)
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        target, layout = builder.inttoptr(arguments[1], byte), builder.inttoptr(arguments[3], byte)
        number = builder.bitcast(arguments[4], ir.DoubleType())
        return builder.zext(builder.call(function, [target, arguments[2], layout, number]), word)

    return types.int64(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def widened_bits(_typing: Any, _bits: Any) -> Any:
    """Return the bits of a float of four bytes as those of a double."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        single = builder.bitcast(builder.trunc(arguments[0], ir.IntType(32)), ir.FloatType())
        return builder.bitcast(builder.fpext(single, ir.DoubleType()), ir.IntType(64))

    return types.int64(types.int64), generate


@kernel
def write_rows(dump: int, table: int, operation: int, masks: int, rows: int, end: int) -> int:
    """Write the rows of an event at the end of the tail; return how many, or a negative status.

    `masks` is the address of the bitmaps of columns. The tail is as it was unless all rows were written.
    """
    columns, count = get(table, Table.COLUMNS), get(table, Table.COUNT)
    verb, verb_length = get(table, Table.VERBS + 2 * operation), get(table, Table.VERBS + 2 * operation + 1)
    at, limit = get(dump, Dump.TAIL_AT), get(dump, Dump.TAIL_LIMIT)
    second = masks + ((count + 7) >> 3)
    written = 0
    while rows < end:
        if at + verb_length + _ROOM > limit:
            return _NO_ROOM
        copy_short(at, verb, verb_length)
        start = rows
        rows, at = write_image(dump, columns, count, masks, at + verb_length, rows, end)
        if rows >= 0 and operation == 1:
            at = write_set(dump, at)
            rows, at = write_image(dump, columns, count, second, at, rows, end)
        if rows < 0:
            return rows
        if rows == start:
            return _PYTHON
        written += 1
    from_kernel_put_tail(dump, at)
    return written


@kernel
def write_set(dump: int, at: int) -> int:
    """Write what comes before the new image of an update."""
    words = get(dump, Dump.WORDS) + 16 * Word.SET
    copy_short(at, get(words, 0), get(words, 1))
    return at + get(words, 1)


@kernel
def from_kernel_put_tail(dump: int, at: int) -> None:
    """Set the end of the tail."""
    store64(dump + 8 * Dump.TAIL_AT, at)


@kernel
def write_image(dump: int, columns: int, count: int, present: int, at: int, row: int, end: int) -> tuple[int, int]:
    """Write the values of a row image; return the address after it, or a negative status, and where to write next."""
    limit = get(dump, Dump.TAIL_LIMIT)
    nulls, in_image = row, count_present(present, count)
    row += (in_image + 7) >> 3
    if row > end:
        return _PYTHON, at
    position = 0
    for index in range(count):
        if in_image != count and not load8(present + (index >> 3)) >> (index & 7) & 1:
            continue
        column = columns + _COLUMN * index
        if at + _ROOM > limit:
            return _NO_ROOM, at
        is_null = load8(nulls + (position >> 3)) >> (position & 7) & 1
        position += 1
        if is_null:
            copy_short(at, get(column, Column.NULL_TEXT), get(column, Column.NULL_LENGTH))
            at += get(column, Column.NULL_LENGTH)
            continue
        copy_short(at, get(column, Column.TEXT), get(column, Column.TEXT_LENGTH))
        row, at = write_value(dump, column, at + get(column, Column.TEXT_LENGTH), row, end, limit)
        if row < 0:
            return row, at
        copy_short(at, get(column, Column.END), get(column, Column.END_LENGTH))
        at += get(column, Column.END_LENGTH)
    return row, at


@kernel
def write_value(dump: int, column: int, at: int, row: int, end: int, limit: int) -> tuple[int, int]:
    """Write a value; return the address after it in the row, or a negative status, and where to write next."""
    kind, first = get(column, Column.KIND), get(column, Column.FIRST)
    if kind == _TEXT:
        return write_text(at, row, end, limit, first)
    if kind == _SIGNED:
        return row + first if row + first <= end else _PYTHON, write_integer(at, row, first)
    if kind == _UNSIGNED:
        number = load8(row) if first == 1 else load16(row)
        return row + first if row + first <= end else _PYTHON, write_unsigned(at, number + get(column, Column.SECOND))
    if kind == _DECIMAL:
        return write_decimal(at, row, end, first, get(column, Column.SECOND))
    if kind >= _TIMESTAMP:
        return write_temporal(at, row, end, kind, first)
    if kind == _BITS:
        return write_bits(at, row, end, first)
    return write_number(dump, at, row, end, kind)


@kernel
def write_integer(at: int, row: int, length: int) -> int:
    """Write a signed integer, and what it is as an unsigned one if it is negative."""
    if length == 4:
        number = load32s(row)
    elif length == 8:
        number = load64(row)
    elif length == 1:
        number = (load8(row) ^ 0x80) - 0x80
    elif length == 2:
        number = (load16(row) ^ 0x8000) - 0x8000
    else:
        number = ((load16(row) | load8(row + 2) << 16) ^ 0x80_0000) - 0x80_0000
    at = write_signed(at, number)
    if number >= 0:
        return at
    store16(at, _OPEN)
    unsigned = number if length == 8 else number + (1 << 8 * length)
    at = write_unsigned(at + 2, unsigned)
    store8(at, _CLOSE)
    return at + 1


@kernel
def write_number(dump: int, at: int, row: int, end: int, kind: int) -> tuple[int, int]:
    """Write FLOAT or DOUBLE as C prints it."""
    length = 4 if kind == _FLOAT else 8
    if row + length > end:
        return _PYTHON, at
    words = get(dump, Dump.WORDS) + 16 * (Word.FLOAT if kind == _FLOAT else Word.DOUBLE)
    bits = widened_bits(load32(row)) if kind == _FLOAT else load64(row)
    return row + length, at + print_double(get(dump, Dump.PRINTF), at, _PRINTED, get(words, 0), bits)


@kernel
def write_decimal(at: int, row: int, end: int, whole: int, fraction: int) -> tuple[int, int]:
    """Write DECIMAL of at most 38 digits."""
    length = (whole // 9 + fraction // 9) * 4 + (whole % 9 + 1) // 2 + (fraction % 9 + 1) // 2
    if row + length > end:
        return _PYTHON, at
    words = stack_words(2)
    if not store_decimal(words, row, whole, fraction):
        return _PYTHON, at
    low, high = get(words, 0), get(words, 1)
    if not load8(row) & 0x80 and low == 0 and high == 0:
        return _PYTHON, at
    return row + length, write_decimal_digits(at, low, high, fraction)


@kernel
def write_bits(at: int, row: int, end: int, count: int) -> tuple[int, int]:
    """Write BIT or SET as b'...'."""
    length = (count + 7) >> 3
    if row + length > end:
        return _PYTHON, at
    store8(at, _B)
    store8(at + 1, _QUOTE)
    at += 2
    for bit in range(8 * length - count, 8 * length):
        store8(at, _ONE if load8(row + (bit >> 3)) >> (7 - (bit & 7)) & 1 else _ZERO)
        at += 1
    store8(at, _QUOTE)
    return row + length, at + 1


@kernel
def write_temporal(at: int, row: int, end: int, kind: int, digits: int) -> tuple[int, int]:
    """Write DATE, TIME, DATETIME or TIMESTAMP."""
    fraction_bytes = (digits + 1) >> 1
    head = 4 if kind == _TIMESTAMP else (5 if kind == _DATETIME else 3)
    length = head + fraction_bytes
    if row + length > end:
        return _PYTHON, at
    fraction = load_big_endian(row + head, fraction_bytes) if fraction_bytes else 0
    if kind == _TIMESTAMP:
        at = write_unsigned(at, load_big_endian(row, 4))
        return row + length, write_packed_fraction(at, fraction, digits)
    store8(at, _QUOTE)
    at += 1
    if kind == _DATE:
        packed = load16(row) | load8(row + 2) << 16
        at = write_day(at, packed >> 9, packed >> 5 & 15, packed & 31, _COLON)
    elif kind == _DATETIME:
        packed = abs(load_big_endian(row, 5) - _DATETIME_BIAS)
        month = packed >> 22
        at = write_day(at, month // 13, month % 13, packed >> 17 & 31, _MINUS)
        store8(at, _SPACE)
        at = write_packed_fraction(write_packed_clock(at + 1, packed >> 12 & 31, packed), fraction, digits)
    else:
        bits = 8 * fraction_bytes
        number = load_big_endian(row, length) - (_TIME_BIAS << bits)
        if number < 0:
            store8(at, _MINUS)
            at += 1
            number = -number
        packed = number >> bits
        at = write_packed_fraction(
            write_packed_clock(at, packed >> 12 & 1023, packed), number & ((1 << bits) - 1), digits
        )
    store8(at, _QUOTE)
    return row + length, at + 1


@kernel
def write_day(at: int, year: int, month: int, day: int, separator: int) -> int:
    """Write a date."""
    at = write_unsigned(at, year) if year > 9999 else write_pair(write_pair(at, year // 100), year % 100)
    store8(at, separator)
    at = write_pair(at + 1, month)
    store8(at, separator)
    return write_pair(at + 1, day)


@kernel
def write_text(at: int, row: int, end: int, limit: int, length_bytes: int) -> tuple[int, int]:
    """Write text in quotes, control characters as hexadecimal digits."""
    if row + length_bytes > end:
        return _PYTHON, at
    length = load8(row)
    for index in range(1, length_bytes):
        length |= load8(row + index) << 8 * index
    row += length_bytes
    if length > end - row:
        return _PYTHON, at
    if at + 4 * length + _ROOM > limit:
        return _NO_ROOM, at
    store8(at, _QUOTE)
    at += 1
    stop = row + length
    while stop - row >= 8:
        word = load64(row)
        if difference(word, _CONTROLS) & ~word & _TOPS:
            for _ in range(8):
                at = write_character(at, load8(row))
                row += 1
            continue
        store64(at, word)
        at += 8
        row += 8
    while row < stop:
        at = write_character(at, load8(row))
        row += 1
    store8(at, _QUOTE)
    return stop, at + 1


@kernel
def write_character(at: int, character: int) -> int:
    """Write a character of a text."""
    if character > 0x1F:
        store8(at, character)
        return at + 1
    store8(at, _BACKSLASH)
    store8(at + 1, _X)
    store8(at + 2, _ZERO + (character >> 4))
    low = character & 15
    store8(at + 3, _ZERO + low if low < 10 else ord("a") - 10 + low)
    return at + 4
