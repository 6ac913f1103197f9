"""The packets of a connection after login. The channel owns the socket, and lends its buffer to those who unpack it.

A packet is a header of four bytes (length of the payload, number of the packet) and the payload. A payload of the
maximum length continues in the next packet.

Two ways of reading share one buffer, so that they can take turns at any packet:

    read                returns the payload of one packet
    receive, unread     receive whatever has arrived, and unpack many packets where they are
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from binspark.errors import ConnectionLost, Malformed
from binspark.position import Position

PACKET_HEADER = 4
MAX_PAYLOAD = 0xFFFFFF
"""A payload of this length is followed by the rest of it in another packet."""

MAX_MESSAGE = (1 << 30) + (1 << 20)
"""The most that a server sends at once: max_allowed_packet is limited to 1 GiB, and an event has a header besides."""

SLACK = 64
"""Bytes after the last one that may be loaded, though nobody uses them."""

_FIRST_SIZE = 1 << 20
_NOTHING_MORE = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Memory:
    """Bytes that Python slices and kernels address.

    size  how many bytes there are to be used
    view  all of them, and the slack after them
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.view = memoryview(bytearray(size + SLACK))

    @cached_property
    def address(self) -> int:
        """Where the bytes are; only NumPy knows, which is slow to load."""
        import numpy as np

        return int(np.frombuffer(self.view, dtype=np.uint8).ctypes.data)


@dataclass(slots=True, eq=False)
class UnreadPackets:
    """Packets that have arrived and were not read yet: the bytes of `memory` from `start` to `end`.

    sequence  the number of the next packet
    needed    how many bytes the next packet takes, as far as that is known
    """

    memory: Memory
    start: int = 0
    end: int = 0
    sequence: int = 0
    needed: int = PACKET_HEADER


class PacketChannel:
    """Packets over a socket that nobody else reads any more. `position` is that of its errors.

    unread      what has arrived; those who unpack it move its `start` and `sequence`
    is_drained  whether the socket had no more when it was last read
    """

    def __init__(self, connected: socket.socket, position: Position) -> None:
        self._socket = connected
        self._position = position
        self._poll = select.poll()
        self._poll.register(connected, select.POLLIN)
        self.unread = UnreadPackets(Memory(_FIRST_SIZE))
        self.is_drained = True
        connected.settimeout(0)

    def send(self, payload: bytes, seconds: float) -> None:
        """Send a command, or an answer between two packets that are read: the server counts packets anew."""
        try:
            self._socket.settimeout(seconds)
            for sequence, packet in enumerate(_split(payload)):
                self._socket.sendall(len(packet).to_bytes(3, "little") + bytes((sequence & 0xFF,)) + packet)
            self._socket.settimeout(0)
        except OSError as error:
            raise ConnectionLost(f"the connection broke: {error}", self._position) from None
        self.unread.sequence = (sequence + 1) & 0xFF

    def read(self, silence_seconds: float) -> bytes:
        """Return the next payload, from all packets that it takes; fail if nothing comes for this long."""
        payload = self._read_packet(silence_seconds)
        if len(payload) < MAX_PAYLOAD:
            return payload
        parts = [payload]
        while len(parts[-1]) == MAX_PAYLOAD:
            if len(parts) > MAX_MESSAGE // MAX_PAYLOAD:
                raise Malformed(f"a packet of more than {MAX_MESSAGE:,} bytes, which no server sends", self._position)
            parts.append(self._read_packet(silence_seconds))
        return b"".join(parts)

    def receive(self, wait_seconds: float) -> bool:
        """Receive what is there; return whether anything arrived within the time to wait."""
        self._make_room()
        unread = self.unread
        received = 0
        if self._is_ready(wait_seconds):
            received, reason = self._receive_into(unread.memory.view[unread.end : unread.memory.size])
            # What arrived before the connection ended is read first; the next call reports the end.
            if reason and not received:
                raise ConnectionLost(reason, self._position)
        unread.end += received
        self.is_drained = unread.end < unread.memory.size
        return received > 0

    def abort(self) -> None:
        """End the connection at once. A thread that is reading stops with `ConnectionLost`."""
        with suppress(OSError):
            # The method of an SSLSocket would drop its TLS state, and the thread that reads would see encrypted bytes.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _read_packet(self, silence_seconds: float) -> bytes:
        unread = self.unread
        if unread.end - unread.start < PACKET_HEADER:
            self._wait_for(PACKET_HEADER, silence_seconds)
        head = int.from_bytes(unread.memory.view[unread.start : unread.start + PACKET_HEADER], "little")
        length, sequence = head & MAX_PAYLOAD, head >> 24
        if sequence != unread.sequence:
            raise self._out_of_order(sequence)
        if unread.end - unread.start < PACKET_HEADER + length:
            self._wait_for(PACKET_HEADER + length, silence_seconds)
        start = unread.start + PACKET_HEADER
        unread.start = start + length
        unread.sequence = (sequence + 1) & 0xFF
        return bytes(unread.memory.view[start : start + length])

    def _wait_for(self, count: int, silence_seconds: float) -> None:
        """Wait until a packet has arrived up to here; each part of it may take as long as a silence lasts."""
        unread = self.unread
        unread.needed = count
        last_heard = time.monotonic()
        while unread.end - unread.start < count:
            if self.receive(max(0.0, last_heard + silence_seconds - time.monotonic())):
                last_heard = time.monotonic()
            elif time.monotonic() - last_heard >= silence_seconds:
                raise self.silence(silence_seconds)

    def silence(self, seconds: float) -> ConnectionLost:
        """Return the error of a server that has sent nothing for too long."""
        return ConnectionLost(f"nothing came for {seconds:g} seconds, not even a heartbeat", self._position)

    def _out_of_order(self, sequence: int) -> ConnectionLost | Malformed:
        """MariaDB gives number 0 to the packet in which it says that it shuts down or kills the connection."""
        if sequence == 0:
            return ConnectionLost("the server ended the connection", self._position)
        return Malformed(f"expected packet {self.unread.sequence}, found packet {sequence}", self._position)

    def _receive_into(self, room: memoryview) -> tuple[int, str]:
        """Read until there is nothing more, or no room; return how much came, and why the connection ended if so."""
        receive_into, received = self._socket.recv_into, 0
        try:
            while received < len(room):
                count = receive_into(room[received:])
                if not count:
                    return received, "the server closed the connection"
                received += count
        except _NOTHING_MORE:
            pass
        except OSError as error:
            return received, f"the connection broke: {error}"
        return received, ""

    def _is_ready(self, wait_seconds: float) -> bool:
        # TLS decrypts more than was read: `poll` does not see what is in its buffer.
        pending = isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0
        return pending or bool(self._poll.poll(1000 * wait_seconds))

    def _make_room(self) -> None:
        """Move what is unread to the front, into a larger memory if the next packet needs it."""
        unread = self.unread
        left = unread.memory.view[unread.start : unread.end].tobytes()
        if unread.needed > unread.memory.size:
            unread.memory = Memory(unread.needed + unread.memory.size)
        unread.memory.view[: len(left)] = left
        unread.start, unread.end = 0, len(left)


def _split(payload: bytes) -> list[bytes]:
    """Split a payload into those of its packets: the last one is shorter than the maximum, if need be empty."""
    return [payload[start : start + MAX_PAYLOAD] for start in range(0, len(payload) + 1, MAX_PAYLOAD)]
