"""Which way packets are unpacked: plainly at first, by a kernel once that pays."""

from __future__ import annotations

import sys
from collections.abc import Callable

from binspark.client.bulk.plain_unpack import unpack_plainly
from binspark.client.bulk.unpacking import Unpacking
from binspark.kernels.packet_layout import Outcome

_BYTES_OF_AN_EVENT = 1 << 14
"""So many bytes more take about as much more work than in a kernel as one event does."""

_ENOUGH_EVENTS = 1 << 18
"""So many events take about as long as it takes to load a kernel."""


class Unpacker:
    """Unpacks plainly until much has come, then with the kernel; from the beginning if Numba is loaded anyway."""

    def __init__(self) -> None:
        self._by_kernel: Callable[[Unpacking], Outcome] | None = None
        self._events = 0
        if "numba" in sys.modules:
            self._load()

    def __call__(self, state: Unpacking) -> Outcome:
        """Copy the events of packets one behind the other; return why it ended."""
        if self._by_kernel is not None:
            return self._by_kernel(state)
        packets, copied = state.packets, state.out
        outcome = unpack_plainly(state)
        self._events += state.packets - packets + (state.out - copied) // _BYTES_OF_AN_EVENT
        if self._events > _ENOUGH_EVENTS:
            self._load()
        return outcome

    def _load(self) -> None:
        from binspark.client.bulk.kernel_unpack import KernelUnpacker

        self._by_kernel = KernelUnpacker()
