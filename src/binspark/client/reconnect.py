"""Connecting again after a connection was lost: to which server, when, and how often."""

from __future__ import annotations

import logging
import threading

from binspark.client.connect import Connection, connect
from binspark.client.options import ConnectionOptions
from binspark.client.settings import Retry
from binspark.errors import ConnectionLost

log = logging.getLogger("binspark.client")


class Reconnector:
    """Connects to the servers in turn, beginning with the one that was reached last."""

    def __init__(self, options: ConnectionOptions, retry: Retry) -> None:
        self._options = options
        self._retry = retry
        self._index = 0
        self._failures = 0
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def connect(self) -> Connection:
        """Connect to the server whose turn it is."""
        addresses = self._options.addresses
        return connect(self._options.only(addresses[self._index % len(addresses)]))

    def progressed(self) -> None:
        """Say that the connection was of use: failures are counted anew."""
        self._failures = 0

    def failed(self, error: ConnectionLost) -> None:
        """Wait until it is time to connect again; raise where it has failed too often."""
        self._failures += 1
        if self._retry.limit is not None and self._failures > self._retry.limit:
            attempts = f"{self._failures} attempts in a row failed, the last one so: {error.message}"
            raise ConnectionLost(attempts, error.position) from None
        servers = len(self._options.addresses)
        self._index += 1
        delay = 0.0 if self._failures % servers else self._retry.delay(self._failures // servers)
        log.warning("%s; connecting again in %.1f s (attempt %d)", error, delay, self._failures)
        self._stop.wait(delay)

    def stop(self) -> None:
        """Connect no more, and do not wait any longer."""
        self._stop.set()
