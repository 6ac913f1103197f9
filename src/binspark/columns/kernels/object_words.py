"""What writers of objects do with memory and words, besides what `memory` and `words` offer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.core import cgutils

from binspark.columns.kernels.json_strings import few_bytes
from binspark.columns.kernels.memory import intrinsic, load64, store8, store16, store32

_I64 = ir.IntType(64)

ZERO: Any = np.int64(0)
"""Zero that is no literal: Numba compiles a function once more for every literal that it is called with."""


@intrinsic
def move_bytes(_typing: Any, _target: Any, _source: Any, _length: Any) -> Any:
    """Copy bytes between places that may overlap."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        target = builder.inttoptr(arguments[0], byte)
        source = builder.inttoptr(arguments[1], byte)
        cgutils.raw_memmove(builder, target, source, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def get(_typing: Any, _numbers: Any, _field: Any) -> Any:
    """Return one of the numbers that stand at an address, as `memory.get` does; this costs no compilation."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address = builder.add(arguments[0], builder.shl(arguments[1], ir.Constant(_I64, 3)))
        return builder.load(builder.inttoptr(address, _I64.as_pointer()))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def put(_typing: Any, _numbers: Any, _field: Any, _value: Any) -> Any:
    """Set one of the numbers that stand at an address."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address = builder.add(arguments[0], builder.shl(arguments[1], ir.Constant(_I64, 3)))
        builder.store(arguments[2], builder.inttoptr(address, _I64.as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def bits_of(_typing: Any, _double: Any) -> Any:
    """Return the bits of a double as a word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _I64)

    return types.int64(types.float64), generate


@intrinsic
def leading_zeros(_typing: Any, _word: Any) -> Any:
    """Count the zero bits above the highest one of a word that is not 0."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@cache
def compiled(writer: Callable[[int, int, int, int], int]) -> Any:
    """Return a writer as a C function, which has an address.

    Kernels call it there. So it is compiled only when somebody needs it, and once, not into each of them.
    """
    return cfunc(types.int64(types.int64, types.int64, types.int64, types.int64), cache=True)(writer)


@njit(cache=True, nogil=True)
def equal_bytes(left: int, right: int, length: int) -> bool:
    """Tell whether bytes at two places are the same."""
    at = 0
    while length - at >= 8:
        if load64(left + at) != load64(right + at):
            return False
        at += 8
    return at == length or few_bytes(left + at, length - at) == few_bytes(right + at, length - at)


@njit(cache=True, nogil=True)
def store_unsigned(at: int, value: int, width: int) -> None:
    """Store a number in one to four bytes."""
    if width == 1:
        store8(at, value)
    elif width == 2:
        store16(at, value)
    elif width == 3:
        store16(at, value)
        store8(at + 2, value >> 16)
    else:
        store32(at, value)


@njit(cache=True, nogil=True)
def unsigned_width(value: int) -> int:
    """Return how many bytes a number takes, one to four."""
    if value <= 0xFF:
        return 1
    if value <= 0xFFFF:
        return 2
    return 3 if value <= 0xFF_FFFF else 4
