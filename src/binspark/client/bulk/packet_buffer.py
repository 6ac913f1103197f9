"""Packets that have come and are not dealt with yet, where a kernel can read them."""

from __future__ import annotations

import select
import socket
import ssl
from typing import Any

import numpy as np

from binspark.client.wire_access import PacketChannel
from binspark.columns.kernels.packets import Unpack
from binspark.errors import ConnectionLost
from binspark.position import Position

SLACK = 64
"""Bytes behind the last one that kernels may load, though they use none of them."""

_FIRST_SIZE = 1 << 18


class PacketBuffer:
    """Reads what a channel would read, many packets at a time. `numbers` are those of the kernel.

    Of the channel it takes the socket, and what the channel has read from it in advance. `give_back` and `take_over`
    let the channel read a packet in between. `is_drained` says whether the socket had no more when it was last read.
    """

    def __init__(self, channel: PacketChannel, wait_seconds: float) -> None:
        self.numbers = np.zeros(Unpack.WIDTH, dtype=np.int64)
        self._channel: Any = channel
        self._wait_seconds = wait_seconds
        self.is_drained = True
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._make(_FIRST_SIZE)
        self.take_over()

    def receive(self, place: Position) -> bool:
        """Take from the socket what is there; tell whether anything came within the time to wait."""
        self._make_room(int(self.numbers[Unpack.NEEDED]))
        first = filled = self._filled
        room = len(self._view) - SLACK
        while filled < room and (count := self._read(filled, room, wait=filled == first, place=place)):
            filled += count
        self.is_drained = filled < room
        self._set(0, filled)
        return filled > first

    def _read(self, start: int, stop: int, *, wait: bool, place: Position) -> int:
        """Read into a part of the buffer. That the connection has ended counts where nothing else came before."""
        try:
            if wait and not self._is_ready():
                return 0
            if count := self._socket.recv_into(self._view[start:stop]):
                return count
            reason = "the server closed the connection"
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0
        except OSError as error:
            reason = f"the connection broke: {error}"
        if wait:
            raise ConnectionLost(reason, place)
        return 0

    def _is_ready(self) -> bool:
        pending = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0
        return pending or bool(self._poll.poll(1000 * self._wait_seconds))

    def give_back(self) -> None:
        """Let the channel read on."""
        self._channel._buffer = self._view[self._taken : self._filled].tobytes()
        self._channel._offset = 0
        self._channel._sequence = int(self.numbers[Unpack.SEQUENCE])
        self._channel._seconds = None

    def take_over(self) -> None:
        """Read on where the channel is."""
        left = memoryview(self._channel._buffer)[self._channel._offset :]
        if len(left) + SLACK > len(self._view):
            self._make(len(left) + _FIRST_SIZE)
        self._view[: len(left)] = left
        self._set(0, len(left))
        self.numbers[Unpack.SEQUENCE] = self._channel._sequence
        self._channel._buffer = b""
        self._socket.settimeout(0)

    @property
    def _socket(self) -> socket.socket:
        connected: socket.socket = self._channel._socket
        return connected

    @property
    def _taken(self) -> int:
        return int(self.numbers[Unpack.IN_AT]) - self._address

    @property
    def _filled(self) -> int:
        return int(self.numbers[Unpack.IN_END]) - self._address

    def _make_room(self, needed: int) -> None:
        """Move what is left to the front, into a larger buffer if the next packet asks for it."""
        left = self._view[self._taken : self._filled].tobytes()
        if needed + SLACK > len(self._view):
            self._make(needed + _FIRST_SIZE)
        self._view[: len(left)] = left
        self._set(0, len(left))

    def _make(self, size: int) -> None:
        self._bytes = np.zeros(size + SLACK, dtype=np.uint8)
        self._view = memoryview(self._bytes.data)
        self._address = int(self._bytes.ctypes.data)

    def _set(self, taken: int, filled: int) -> None:
        self.numbers[Unpack.IN_AT], self.numbers[Unpack.IN_END] = self._address + taken, self._address + filled
