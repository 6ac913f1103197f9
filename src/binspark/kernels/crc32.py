"""CRC32 of an event: by carry-less multiplication where the processor has it, by zlib elsewhere.

Sixty-four bytes are folded at a time: multiplying a 128-bit remainder by x^512 modulo the polynomial moves it by 64
bytes, where it is added to the bytes there. What remains in the end is reduced to 32 bits after Barrett. The
constants are powers of x modulo the polynomial 0x04c11db7, bit-reversed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from binspark.errors import Unsupported
from binspark.kernels.compiler import Choice, intrinsic, ir, kernel, types
from binspark.kernels.memory import load8, word_table

_FOLD_64 = (0x0154442BD4, 0x01C6E41596)
_FOLD_16 = (0x01751997D0, 0x00CCAA009E)
_FOLD_8 = (0x0163CD6124, 0)
_POLYNOMIAL = (0x01DB710641, 0x01F7011641)
_LOW_WORDS = (0xFFFFFFFF, 0xFFFFFFFF)
_BLOCK = 16
_LONG = 64
_RESIDUE = 0x2144DF1C  # the CRC32 of any bytes that are followed by their CRC32


def _remainder_of(byte: int) -> int:
    remainder = byte
    for _ in range(8):
        remainder = remainder >> 1 ^ (0xEDB88320 if remainder & 1 else 0)
    return remainder


_remainder = word_table([_remainder_of(byte) for byte in range(256)])


def _word(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _pair() -> Any:
    """Return the type of what is multiplied: two words."""
    return ir.VectorType(ir.IntType(64), 2)


class _Folding:
    """Writes the folding loop as LLVM's instructions."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        module = builder.module
        kind = ir.FunctionType(_pair(), [_pair(), _pair(), ir.IntType(8)])
        name = "llvm.x86.pclmulqdq"
        self.multiply = module.globals.get(name) or ir.Function(module, kind, name)

    def constant(self, pair: tuple[int, int]) -> Any:
        return ir.Constant(_pair(), [_word(pair[0]), _word(pair[1])])

    def load(self, address: Any, offset: int = 0) -> Any:
        moved = self.builder.add(address, _word(offset))
        value = self.builder.load(self.builder.inttoptr(moved, _pair().as_pointer()))
        value.align = 1
        return value

    def times(self, left: Any, right: Any, halves: int) -> Any:
        return self.builder.call(self.multiply, [left, right, ir.Constant(ir.IntType(8), halves)])

    def fold(self, remainder: Any, constant: Any, more: Any) -> Any:
        low = self.times(remainder, constant, 0x00)
        high = self.times(remainder, constant, 0x11)
        return self.builder.xor(self.builder.xor(low, high), more)

    def shifted(self, value: Any, bits: int) -> Any:
        word = self.builder.bitcast(value, ir.IntType(128))
        return self.builder.bitcast(self.builder.lshr(word, ir.Constant(ir.IntType(128), bits)), _pair())

    def while_left(self, left: Any, minimum: int, state: list[Any], step: Any) -> None:
        """Repeat a step as long as at least `minimum` bytes are left. `left` and `state` are variables on the stack."""
        builder = self.builder
        test, body, done = (builder.append_basic_block(name) for name in ("test", "fold", "done"))
        builder.branch(test)
        builder.position_at_end(test)
        enough = builder.icmp_signed(">=", builder.load(left), _word(minimum))
        builder.cbranch(enough, body, done)
        builder.position_at_end(body)
        step(state)
        builder.store(builder.sub(builder.load(left), _word(minimum)), left)
        builder.branch(test)
        builder.position_at_end(done)

    def reduced(self, remainder: Any) -> Any:
        """Reduce 128 bits to the 32 bits of the CRC."""
        builder = self.builder
        low_words = self.constant(_LOW_WORDS)
        moved = self.times(remainder, self.constant(_FOLD_16), 0x10)
        remainder = builder.xor(self.shifted(remainder, 64), moved)
        rest = self.shifted(remainder, 32)
        remainder = self.times(builder.and_(remainder, low_words), self.constant(_FOLD_8), 0x00)
        remainder = builder.xor(remainder, rest)
        estimate = self.times(builder.and_(remainder, low_words), self.constant(_POLYNOMIAL), 0x10)
        estimate = self.times(builder.and_(estimate, low_words), self.constant(_POLYNOMIAL), 0x00)
        remainder = builder.xor(remainder, estimate)
        low_half = builder.extract_element(remainder, ir.Constant(ir.IntType(32), 0))
        return builder.lshr(low_half, _word(32))


def _folder(lane_count: int) -> Any:
    """Return an intrinsic for the inverted CRC32 of a multiple of 16 bytes, at least 16 for each lane."""
    stride = _BLOCK * lane_count

    @intrinsic
    def fold(_typing: Any, _address: Any, _length: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            folding = _Folding(builder)
            at, left = builder.alloca(ir.IntType(64)), builder.alloca(ir.IntType(64))
            lanes = [builder.alloca(_pair()) for _ in range(lane_count)]
            address, length = arguments
            first = builder.xor(folding.load(address), folding.constant((0xFFFFFFFF, 0)))
            builder.store(first, lanes[0])
            for index in range(1, lane_count):
                builder.store(folding.load(address, _BLOCK * index), lanes[index])
            builder.store(builder.add(address, _word(stride)), at)
            builder.store(builder.sub(length, _word(stride)), left)

            def step(constant: tuple[int, int]) -> Any:
                def fold_lanes(state: list[Any]) -> None:
                    address = builder.load(at)
                    for index, lane in enumerate(state):
                        more = folding.load(address, _BLOCK * index)
                        builder.store(folding.fold(builder.load(lane), folding.constant(constant), more), lane)
                    builder.store(builder.add(address, ir.Constant(ir.IntType(64), _BLOCK * len(state))), at)

                return fold_lanes

            if lane_count > 1:
                folding.while_left(left, stride, lanes, step(_FOLD_64))
                one = builder.load(lanes[0])
                for lane in lanes[1:]:
                    one = folding.fold(one, folding.constant(_FOLD_16), builder.load(lane))
                builder.store(one, lanes[0])
            folding.while_left(left, _BLOCK, lanes[:1], step(_FOLD_16))
            return folding.reduced(builder.load(lanes[0]))

        return types.int64(types.int64, types.int64), generate

    return fold


_fold_long = _folder(4)
_fold_short = _folder(1)


@kernel
def crc32_by_folding(_function: int, address: int, length: int) -> int:
    """Return the CRC32 of bytes."""
    remainder = 0xFFFFFFFF
    done = length & ~(_BLOCK - 1)
    if done >= _LONG:
        remainder = _fold_long(address, done)
    elif done:
        remainder = _fold_short(address, done)
    for at in range(done, length):
        remainder = remainder >> 8 ^ _remainder((remainder ^ load8(address + at)) & 0xFF)
    return remainder ^ 0xFFFFFFFF


@lru_cache(maxsize=1)
def crc32_address() -> int:
    """Return the address of zlib's crc32."""
    for name in _names():
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        return int(ctypes.cast(library.crc32, ctypes.c_void_p).value or 0)
    raise Unsupported("zlib is not installed as a shared library")


def _names() -> Iterator[str]:
    """Yield the names that zlib may have. Looking for it runs a program, so its usual name comes first."""
    yield "libz.so.1"
    from ctypes.util import find_library

    found = find_library("z")
    if found is not None:
        yield found


@intrinsic
def call_crc32(_typing: Any, _function: Any, _address: Any, _length: Any) -> Any:
    """Call zlib's crc32 by its address, so that kernels which use it can be cached on disk."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64), byte, ir.IntType(32)])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        data = builder.inttoptr(arguments[1], byte)
        length = builder.trunc(arguments[2], ir.IntType(32))
        return builder.call(function, [_word(0), data, length])

    return types.int64(types.int64, types.int64, types.int64), generate


@kernel
def crc32_by_zlib(function: int, address: int, length: int) -> int:
    """Return the CRC32 of bytes, as zlib computes it."""
    return call_crc32(function, address, length)


def _fastest() -> Any:
    """Return the kernel for this processor."""
    from llvmlite import binding

    return crc32_by_folding if binding.get_host_cpu_features().get("pclmul") else crc32_by_zlib


_crc32: Any = Choice(_fastest)


@kernel
def crc32_of(function: int, address: int, length: int) -> int:
    """Return the CRC32 of bytes. `function` is the address of zlib's crc32."""
    return _crc32(function, address, length)


@kernel
def has_valid_crc32(function: int, at: int, size: int) -> bool:
    """Return whether the checksum at the end of an event matches. `function` is the address of zlib's crc32."""
    return _crc32(function, at, size) == _RESIDUE
