"""Lines of several tables in the order of the log, with a heading before the rows of each transaction and statement."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import NO_THREAD
from binspark.kernels.memory import copy_bytes, get, load64, put, store8
from binspark.kernels.printing.digits import write_unsigned
from binspark.kernels.text import equal_bytes

_NEWLINE = ord("\n")


class Order(IntEnum):
    """Numbers that describe lines, in an array of int64. Arrays have an int64 for each line."""

    COUNT = 0
    ORDER = 1  # address of the numbers of the lines in the order of the log, 0 if they are in order
    STARTS = 2  # address of the addresses of the lines
    LENGTHS = 3
    GTIDS = 4  # address of the addresses of their identifiers
    GTID_LENGTHS = 5
    SERVERS = 6
    THREADS = 7
    STATEMENTS = 8  # address of the addresses of their statements
    STATEMENT_LENGTHS = 9
    TARGET = 10
    HEADING = 11  # address of the last heading; there is room for another one after it
    HEADING_LENGTH = 12
    HEADING_CAPACITY = 13
    WORDS = 14  # address and length of each word
    WIDTH = 15


class HeadingWord(IntEnum):
    """The text between the values of a heading."""

    GTID = 0
    ANONYMOUS = 1
    SERVER = 2
    THREAD = 3
    STATEMENT = 4


@kernel
def copy_in_order(order: int) -> int:
    """Copy lines one after the other, in the order of the log; return the address after the last one."""
    target = get(order, Order.TARGET)
    numbers = get(order, Order.ORDER)
    for index in range(get(order, Order.COUNT)):
        line = load64(numbers + 8 * index) if numbers else index
        length = load64(get(order, Order.LENGTHS) + 8 * line)
        copy_bytes(target, load64(get(order, Order.STARTS) + 8 * line), length)
        target += length
    return target


@kernel
def copy_with_headings(order: int) -> int:
    """Copy lines one after the other, with a heading where it differs from the last one; return the address after."""
    target = get(order, Order.TARGET)
    numbers = get(order, Order.ORDER)
    before = -1
    for index in range(get(order, Order.COUNT)):
        line = load64(numbers + 8 * index) if numbers else index
        if before < 0 or not has_same_origin(order, before, line):
            target = write_heading(order, line, target)
        before = line
        length = load64(get(order, Order.LENGTHS) + 8 * line)
        copy_bytes(target, load64(get(order, Order.STARTS) + 8 * line), length)
        target += length
    return target


@kernel
def has_same_origin(order: int, left: int, right: int) -> bool:
    """Return whether two lines refer to the same transaction and statement; equal texts may be at two addresses."""
    return (
        has_same_number(get(order, Order.GTIDS), left, right)
        and has_same_number(get(order, Order.STATEMENTS), left, right)
        and has_same_number(get(order, Order.SERVERS), left, right)
        and has_same_number(get(order, Order.THREADS), left, right)
    )


@kernel
def has_same_number(array: int, left: int, right: int) -> bool:
    """Return whether two numbers of an array are the same."""
    return load64(array + 8 * left) == load64(array + 8 * right)


@kernel
def write_heading(order: int, line: int, target: int) -> int:
    """Write the heading of a line, unless it is the same as the last one; return the address after it."""
    last, last_length = get(order, Order.HEADING), get(order, Order.HEADING_LENGTH)
    start = last + get(order, Order.HEADING_CAPACITY)
    length = load64(get(order, Order.GTID_LENGTHS) + 8 * line)
    at = write_heading_word(start, order, HeadingWord.GTID)
    if length == 0:
        at = write_heading_word(at, order, HeadingWord.ANONYMOUS)
    else:
        copy_bytes(at, load64(get(order, Order.GTIDS) + 8 * line), length)
        at += length
    at = write_heading_word(at, order, HeadingWord.SERVER)
    at = write_unsigned(at, load64(get(order, Order.SERVERS) + 8 * line))
    thread = load64(get(order, Order.THREADS) + 8 * line)
    if thread != NO_THREAD:
        at = write_heading_word(at, order, HeadingWord.THREAD)
        at = write_unsigned(at, thread)
    length = load64(get(order, Order.STATEMENT_LENGTHS) + 8 * line)
    if length:
        at = write_heading_word(at, order, HeadingWord.STATEMENT)
        copy_bytes(at, load64(get(order, Order.STATEMENTS) + 8 * line), length)
        at += length
    store8(at, _NEWLINE)
    length = at + 1 - start
    if length == last_length and equal_bytes(start, last, length):
        return target
    copy_bytes(last, start, length)
    put(order, Order.HEADING_LENGTH, length)
    copy_bytes(target, start, length)
    return target + length


@kernel
def write_heading_word(at: int, order: int, word: int) -> int:
    """Write the text between two values."""
    entry = get(order, Order.WORDS) + 16 * word
    length: int = load64(entry + 8)
    copy_bytes(at, load64(entry), length)
    return at + length
