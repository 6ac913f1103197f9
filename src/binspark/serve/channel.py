"""The socket of a client: packets in, packets out, encrypted or not."""

from __future__ import annotations

import select
import socket
import ssl
from contextlib import suppress

from binspark.errors import ConnectionLost, Malformed
from binspark.position import Position
from binspark.replication.channel import MAX_PAYLOAD, PACKET_HEADER

_MAX_COMMAND = 1 << 24
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

    def read(self) -> bytes:
        """Return the next packet's payload; `ConnectionLost` if the client is gone."""
        header = self._exactly(PACKET_HEADER)
        length = int.from_bytes(header[:3], "little")
        if length >= _MAX_COMMAND - 1:
            raise Malformed(f"a command of {length} bytes or more", Position(source=self.client))
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

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Continue with TLS."""
        try:
            self._socket = context.wrap_socket(self._socket, server_side=True)
        except OSError as error:
            raise self._lost(error) from None
        self.is_encrypted = True

    def set_timeout(self, seconds: float | None) -> None:
        """Limit how long reading and writing may wait."""
        with suppress(OSError):
            self._socket.settimeout(seconds)

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
                chunk = self._socket.recv(min(_READ_CHUNK, length - len(data)))
            except OSError as error:
                raise self._lost(error) from None
            if not chunk:
                raise ConnectionLost("the client closed the connection", Position(source=self.client))
            data += chunk
        return bytes(data)

    def _lost(self, error: Exception) -> ConnectionLost:
        return ConnectionLost(f"the connection ended: {error}", Position(source=self.client))
