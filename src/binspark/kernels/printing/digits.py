"""Numbers as decimal digits, eight at a time. Writers return the address after what they wrote.

They may overwrite up to eight bytes more than that; callers leave room for it.
"""

from __future__ import annotations

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.memory import long_table, store8, store16, store32, store64, word_table
from binspark.kernels.words import difference, leading_zeros, quotient, shift_right

ZEROS = int.from_bytes(b"00000000", "little")
_HUNDRED_MILLION = 100_000_000
_MINUS, _ZERO = ord("-"), ord("0")


def _count_by_highest_bit(bit: int) -> int:
    """Return what makes the upper half of a sum the number of digits of a number with this highest bit."""
    smallest, largest = len(str(2**bit)), len(str(2 ** (bit + 1) - 1))
    return (largest << 32) - (10**smallest if largest > smallest else 0)


_count = long_table([_count_by_highest_bit(bit) for bit in range(27)])
_pair = word_table([int.from_bytes(b"%02d" % number, "little") for number in range(100)])


@inlined
def eight_digits(value: int) -> int:
    """Return the digits of a number below 10**8, one in a byte, the first in the lowest.

    Halves of four digits are split into pairs, and those into digits, in lanes of one word. Multiplying by
    10486 / 2**20 and 103 / 2**10 divides by 100 and 10.
    """
    halves = value // 10_000 | value % 10_000 << 32
    hundreds = (halves * 10_486 >> 20) & 0x7F_0000_007F
    pairs = (halves - 100 * hundreds) << 16 | hundreds
    tens = (pairs * 103 >> 10) & 0x000F_000F_000F_000F
    return (pairs - 10 * tens) << 8 | tens


@inlined
def digit_count(value: int) -> int:
    """Return how many digits a number below 10**8 has.

    Numbers with the same highest bit differ in that only if a power of ten is among them: adding 2**32 - 10**n carries
    into the upper half from there on. The count is known before the digits are, so that what follows need not wait.
    """
    return (value + _count(63 - leading_zeros(value | 1))) >> 32


@inlined
def write_leading(at: int, value: int) -> int:
    """Write a number below 10**8."""
    count = digit_count(value)
    if value < 10_000:
        hundreds = value // 100
        digits = _pair(hundreds) | _pair(value - 100 * hundreds) << 16
        store32(at, shift_right(digits, 32 - 8 * count))
        return at + count
    store64(at, shift_right(eight_digits(value) + ZEROS, 64 - 8 * count))
    return at + count


@kernel
def write_unsigned(at: int, value: int) -> int:
    """Write an unsigned word."""
    if 0 <= value < _HUNDRED_MILLION:
        return write_leading(at, value)
    high = quotient(value, _HUNDRED_MILLION)
    low = value - high * _HUNDRED_MILLION
    if high < _HUNDRED_MILLION:
        at = write_leading(at, high)
    else:
        at = write_leading(at, high // _HUNDRED_MILLION)
        store64(at, eight_digits(high % _HUNDRED_MILLION) + ZEROS)
        at += 8
    store64(at, eight_digits(low) + ZEROS)
    return at + 8


@kernel
def write_signed(at: int, value: int) -> int:
    """Write a signed word."""
    if value < 0:
        store8(at, _MINUS)
        return write_unsigned(at + 1, difference(0, value))
    return write_unsigned(at, value)


@kernel
def write_pair(at: int, value: int) -> int:
    """Write a number below 100 as two digits."""
    store16(at, _pair(value))
    return at + 2


@kernel
def write_padded(at: int, value: int, count: int) -> int:
    """Write a number as exactly `count` digits, nine at most."""
    if count == 9:
        store8(at, _ZERO + value // _HUNDRED_MILLION)
        at += 1
        value %= _HUNDRED_MILLION
        count = 8
    store64(at, shift_right(eight_digits(value) + ZEROS, 8 * (8 - count) & 63))
    return at + count
