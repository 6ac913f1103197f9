"""Which way packets are unpacked: plainly at first, by a kernel once that pays."""

from __future__ import annotations

import sys
from collections.abc import Callable

from binspark.client.bulk.plain_unpack import unpack_plainly
from binspark.client.bulk.unpacking import Outcome, Unpacking

_LARGE_EVENT = 1 << 12
"""Bytes for which Python's own work does not count."""

_MANY_EVENTS = 1 << 17
"""Small events that take Python about half as long as it takes to load a kernel."""


class Unpacker:
    """Unpacks plainly, and loads the kernel when many small events have come; at once if Numba is loaded anyway."""

    def __init__(self) -> None:
        self._by_kernel: Callable[[Unpacking], Outcome] | None = None
        self._small_events = 0
        if "numba" in sys.modules:
            self._load()

    def __call__(self, state: Unpacking) -> Outcome:
        """Copy the events of packets one behind the other; return why it ended."""
        if self._by_kernel is not None:
            return self._by_kernel(state)
        packets, copied = state.packets, state.out
        outcome = unpack_plainly(state)
        self._small_events += max(0, state.packets - packets - (state.out - copied) // _LARGE_EVENT)
        if self._small_events > _MANY_EVENTS:
            self._load()
        return outcome

    def _load(self) -> None:
        from binspark.client.bulk.kernel_unpack import KernelUnpacker

        self._by_kernel = KernelUnpacker()
