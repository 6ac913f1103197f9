"""The one place that touches what PyMySQL does not offer: commands of one's own, packets as they come, time limits.

Of PyMySQL's connection it needs the socket (`_sock`), the limit for reading (`_read_timeout`), the sending of a command
(`_execute_command`), and at login whether others can read it (`_secure`) and its answer (`_read_packet`). Once a
command is sent, PyMySQL has read all that came before, so that the socket is free to be read here: without copies of
copies, and in a way that can be stopped from another thread.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

from binspark.errors import ConnectionLost, Malformed
from binspark.position import Position

MAX_PACKET = 0xFFFFFF
"""A packet of this length is followed by the rest of its payload in another packet."""

_HEADER = 4
_CHUNK = 1 << 18


def set_read_seconds(session: Any, seconds: float) -> None:
    """Limit how long PyMySQL waits for an answer."""
    session._read_timeout = seconds


class SecureCleartext:
    """Answers a server that asks for the password as it is: only where nobody else can read it.

    PyMySQL would send it over any connection, to any server that asks.
    """

    def __init__(self, session: Any) -> None:
        self._session = session

    def authenticate(self, _request: Any) -> Any:
        """Send the password over TLS or a socket; refuse otherwise."""
        if not self._session._secure:
            raise RuntimeError("the server asks for the password in clear text, and the connection is not encrypted")
        self._session.write_packet(self._session.password + b"\0")
        return self._session._read_packet()


class PacketChannel:
    """The packets of a session that has nothing to answer any more. `place` is where its errors are."""

    def __init__(self, session: Any, place: Position) -> None:
        if session._sock is None:
            raise ConnectionLost("the connection is closed", place)
        self._session = session
        self._socket: socket.socket = session._sock
        self._place = place
        self._buffer = b""
        self._offset = 0
        self._sequence = 0
        self._seconds: float | None = None

    def send_command(self, payload: bytes) -> None:
        """Send a command; its answers are read with `read`."""
        self._session._execute_command(payload[0], payload[1:])
        self._seconds = None  # PyMySQL has set a limit of its own
        self._sequence = 1

    def send_answer(self, payload: bytes) -> None:
        """Send a packet between two that are read; the server counts from there on."""
        header = len(payload).to_bytes(3, "little") + b"\0"
        try:
            self._socket.sendall(header + payload)
        except OSError as error:
            raise self._lost(error) from None
        self._sequence = 1

    def read(self, silence_seconds: float) -> bytes:
        """Return the payload of the next packet, however many packets it takes; fail if nothing comes for so long."""
        if silence_seconds != self._seconds:
            self._socket.settimeout(silence_seconds)
            self._seconds = silence_seconds
        payload = self._packet()
        if len(payload) < MAX_PACKET:
            return payload
        parts = [payload]
        while len(parts[-1]) == MAX_PACKET:
            parts.append(self._packet())
        return b"".join(parts)

    def abort(self) -> None:
        """End the connection at once. A thread that is reading stops with `ConnectionLost`."""
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _packet(self) -> bytes:
        header = self._take(_HEADER)
        if header[3] != self._sequence:
            message = f"packet {header[3]} came where packet {self._sequence} was due"
            raise self._out_of_order(message, header[3])
        self._sequence = (self._sequence + 1) & 0xFF
        return self._take(int.from_bytes(header[:3], "little"))

    def _out_of_order(self, message: str, sequence: int) -> ConnectionLost | Malformed:
        """MariaDB numbers the packet 0 in which it says that it shuts down or was told to end the connection."""
        if sequence == 0:
            return ConnectionLost("the server ended the connection", self._place)
        return Malformed(message, self._place)

    def _take(self, length: int) -> bytes:
        start = self._offset
        stop = start + length
        if stop <= len(self._buffer):
            self._offset = stop
            return self._buffer[start:stop]
        return self._receive(length)

    def _receive(self, length: int) -> bytes:
        """Take what is buffered and the rest from the socket; memory grows with what has come, not with `length`."""
        parts = [self._buffer[self._offset :]]
        missing = length - len(parts[0])
        while missing > 0:
            chunk = self._chunk()
            parts.append(chunk)
            missing -= len(chunk)
        last = parts[-1]
        self._buffer, self._offset = last, len(last) + missing
        parts[-1] = last[: self._offset]
        return b"".join(parts)

    def _chunk(self) -> bytes:
        try:
            chunk = self._socket.recv(_CHUNK)
        except TimeoutError:
            message = f"nothing came for {self._seconds:g} seconds, not even a heartbeat"
            raise ConnectionLost(message, self._place) from None
        except OSError as error:
            raise self._lost(error) from None
        if not chunk:
            raise ConnectionLost("the server closed the connection", self._place)
        return chunk

    def _lost(self, error: OSError) -> ConnectionLost:
        return ConnectionLost(f"the connection broke: {error}", self._place)
