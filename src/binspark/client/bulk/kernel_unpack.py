"""Packets into the bytes of a log by a kernel. Importing this loads Numba."""

from __future__ import annotations

import numpy as np

from binspark.client.bulk.unpacking import Unpacking
from binspark.kernels.crc32 import crc32_address
from binspark.kernels.packet_layout import PACKET_ROLES, Outcome
from binspark.kernels.packets import Unpack, unpack
from binspark.transactions.byte_tables import PROGRESS_AFTER


class KernelUnpacker:
    """Does what `unpack_plainly` does."""

    def __init__(self) -> None:
        self._tables = [np.frombuffer(table, dtype=np.uint8) for table in (PACKET_ROLES, PROGRESS_AFTER)]
        self._numbers = np.zeros(Unpack.WIDTH, dtype=np.int64)
        self._numbers[Unpack.CRC_FUNCTION] = crc32_address()
        self._numbers[[Unpack.ROLES, Unpack.AFTER]] = [table.ctypes.data for table in self._tables]

    def __call__(self, state: Unpacking) -> Outcome:
        """Copy the events of packets one behind the other; return why it ended."""
        self._take(state)
        outcome = Outcome(unpack(self._numbers))
        self._give_back(state)
        return outcome

    def _take(self, state: Unpacking) -> None:
        numbers, source, target = self._numbers, state.source.address, state.target.address
        numbers[Unpack.IN_AT], numbers[Unpack.IN_END] = source + state.at, source + state.end
        numbers[Unpack.OUT_AT], numbers[Unpack.OUT_END] = target + state.out, target + state.target.size
        numbers[Unpack.SEQUENCE], numbers[Unpack.OFFSET] = state.sequence, state.offset
        numbers[Unpack.CHECKSUM], numbers[Unpack.PROGRESS] = state.checksum, state.opened
        numbers[Unpack.COMPLETE] = target + state.whole if state.whole else 0
        numbers[Unpack.LAST], numbers[Unpack.ODD] = target + state.last, state.is_odd
        numbers[Unpack.STOP], numbers[Unpack.STOP_TIME] = state.stop, state.stop_time

    def _give_back(self, state: Unpacking) -> None:
        numbers, source, target = self._numbers.tolist(), state.source.address, state.target.address
        state.at, state.out = numbers[Unpack.IN_AT] - source, numbers[Unpack.OUT_AT] - target
        state.sequence, state.needed = numbers[Unpack.SEQUENCE], numbers[Unpack.NEEDED]
        state.offset, state.opened = numbers[Unpack.OFFSET], numbers[Unpack.PROGRESS]
        state.whole = numbers[Unpack.COMPLETE] - target if numbers[Unpack.COMPLETE] else 0
        state.last, state.is_odd = numbers[Unpack.LAST] - target, bool(numbers[Unpack.ODD])
