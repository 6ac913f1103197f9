"""Packets that have come and are not dealt with yet."""

from __future__ import annotations

import select
import socket
import ssl
from typing import Any

from binspark.client.bulk.area import Area
from binspark.client.bulk.unpacking import Unpacking
from binspark.client.wire_access import PacketChannel
from binspark.errors import ConnectionLost
from binspark.position import Position

_NOTHING_MORE = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class PacketBuffer:
    """Reads what a channel would read, many packets at a time, to the source of `unpacking`.

    Of the channel it takes the socket, and what the channel has read from it in advance. `give_back` and `take_over`
    let the channel read a packet in between. `is_drained` says whether the socket had no more when it was last read.
    """

    def __init__(self, channel: PacketChannel, wait_seconds: float, unpacking: Unpacking) -> None:
        self._channel: Any = channel
        self._wait_seconds = wait_seconds
        self._unpacking = unpacking
        self.is_drained = True
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self.take_over()

    def receive(self, place: Position) -> bool:
        """Take from the socket what is there; tell whether anything came within the time to wait."""
        self._make_room()
        state = self._unpacking
        came = 0
        if self._is_ready():
            came, reason = self._read(state.source.view[state.end : state.source.size])
            if reason and not came:  # that the connection has ended counts once all that came is dealt with
                raise ConnectionLost(reason, place)
        state.end += came
        self.is_drained = state.end < state.source.size
        return came > 0

    def _read(self, room: memoryview) -> tuple[int, str]:
        """Read until there is nothing more, or no room; return how much came, and why the connection ended if so."""
        read_into, came = self._socket.recv_into, 0
        try:
            while came < len(room):
                count = read_into(room[came:])
                if not count:
                    return came, "the server closed the connection"
                came += count
        except _NOTHING_MORE:
            pass
        except OSError as error:
            return came, f"the connection broke: {error}"
        return came, ""

    def _is_ready(self) -> bool:
        pending = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0
        return pending or bool(self._poll.poll(1000 * self._wait_seconds))

    def give_back(self) -> None:
        """Let the channel read on."""
        state = self._unpacking
        self._channel._buffer = state.source.view[state.at : state.end].tobytes()
        self._channel._offset = 0
        self._channel._sequence = state.sequence
        self._channel._seconds = None

    def take_over(self) -> None:
        """Read on where the channel is."""
        state = self._unpacking
        left = memoryview(self._channel._buffer)[self._channel._offset :]
        if len(left) > state.source.size:
            state.source = Area(len(left) + state.source.size)
        state.source.view[: len(left)] = left
        state.at, state.end = 0, len(left)
        state.sequence = self._channel._sequence
        self._channel._buffer = b""
        self._socket.settimeout(0)

    @property
    def _socket(self) -> socket.socket:
        connected: socket.socket = self._channel._socket
        return connected

    def _make_room(self) -> None:
        """Move what is left to the front, into a larger buffer if the next packet asks for it."""
        state = self._unpacking
        left = state.source.view[state.at : state.end].tobytes()
        if state.needed > state.source.size:
            state.source = Area(state.needed + state.source.size)
        state.source.view[: len(left)] = left
        state.at, state.end = 0, len(left)
