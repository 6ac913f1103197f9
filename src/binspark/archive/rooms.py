"""Memory that is used again: fresh pages cost more than what is written to them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class Rooms:
    """Memory for one piece after the other. What was taken for a piece is taken again for the next but one."""

    def __init__(self) -> None:
        self._rooms: list[Bytes] = []
        self._others: list[Bytes] = []
        self._taken = 0

    def turn(self) -> None:
        """Begin another piece."""
        self._rooms, self._others = self._others, self._rooms
        self._taken = 0

    def take(self, size: int) -> Bytes:
        """Return at least so many bytes, of any content."""
        if self._taken == len(self._rooms):
            self._rooms.append(np.empty(size, dtype=np.uint8))
        elif len(self._rooms[self._taken]) < size:
            self._rooms[self._taken] = np.empty(size, dtype=np.uint8)
        self._taken += 1
        return self._rooms[self._taken - 1]
