"""Loads and stores at addresses, for kernels. Nothing here checks bounds: callers do.

Numba turns a mixture of signed and unsigned 64-bit integers into floats, so kernels count and address in int64;
narrower loads are widened with zeros, and a load of 64 bits is the bit pattern as int64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from binspark.kernels.compiler import intrinsic, ir, kernel, types
from binspark.lazy import LazyModule

cgutils: Any = LazyModule("numba.core.cgutils")


def _loader(bits: int, *, signed: bool = False) -> Any:
    @intrinsic
    def load(_typing: Any, _address: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            integer = ir.IntType(bits)
            pointer = builder.inttoptr(arguments[0], integer.as_pointer())
            value = builder.load(pointer)
            value.align = 1
            if bits == 64:
                return value
            return builder.sext(value, ir.IntType(64)) if signed else builder.zext(value, ir.IntType(64))

        return types.int64(types.int64), generate

    return load


def _storer(bits: int) -> Any:
    @intrinsic
    def store(_typing: Any, _address: Any, _value: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            integer = ir.IntType(bits)
            pointer = builder.inttoptr(arguments[0], integer.as_pointer())
            value = arguments[1] if bits == 64 else builder.trunc(arguments[1], integer)
            builder.store(value, pointer, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return store


def byte_table(content: bytes) -> Any:
    """Return what looks a byte up in constants, by its index, which must be in range."""
    return _table(content, 8)


def word_table(numbers: Sequence[int]) -> Any:
    """Return what looks a number of 32 bits up in constants, by its index, which must be in range."""
    return _table(numbers, 32)


def long_table(numbers: Sequence[int]) -> Any:
    """Return what looks a number of 64 bits up in constants, by its index, which must be in range."""
    return _table(numbers, 64)


def _table(numbers: Sequence[int], bits: int) -> Any:
    @intrinsic
    def look_up(_typing: Any, _index: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            integer = ir.IntType(bits)
            constant = ir.Constant(ir.ArrayType(integer, len(numbers)), [integer(number) for number in numbers])
            table = cgutils.global_constant(builder, "binspark.table", constant)
            value = builder.load(builder.gep(table, [ir.IntType(64)(0), arguments[0]]))
            return builder.zext(value, ir.IntType(64))

        return types.int64(types.int64), generate

    return look_up


load8 = _loader(8)
load16 = _loader(16)
load32 = _loader(32)
load64 = _loader(64)
load8s = _loader(8, signed=True)
load16s = _loader(16, signed=True)
load32s = _loader(32, signed=True)
store8 = _storer(8)
store16 = _storer(16)
store32 = _storer(32)
store64 = _storer(64)


@intrinsic
def load_big_endian(_typing: Any, _address: Any, _length: Any) -> Any:
    """Load a big-endian integer of 1 to 8 bytes. Eight bytes are read, so memory after the integer must be readable."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        value = builder.load(pointer)
        value.align = 1
        word = ir.IntType(64)
        unused = builder.sub(ir.Constant(word, 64), builder.shl(arguments[1], ir.Constant(word, 3)))
        return builder.lshr(builder.bswap(value), unused)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def copy_bytes(_typing: Any, _target: Any, _source: Any, _length: Any) -> Any:
    """Copy bytes that do not overlap."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        target = builder.inttoptr(arguments[0], byte)
        source = builder.inttoptr(arguments[1], byte)
        cgutils.raw_memcpy(builder, target, source, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def move_bytes(_typing: Any, _target: Any, _source: Any, _length: Any) -> Any:
    """Copy bytes that may overlap."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        target = builder.inttoptr(arguments[0], byte)
        source = builder.inttoptr(arguments[1], byte)
        cgutils.raw_memmove(builder, target, source, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def call_writer(_typing: Any, _function: Any, _target: Any, _capacity: Any, _source: Any, _length: Any) -> Any:
    """Call a function by its address. It writes what is at `source` in another form, and returns the length of that.

    It has Numba's calling convention: the result and an error are written where its first arguments say.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
        with builder.goto_entry_block():
            result, error = builder.alloca(word), builder.alloca(byte)
        kind = ir.FunctionType(ir.IntType(32), [result.type, error.type] + [word] * 4)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [result, error, *arguments[1:]])
        return builder.load(result)

    return types.int64(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def get(_typing: Any, _numbers: Any, _field: Any) -> Any:
    """Return one of the numbers at an address. A view of a row of an array would cost reference counts."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address = builder.add(arguments[0], builder.shl(arguments[1], ir.Constant(ir.IntType(64), 3)))
        return builder.load(builder.inttoptr(address, ir.IntType(64).as_pointer()))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def put(_typing: Any, _numbers: Any, _field: Any, _value: Any) -> Any:
    """Set one of the numbers at an address."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address = builder.add(arguments[0], builder.shl(arguments[1], ir.Constant(ir.IntType(64), 3)))
        builder.store(arguments[2], builder.inttoptr(address, ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@kernel
def load_packed(at: int, end: int) -> tuple[int, int]:
    """Read a packed integer; return it, and the address after it: -1 if it is cut off, invalid, or above 2**63 - 1."""
    if at >= end:
        return -1, at
    first = load8(at)
    if first < 251:
        return first, at + 1
    if first == 252 and end - at >= 3:
        return load16(at + 1), at + 3
    if first == 253 and end - at >= 4:
        return load16(at + 1) | load8(at + 3) << 16, at + 4
    if first == 254 and end - at >= 9 and load64(at + 1) >= 0:
        return load64(at + 1), at + 9
    return -1, at


@kernel
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


@kernel
def unsigned_width(value: int) -> int:
    """Return how many bytes a number takes, one to four."""
    if value <= 0xFF:
        return 1
    if value <= 0xFFFF:
        return 2
    return 3 if value <= 0xFF_FFFF else 4
