"""Memory for batches, used again when nobody looks at a batch any more.

Fresh pages fill thirty times slower than used ones, so blocks are kept. A block is free when the pool holds the only
reference to it: Arrow buffers over parts of a block refer to it as long as they live.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.uint8]
_ALIGNMENT = 64
_REFERENCES_OF_A_FREE_BLOCK = 3  # the pool's list, the loop variable, and the argument of getrefcount


class Arena:
    """A pool of blocks."""

    def __init__(self, keep_bytes: int = 256 << 20) -> None:
        self._blocks: list[Block] = []
        self._keep_bytes = keep_bytes

    def take(self, size: int) -> Block:
        """Return a block of at least `size` bytes; its contents are undefined."""
        best = -1
        for index in range(len(self._blocks)):
            block = self._blocks[index]
            free = sys.getrefcount(block) == _REFERENCES_OF_A_FREE_BLOCK
            if free and len(block) >= size and (best < 0 or len(block) < len(self._blocks[best])):
                best = index
            del block
        if best >= 0 and len(self._blocks[best]) <= 4 * size + (1 << 20):
            return self._blocks[best]
        block = np.empty(size, dtype=np.uint8)
        self._keep(block)
        return block

    @property
    def held_bytes(self) -> int:
        return sum(len(block) for block in self._blocks)

    def _keep(self, block: Block) -> None:
        if len(block) + self.held_bytes > self._keep_bytes:
            self._blocks = [kept for kept in self._blocks if sys.getrefcount(kept) > _REFERENCES_OF_A_FREE_BLOCK]
        self._blocks.append(block)


def aligned(size: int) -> int:
    """Return a size rounded up, so that what follows is aligned as Arrow likes it."""
    return (size + _ALIGNMENT - 1) & ~(_ALIGNMENT - 1)
