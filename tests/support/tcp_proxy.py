"""A TCP proxy on loopback that breaks in the ways that networks break."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_CHUNK = 1 << 16
LOOPBACK = "127.0.0.1"


class TcpProxy:
    """Forwards connections to a port. What it does to them can be changed at any time.

    budgets    each new connection takes the next of these, and is cut after this number of bytes from the server
    refusing   new connections are closed at once
    replies    each of these goes to the client instead of the next bytes that the server sends; None lets them through
    sent       all bytes that clients sent
    """

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        self.budgets: list[int] = []
        self.refusing = False
        self.replies: list[bytes | None] = []
        self.sent = bytearray()
        self.accepted = 0
        self._left: int | None = None
        self._flowing = threading.Event()
        self._flowing.set()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def cut(self) -> None:
        """Close every connection now."""
        _shut(*self._sockets)

    def end_after(self, count: int) -> None:
        """Pass on this number of bytes from the server, then cut every connection and refuse new ones."""
        self._left = count

    def stall(self) -> None:
        """Bring nothing more from the server, but keep the connections: what a half-open connection looks like."""
        self._flowing.clear()

    def flow(self) -> None:
        """End a stall."""
        self._flowing.set()

    def close(self) -> None:
        self.refusing = True
        self.flow()
        _shut(self._listener)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(10)
        for each in self._sockets:
            each.close()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                server = socket.create_connection((LOOPBACK, self.target_port), 10)
            except OSError:
                client.close()
                continue
            if self.refusing:
                client.close()
                server.close()
                continue
            self._sockets += [client, server]
            self._start(self._upstream, client, server)
            self._start(self._downstream, server, client, self.budgets.pop(0) if self.budgets else None)

    def _upstream(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while chunk := client.recv(_CHUNK):
                self.sent += chunk
                server.sendall(chunk)
        _shut(client, server)

    def _downstream(self, server: socket.socket, client: socket.socket, budget: int | None) -> None:
        with suppress(OSError):
            while chunk := server.recv(_CHUNK):
                self._flowing.wait()
                if self.replies:
                    chunk = self.replies.pop(0) or chunk
                allowed = chunk[:budget][: self._left]
                client.sendall(allowed)
                budget = None if budget is None else budget - len(allowed)
                self._left = None if self._left is None else self._left - len(allowed)
                if 0 in (budget, self._left):
                    self.refusing = self.refusing or self._left == 0
                    break
        _shut(client, server)


def _shut(*sockets: socket.socket) -> None:
    """End connections in a way that threads which wait for them notice."""
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(target_port: int) -> Iterator[TcpProxy]:
    """Run a proxy in front of a port."""
    proxy = TcpProxy(target_port)
    try:
        yield proxy
    finally:
        proxy.close()
