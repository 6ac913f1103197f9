"""Connecting again after a connection was lost: to which server, when, and how often."""

from __future__ import annotations

import logging
import threading
from collections import deque

from binspark.client.connect import Connection, connect
from binspark.client.options import ConnectionOptions
from binspark.client.settings import Retry
from binspark.errors import ConnectionLost

log = logging.getLogger("binspark.client")


class Reconnector:
    """Connects to the servers in turn, beginning with the one that was of use last."""

    def __init__(self, options: ConnectionOptions, retry: Retry) -> None:
        self._options = options
        self._retry = retry
        self._last_good = 0
        self._failures = 0
        self._reasons: deque[str] = deque(maxlen=len(options.addresses))
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def connect(self) -> Connection:
        """Connect to the server whose turn it is."""
        return connect(self._options.only(self._options.addresses[self._turn]))

    def progressed(self) -> None:
        """Say that the connection was of use: it comes first the next time, and failures are counted anew."""
        self._last_good, self._failures = self._turn, 0

    def failed(self, error: ConnectionLost) -> None:
        """Wait until it is time to connect again; raise where it has failed too often."""
        self._failures += 1
        self._reasons.append(str(error))
        if self._retry.limit is not None and self._failures > self._retry.limit:
            reasons = "; ".join(dict.fromkeys(self._reasons))
            raise ConnectionLost(f"{self._failures} attempts in a row failed, the last so: {reasons}") from None
        delay = self._delay()
        log.warning("%s; connecting again in %.1f s (attempt %d)", error, delay, self._failures)
        self._stop.wait(delay)

    def stop(self) -> None:
        """Connect no more, and do not wait any longer."""
        self._stop.set()

    @property
    def _turn(self) -> int:
        return (self._last_good + max(self._failures - 1, 0)) % len(self._options.addresses)

    def _delay(self) -> float:
        """Where there are several servers, try each at once; wait before each further round."""
        servers = len(self._options.addresses)
        rounds, tried = divmod(self._failures - 1, servers)
        if tried or (servers > 1 and rounds == 0):
            return 0.0
        return self._retry.delay(rounds + (servers == 1))
