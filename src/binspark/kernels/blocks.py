"""Copies of 16 and 32 bytes that report at the same time which of them are special, in few instructions.

They read and write exactly that number of bytes. Callers check that the memory is large enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from binspark.kernels.compiler import intrinsic, ir, types

Marked = Callable[[Any, Any], Any]
"""Generates the comparison of all bytes of a block, each as a signed number."""


def _copier(width: int, marked: Marked) -> Any:
    """Return an intrinsic that copies `width` bytes, and returns a bit for each that is marked."""

    @intrinsic
    def copy(_typing: Any, _target: Any, _source: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = ir.VectorType(ir.IntType(8), width).as_pointer()
            block = builder.load(builder.inttoptr(arguments[1], pointer))
            block.align = 1
            builder.store(block, builder.inttoptr(arguments[0], pointer), align=1)
            return builder.zext(builder.bitcast(marked(builder, block), ir.IntType(width)), ir.IntType(64))

        return types.int64(types.int64, types.int64), generate

    return copy


def _compare(builder: Any, block: Any, relation: str, byte: int) -> Any:
    return builder.icmp_signed(
        relation, block, ir.Constant(block.type, [ir.Constant(ir.IntType(8), byte)] * block.type.count)
    )


def _is_not_ascii(builder: Any, block: Any) -> Any:
    return _compare(builder, block, "<", 0)


def _needs_care(builder: Any, block: Any) -> Any:
    """Mark what a JSON string cannot contain as it is. Below a space, as a signed number, is also what is not ASCII."""
    special = _compare(builder, block, "<", ord(" "))
    special = builder.or_(special, _compare(builder, block, "==", ord('"')))
    return builder.or_(special, _compare(builder, block, "==", ord("\\")))


def _needs_care_in_sql(builder: Any, block: Any) -> Any:
    """Mark what an SQL literal in single quotes may not contain as it is in every character set and sql_mode."""
    special = _compare(builder, block, "<", ord(" "))
    special = builder.or_(special, _compare(builder, block, ">=", ord("~")))
    special = builder.or_(special, _compare(builder, block, "==", ord("'")))
    return builder.or_(special, _compare(builder, block, "==", ord("\\")))


copy_16_ascii, copy_32_ascii = _copier(16, _is_not_ascii), _copier(32, _is_not_ascii)
"""Mark bytes that are not ASCII."""

copy_16_plain, copy_32_plain = _copier(16, _needs_care), _copier(32, _needs_care)
"""Mark quotes, backslashes, control characters, and bytes that are not ASCII."""

copy_16_literal, copy_32_literal = _copier(16, _needs_care_in_sql), _copier(32, _needs_care_in_sql)
"""Mark single quotes, backslashes, control characters, tildes, and bytes that are not ASCII."""
