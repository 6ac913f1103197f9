"""What processors do with 64-bit words and Numba has no name for. Words are int64, whatever their bits mean.

Numba lets the compiler assume that sums and products of int64 do not overflow. Those of this module may.
"""

from __future__ import annotations

from typing import Any

from binspark.kernels.compiler import intrinsic, ir, types


class _Word(int):
    """A number that Numba does not take for a literal, because it is not an `int` itself."""

    def __add__(self, other: int) -> _Word:
        return _Word(int(self) + other)


ZERO: Any = _Word(0)
"""Zero that is not a literal: Numba compiles a function once more for every literal that it is called with."""


@intrinsic
def high_product(_typing: Any, _left: Any, _right: Any) -> Any:
    """Return the upper 64 bits of the product of two unsigned words."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        double = ir.IntType(128)
        left, right = (builder.zext(argument, double) for argument in arguments)
        return builder.trunc(builder.lshr(builder.mul(left, right), ir.Constant(double, 64)), ir.IntType(64))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def low_product(_typing: Any, _left: Any, _right: Any) -> Any:
    """Return the lower 64 bits of the product of two words."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.mul(*arguments)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def difference(_typing: Any, _left: Any, _right: Any) -> Any:
    """Return one word less another, modulo 2**64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.sub(*arguments)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def quotient(_typing: Any, _left: Any, _right: Any) -> Any:
    """Divide unsigned words; the divisor is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.udiv(*arguments)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def shift_right(_typing: Any, _word: Any, _count: Any) -> Any:
    """Shift an unsigned word, by less than 64 bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.lshr(*arguments)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def trailing_zeros(_typing: Any, _word: Any) -> Any:
    """Count the zero bits below the lowest one of a word that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def leading_zeros(_typing: Any, _word: Any) -> Any:
    """Count the zero bits above the highest one of a word that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic
def bits_of(_typing: Any, _double: Any) -> Any:
    """Return the bits of a double as a word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def double_of(_typing: Any, _word: Any) -> Any:
    """Return the double that a word is the bits of."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def stack_words(_typing: Any, count: Any) -> Any:
    """Return the address of a literal number of words, undefined ones, that live as long as the calling function."""
    if not isinstance(count, types.IntegerLiteral):
        return None

    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        with builder.goto_entry_block():
            words = builder.alloca(ir.ArrayType(ir.IntType(64), count.literal_value))
        return builder.ptrtoint(words, ir.IntType(64))

    return types.int64(count), generate
