"""A server that is none: it greets a client, asks for what it likes, and records all that it gets."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from binspark.serve.certificate import tls_context
from binspark.serve.protocol import (
    CACHING_SHA2,
    OFFERED,
    Capability,
    Greeting,
    encode_greeting,
    encode_more_data,
    encode_ok,
    encode_switch,
)

LOOPBACK = "127.0.0.1"
NONCE = b"twenty bytes, at lea"
FULL_LOGIN = b"\x04"


class FakeServer:
    """The server's side of one connection: `script` of `fake_server` calls its methods.

    received   all that the client sent, decrypted
    """

    def __init__(self, plugin: str, *, tls: bool, capabilities: Capability = OFFERED) -> None:
        self.received = bytearray()
        self.accepted = 0
        self._plugin = plugin
        self._capabilities = capabilities | (Capability.SSL if tls else Capability(0))
        self._tls = tls_context(None, None) if tls else None
        self._sequence = 0
        self._listener = socket.create_server((LOOPBACK, 0))
        self._client: socket.socket = self._listener
        self.port: int = self._listener.getsockname()[1]
        self.ended = threading.Event()

    def greet(self) -> None:
        """Send the greeting, use TLS if this server has it, and read the first response."""
        self.send(encode_greeting(Greeting("9.7.4", 7, NONCE, self._capabilities, self._plugin)))
        self.read()
        if self._tls is not None:
            self._client = self._tls.wrap_socket(self._client, server_side=True)
            self.read()

    def switch(self, plugin: str, data: bytes = NONCE) -> None:
        """Request a login by another plugin."""
        self.send(encode_switch(plugin, data))
        self.read()

    def ask(self, data: bytes) -> None:
        """Send what a plugin of a server sends, and read the answer."""
        self.send(encode_more_data(data))
        self.read()

    def accept_login(self) -> None:
        """Accept the client, and answer every statement with OK."""
        self.send(encode_ok())
        while self.read():
            self._sequence = 1
            self.send(encode_ok())

    def send(self, payload: bytes) -> None:
        """Send one packet."""
        self.send_raw(len(payload).to_bytes(3, "little") + bytes((self._sequence & 0xFF,)) + payload)
        self._sequence += 1

    def send_raw(self, data: bytes) -> None:
        """Send bytes."""
        self._client.sendall(data)

    def read(self) -> bytes:
        """Return the next packet of the client, empty if it is gone."""
        header = self._exactly(4)
        self._sequence = header[3] + 1 if header else 0
        return self._exactly(int.from_bytes(header[:3], "little"))

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length and (chunk := self._client.recv(length - len(data))):
            data += chunk
        self.received += data
        return data

    def serve(self, script: Callable[[FakeServer], None]) -> None:
        """Serve clients, one after the other, until the listener is closed."""
        while True:
            with suppress(OSError):
                self._client, _ = self._listener.accept()
                self._sequence = 0
                self.accepted += 1
                with suppress(OSError, ssl.SSLError, IndexError):
                    script(self)
                self._client.close()
                continue
            return

    def close(self) -> None:
        """Stop."""
        self.ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with suppress(OSError):
            self._client.shutdown(socket.SHUT_RDWR)
        self._client.close()


@contextmanager
def fake_server(
    script: Callable[[FakeServer], None], plugin: str = CACHING_SHA2, *, tls: bool = False
) -> Iterator[FakeServer]:
    """Run a server that does what a script says with each client."""
    server = FakeServer(plugin, tls=tls)
    thread = threading.Thread(target=server.serve, args=(script,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(10)
