"""Memory that Python slices and kernels address."""

from __future__ import annotations

from functools import cached_property

SLACK = 64
"""Bytes behind the last one that may be loaded, though nobody uses any of them."""


class Area:
    """So many bytes, and some slack behind them.

    size  how many bytes there are to be used
    view  all of them, and the slack
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.view = memoryview(bytearray(size + SLACK))

    @cached_property
    def address(self) -> int:
        """Where the bytes are. NumPy knows."""
        import numpy as np

        return int(np.frombuffer(self.view, dtype=np.uint8).ctypes.data)
