"""Memory that bytes of a log are read into."""

from __future__ import annotations

from collections.abc import Callable

from binspark.columns.arena import Block

ReadInto = Callable[[memoryview], int]
"""Fills a buffer as far as bytes are there and says how far; 0 at the end."""

SLACK = 64
"""Bytes behind the last one that kernels may load, though they use none of them."""


def fill(read_into: ReadInto, buffer: Block, filled: int) -> tuple[int, bool]:
    """Read behind what a buffer holds, until it is full or nothing comes; tell how far, and whether more may come."""
    view = memoryview(buffer.data)[: len(buffer) - SLACK]
    while filled < len(view):
        count = read_into(view[filled:])
        if count == 0:
            return filled, False
        filled += count
    return filled, True
