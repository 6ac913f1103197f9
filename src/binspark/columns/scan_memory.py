"""Events that kernels read although they are not in the file as such: those of a payload, and rewritten ones."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar
from weakref import WeakMethod

import numpy as np

from binspark.columns.arena import SLACK, Block, fill
from binspark.columns.log_scan import Numbers
from binspark.errors import DecodeError, Malformed, Truncated
from binspark.event import Event, TransactionPayload
from binspark.frames import LogFormat
from binspark.frames.payload import Limits, PayloadReader, exceeds_limit, without_checksum
from binspark.kernels.layout import State

INSIDE_PAYLOAD, REWRITTEN = 1, 2
"""What State.INNER says of the events that a scan reads."""

_WINDOW = 4 << 20
_SAVED = (
    *(State.AT, State.END, State.CHECKSUM, State.ALL_FOR_PYTHON, State.INNER, State.OUTER_OFFSET, State.OUTER_END),
    *(State.ROW_AT, State.ROW_NUMBER),
)
Item = TypeVar("Item")


class ScanMemory(Generic[Item]):
    """Lets a scan read other bytes than those of its window, and return to it.

    scan_bytes   lets kernels read the events between two addresses: a method of the scan that this belongs to. A strong
                 reference to it would be a cycle, and the scan's memory stay in use until Python looks for cycles
    """

    def __init__(
        self, state: Numbers, scan_bytes: Callable[[int, int, LogFormat], Iterator[Item]], limits: Limits
    ) -> None:
        self._state = state
        self._scan_bytes = WeakMethod(scan_bytes)
        self._limits = limits
        self._window: Block = np.zeros(0, dtype=np.uint8)

    def payload(self, event: Event) -> Iterator[Item]:
        """Expand a payload window by window and let kernels read each."""
        body: TransactionPayload = event.body
        state = self._state
        if state[State.INNER]:
            raise Malformed("a transaction payload inside a transaction payload")
        state[State.PAYLOAD_ROW] = state[State.INNER_NUMBER] = 0
        try:
            payload = PayloadReader(body.payload, body.compression_type, body.uncompressed_size, self._limits)
            left = yield from self._scan_payload(payload, event)
            if left:
                raise Truncated(f"a transaction payload ends {left} bytes into an event")
        except DecodeError as error:
            raise error.at(event.position) from None

    def rewritten(self, data: bytes, event: Event) -> Iterator[Item]:
        """Run kernels over an event, rewritten in the form that they know."""
        memory = np.frombuffer(data + bytes(SLACK), dtype=np.uint8)
        done = yield from self._scan(memory, len(data), event, REWRITTEN)
        if done != len(data):
            message = f"a rewritten event of {len(data)} bytes has the size {done} in its header"
            raise Malformed(message, event.position)

    def _scan_payload(self, payload: PayloadReader, event: Event) -> Generator[Item, None, int]:
        """Fill the window again and again; return how many bytes of an incomplete event are left in the end."""
        if not len(self._window):
            self._window = np.zeros(_WINDOW + SLACK, dtype=np.uint8)
        filled = 0
        while True:
            filled, more = fill(payload.read_into, self._window, filled)
            self._state[State.NEEDED] = 0
            done = yield from self._scan(self._window, filled, event, INSIDE_PAYLOAD)
            needed = int(self._state[State.NEEDED])
            if needed > self._limits.max_event:
                raise exceeds_limit("an event inside a transaction payload", needed, self._limits.max_event)
            if done:
                self._window[: filled - done] = self._window[done:filled].copy()
                filled -= done
            if not more:
                return filled
            capacity = len(self._window) - SLACK
            if 2 * filled >= capacity:
                larger = np.zeros(2 * capacity + SLACK, dtype=np.uint8)
                larger[:filled] = self._window[:filled]
                self._window = larger

    def _scan(self, memory: Block, length: int, event: Event, inner: int) -> Generator[Item, None, int]:
        """Run kernels over events in memory; return how many bytes they read."""
        state = self._state
        saved = {number: int(state[number]) for number in _SAVED}
        base = int(memory.ctypes.data)
        state[State.INNER], state[State.OUTER_OFFSET], state[State.ROW_AT] = inner, event.offset, 0
        state[State.OUTER_END] = event.end_offset
        scan_bytes = self._scan_bytes()
        assert scan_bytes is not None
        yield from scan_bytes(base, base + length, without_checksum(event.frame.format))
        done = int(state[State.AT]) - base
        for number, value in saved.items():
            state[number] = value
        return done
