"""The column SEQ: the positions of rows as text of 32 hexadecimal digits, whose order is that of the rows."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load32, load64, store64

LENGTH = 32
"""The letters of a value: 4 digits for the epoch, 8 for the number of the log, 12 for the position, 8 for the row."""

_BYTES = 0x0101010101010101


@kernel
def write_sequences(target: int, count: int, epoch: int, log: int, positions: int, rows: int) -> None:
    """Write the values of rows; `positions` is the address of int64, `rows` of int32."""
    first = hex_digits(epoch << 16 | log >> 16)
    low_log = (log & 0xFFFF) << 16
    last = -1
    second = third = 0
    for index in range(count):
        position = load64(positions + 8 * index)
        if position != last:  # the rows of an event have one position
            second = hex_digits(low_log | (position >> 32 & 0xFFFF))
            third = hex_digits(position & 0xFFFFFFFF)
            last = position
        store64(target, first)
        store64(target + 8, second)
        store64(target + 16, third)
        store64(target + 24, hex_digits(load32(rows + 4 * index)))
        target += LENGTH


@kernel
def hex_digits(number: int) -> int:
    """Return the eight hexadecimal digits of 32 bits as bytes, the first digit in the lowest byte."""
    # The order of the digits is reversed, then each is spread to a byte of its own.
    number = number >> 16 | (number & 0xFFFF) << 16
    number = number >> 8 & 0x00FF00FF | (number & 0x00FF00FF) << 8
    number = number >> 4 & 0x0F0F0F0F | (number & 0x0F0F0F0F) << 4
    number = (number | number << 16) & 0x0000FFFF0000FFFF
    number = (number | number << 8) & 0x00FF00FF00FF00FF
    number = (number | number << 4) & 0x0F0F0F0F0F0F0F0F
    letters = (number + 6 * _BYTES) >> 4 & _BYTES
    return number + 0x30 * _BYTES + (0x61 - 0x30 - 10) * letters
