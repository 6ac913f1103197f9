"""Memory for the bytes of logs and for batches, used again when a batch is no longer in use.

Fresh pages fill thirty times slower than used ones, so blocks are kept. A block is free when the pool has the only
reference to it: Arrow buffers over parts of a block refer to it as long as they live.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import compress
from threading import Lock, local

import numpy as np
import numpy.typing as npt

ReadInto = Callable[[memoryview], int]
"""Fills a buffer as far as there are bytes, and returns how many; 0 at the end."""

Block = npt.NDArray[np.uint8]

SLACK = 64
"""Bytes after the last one that kernels may load, though they use none of them."""

_ALIGNMENT = 64
_MAX_LOOKS = 64


class Arena:
    """A pool of blocks.

    A log may change thousands of tables, each with a block of its own. So that a new block costs the same however many
    there are, only some of them are looked at, in turn, and the pool is cleared of free blocks now and then.
    """

    def __init__(self, keep_bytes: int = 256 << 20) -> None:
        self._blocks: list[Block] = []
        self._keep_bytes = self._clear_at = keep_bytes
        self._kept = 0
        self._next = 0
        self._lock = Lock()
        self.looks = 0
        """How many blocks were looked at so far."""

    def take(self, size: int) -> Block:
        """Return a block of at least `size` bytes; its contents are undefined."""
        with self._lock:
            return self._take(size)

    def _take(self, size: int) -> Block:
        best = -1
        for index in self._some():
            fits = sys.getrefcount(self._blocks[index]) == _OF_A_FREE_BLOCK and len(self._blocks[index]) >= size
            if fits and (best < 0 or len(self._blocks[index]) < len(self._blocks[best])):
                best = index
        if best >= 0 and len(self._blocks[best]) <= 4 * size + (1 << 20):
            return self._blocks[best]
        block = np.empty(size, dtype=np.uint8)
        self._keep(block)
        return block

    @property
    def kept_bytes(self) -> int:
        """The size of all blocks, free or in use."""
        return self._kept

    def _some(self) -> Iterator[int]:
        """Yield the numbers of some blocks: the next ones in turn."""
        count = len(self._blocks)
        looks = min(count, _MAX_LOOKS)
        first, self._next = self._next, (self._next + looks) % max(count, 1)
        self.looks += looks
        for number in range(first, first + looks):
            yield number % count

    def _keep(self, block: Block) -> None:
        if len(block) + self._kept > self._clear_at:
            self._clear()
        self._blocks.append(block)
        self._kept += len(block)

    def _clear(self) -> None:
        """Forget the blocks that are free."""
        self.looks += len(self._blocks)
        self._blocks = list(compress(self._blocks, [count > _OF_A_FREE_BLOCK for count in _references(self._blocks)]))
        self._kept = sum(len(block) for block in self._blocks)
        self._clear_at = max(self._keep_bytes, self._kept + self._keep_bytes // 4)
        self._next = 0


_OF_THREAD = local()


def thread_arena() -> Arena:
    """Return the pool that readers of one thread share: one split after the other uses the same memory."""
    arena: Arena | None = getattr(_OF_THREAD, "arena", None)
    if arena is None:
        arena = _OF_THREAD.arena = Arena()
    return arena


def _references(blocks: list[Block]) -> list[int]:
    """Count the references to each block of a list."""
    return [sys.getrefcount(blocks[index]) for index in range(len(blocks))]


# How many references Python counts for a block that only a pool refers to; versions of Python differ in it.
_OF_A_FREE_BLOCK = _references([np.empty(1, dtype=np.uint8)])[0]


def aligned(size: int) -> int:
    """Return a size rounded up, so that what follows is aligned as Arrow likes it."""
    return (size + _ALIGNMENT - 1) & ~(_ALIGNMENT - 1)


def fill(read_into: ReadInto, buffer: Block, filled: int) -> tuple[int, bool]:
    """Read into a buffer until it is full or nothing comes; return how much is filled, and whether more may come."""
    view = memoryview(buffer.data)[: len(buffer) - SLACK]
    while filled < len(view):
        count = read_into(view[filled:])
        if count == 0:
            return filled, False
        filled += count
    return filled, True
