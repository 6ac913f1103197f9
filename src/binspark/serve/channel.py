"""The socket of a client: packets in, packets out, encrypted or not."""

from __future__ import annotations

import select
import socket
import ssl
import time
from contextlib import suppress

from binspark.errors import ConnectionLost, Malformed
from binspark.position import Position
from binspark.replication.channel import MAX_PAYLOAD, PACKET_HEADER

_MAX_COMMAND = 1 << 24
_MAX_LOGIN = 1 << 16
_READ_CHUNK = 1 << 16


class ClientChannel:
    """Reads and writes packets, each with its number. What a client sends is small, and never read in advance.

    sent_bytes   how much was sent
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        host, port, *_ = connected.getpeername()
        self.host = str(host)
        self.client = f"{host}:{port}"
        self.sequence = 0
        self.is_encrypted = False
        self.sent_bytes = 0
        self._login_ends: float | None = None

    def begin_login(self, seconds: float) -> None:
        """Limit what follows: to packets of 64 KiB, and to this time for all of them together."""
        self._login_ends = time.monotonic() + seconds

    def end_login(self) -> None:
        """End the limits of a login."""
        self._login_ends = None
        with suppress(OSError):
            self._socket.settimeout(None)

    def read(self) -> bytes:
        """Return the next packet's payload; `ConnectionLost` if the client is gone."""
        header = self._exactly(PACKET_HEADER)
        length = int.from_bytes(header[:3], "little")
        limit = _MAX_COMMAND - 1 if self._login_ends is None else _MAX_LOGIN + 1
        if length >= limit:
            what = "command" if self._login_ends is None else "login"
            raise Malformed(f"a {what} of {length} bytes or more", Position(source=self.client))
        self.sequence = header[3] + 1 & 0xFF
        return self._exactly(length)

    def read_command(self) -> bytes:
        """Return the next command: with it, packets are numbered anew."""
        self.sequence = 0
        return self.read()

    def send(self, *payloads: bytes) -> None:
        """Send packets. A payload of 16 MB or more is continued in further packets."""
        out = bytearray()
        for payload in payloads:
            for start in range(0, len(payload) + 1, MAX_PAYLOAD):
                part = payload[start : start + MAX_PAYLOAD]
                out += self.packet_header(len(part)) + part
        self.send_bytes(out)

    def packet_header(self, length: int) -> bytes:
        """Return the header of the next packet."""
        header = length.to_bytes(3, "little") + bytes((self.sequence,))
        self.sequence = self.sequence + 1 & 0xFF
        return header

    def send_bytes(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes that are packets already. It waits as long as the client takes nothing."""
        try:
            self._limit_wait()
            self._socket.sendall(data)
        except OSError as error:
            raise self._lost(error) from None
        self.sent_bytes += len(data)

    def is_gone(self, seconds: float) -> bool:
        """Wait; return whether the client has closed the connection. What it says during a dump is not answered."""
        poll = select.poll()
        try:
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(seconds * 1000)) and not self._socket.recv(_READ_CHUNK)
        except (OSError, ValueError) as error:
            raise self._lost(error) from None

    def keep_waiting(self, seconds: float) -> None:
        """Let the client wait; `ConnectionLost` as soon as it does anything else, or was shut."""
        poll = select.poll()
        try:
            poll.register(self._socket, select.POLLIN)
            if not seconds or not poll.poll(seconds * 1000):
                return
        except (OSError, ValueError) as error:
            raise self._lost(error) from None
        raise ConnectionLost("the client does not wait for the answer to its login", Position(source=self.client))

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Continue with TLS."""
        try:
            self._limit_wait()
            self._socket = context.wrap_socket(self._socket, server_side=True)
        except OSError as error:
            raise self._lost(error) from None
        self.is_encrypted = True

    def shut(self) -> None:
        """End the connection, from any thread: a thread that reads or writes gets an error."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self.shut()
        self._socket.close()

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            try:
                self._limit_wait()
                chunk = self._socket.recv(min(_READ_CHUNK, length - len(data)))
            except OSError as error:
                raise self._lost(error) from None
            if not chunk:
                raise ConnectionLost("the client closed the connection", Position(source=self.client))
            data += chunk
        return bytes(data)

    def _limit_wait(self) -> None:
        """In a login, let the next step wait only as long as time is left."""
        if self._login_ends is not None:
            left = self._login_ends - time.monotonic()
            if left <= 0:
                raise TimeoutError("the login took too long")
            self._socket.settimeout(left)

    def _lost(self, error: Exception) -> ConnectionLost:
        return ConnectionLost(f"the connection ended: {error}", Position(source=self.client))
