"""How far the events of a log on disk are whole and sound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import crc32_of_event
from binspark.kernels.memory import load32

_HEADER = 19
_CHECKSUM = 4
_RESIDUE = 0x2144DF1C


@kernel
def walk_sound(found: npt.NDArray[np.int64], end: int, origin: int, checksum: int, crc_function: int) -> None:
    """Go from event to event while each is whole, tells its true position or none, and its checksum holds.

    `found` holds two addresses: of the last event, and behind it. An address is an offset when `origin` is added.
    """
    at = found[1]
    while at + _HEADER <= end:
        size = load32(at + 9)
        if size < _HEADER + _CHECKSUM * checksum or size > end - at:
            return
        position = load32(at + 13)
        if position not in (0, (at + origin + size) & 0xFFFFFFFF):
            return
        if checksum and crc32_of_event(crc_function, at, size) != _RESIDUE:
            return
        found[0] = at
        at += size
        found[1] = at
