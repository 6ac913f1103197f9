"""Connecting again after a connection was lost: to which server, when, and how often."""

from __future__ import annotations

import logging
import random
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from binspark.errors import ConnectionLost, OptionError
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect

Answer = TypeVar("Answer")

log = logging.getLogger("binspark.server")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often to connect again. Delays double from the first to the maximum, less a random part.

    limit          failures in a row, without any progress between them; None for no limit
    first_seconds  the delay after the first failure, once every server was tried
    max_seconds    the longest delay
    """

    limit: int | None = 10
    first_seconds: float = 0.5
    max_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise OptionError(f"must be 0 or more, got {self.limit}", option="limit")
        if not 0 <= self.first_seconds <= self.max_seconds:
            expected = f"must be from 0 to max_seconds ({self.max_seconds})"
            raise OptionError(f"{expected}, got {self.first_seconds}", option="first_seconds")

    def delay(self, round_number: int) -> float:
        """Return how long to wait after a round of failures; the first is 1. Readers of one server spread out."""
        longest = min(self.max_seconds, self.first_seconds * 2.0 ** min(round_number - 1, 60))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)


class Reconnector:
    """Connects to the servers in turn, beginning with the last one that made progress.

    A connection that is open already can be given as the first: making one costs a handshake, and TLS costs more.
    """

    def __init__(self, config: ConnectionConfig, retry: Retry, first: Connection | None = None) -> None:
        self._config = config
        self._retry = retry
        self._first = first
        self._last_good = 0
        self._failures = 0
        self._reasons: deque[str] = deque(maxlen=len(config.addresses))
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def connect(self) -> Connection:
        """Connect to the server whose turn it is."""
        first, self._first = self._first, None
        return first or connect(self._config.only(self._config.addresses[self._turn]))

    def progressed(self) -> None:
        """Report progress over the connection: it comes first the next time, and failures are counted from 0 again."""
        self._last_good, self._failures = self._turn, 0

    def failed(self, error: ConnectionLost) -> None:
        """Wait until it is time to connect again; raise if it has failed too often."""
        self._failures += 1
        self._reasons.append(str(error))
        if self._retry.limit is not None and self._failures > self._retry.limit:
            reasons = "; ".join(dict.fromkeys(self._reasons))
            attempts = "attempt" if self._failures == 1 else "attempts"
            raise ConnectionLost(f"giving up after {self._failures} {attempts}; last error: {reasons}") from None
        delay = self._delay()
        log.warning("%s; connecting again in %.1f s (attempt %d)", error, delay, self._failures)
        self._stop.wait(delay)

    def stop(self) -> None:
        """Connect no more, and end a wait."""
        self._stop.set()

    @property
    def _turn(self) -> int:
        return (self._last_good + max(self._failures - 1, 0)) % len(self._config.addresses)

    def _delay(self) -> float:
        """If there are several servers, try each at once; wait before each further round."""
        servers = len(self._config.addresses)
        rounds, tried = divmod(self._failures - 1, servers)
        if tried or (servers > 1 and rounds == 0):
            return 0.0
        return self._retry.delay(rounds + (servers == 1))


class RetryingConnection:
    """Runs queries over a connection that is kept, and made again if it was lost. Used by one thread at a time."""

    def __init__(self, config: ConnectionConfig, retry: Retry | None = None) -> None:
        self._reconnector = Reconnector(config, retry or Retry())
        self._connection: Connection | None = None

    def run(self, query: Callable[[Connection], Answer]) -> Answer:
        """Return the answer of a query, which may be run several times until there is one."""
        while True:
            try:
                if self._connection is None:
                    self._connection = self._reconnector.connect()
                answer = query(self._connection)
            except ConnectionLost as error:
                self.close()
                self._reconnector.failed(error)
            else:
                self._reconnector.progressed()
                return answer

    def close(self) -> None:
        """End the connection; the next query makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
