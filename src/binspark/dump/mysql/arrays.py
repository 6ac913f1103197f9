"""Arrays of bytes for kernels, which may read and write a little after the end."""

from __future__ import annotations

import numpy as np

PADDING = 64


def padded_array(size: int) -> np.ndarray:
    """Return an array with room for a number of bytes, and for what kernels read and write after its end."""
    return np.empty(size + PADDING, np.uint8)


def room_of(array: np.ndarray) -> int:
    """Return how many bytes a padded array has room for."""
    return len(array) - PADDING


def address_of(array: np.ndarray) -> int:
    """Return the address of the first byte."""
    return array.ctypes.data
