"""The web server of the explorer: on this machine only, at an address that has a random token."""

from __future__ import annotations

import secrets
import socket
import threading

import uvicorn

from binspark.errors import OptionError
from binspark.explore.app import make_app
from binspark.explore.explorer import Explorer
from binspark.os_errors import describe_os_error

_LOOPBACK = "127.0.0.1"
_TOKEN_BYTES = 24
_MAX_HEAD_BYTES = 1 << 14


class WebServer:
    """Serves an explorer, from `run` until `stop`.

    address   what a browser opens
    """

    def __init__(self, explorer: Explorer, port: int = 0) -> None:
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._explorer = explorer
        self._socket = _listen(port)
        config = uvicorn.Config(
            make_app(explorer, self._token),
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        )
        self._server = uvicorn.Server(config)
        self.port: int = self._socket.getsockname()[1]

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"http://{_LOOPBACK}:{self.port}/?token={self._token}"

    def run(self) -> None:
        """Serve until `stop` is called."""
        self._explorer.start()
        try:
            # Uvicorn takes signals over only in the main thread, and gives them back with their effects.
            worker = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, name="binspark-web")
            worker.start()
            worker.join()
        finally:
            self._explorer.stop()
            self._socket.close()

    def stop(self) -> None:
        """End serving, from a signal or any thread."""
        self._server.should_exit = True


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
        listener.listen()  # a browser that is faster than the server waits for it
    except OSError as error:
        listener.close()
        raise OptionError(f"cannot listen on port {port}: {describe_os_error(error)}", option="web_port") from None
    return listener
