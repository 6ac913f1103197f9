"""How far a reader lags behind its server, also while the server does not say it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import NamedTuple

from binspark.errors import SourceError
from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.info import ServerLog, bytes_after, server_logs

_CONNECT_SECONDS = 2.0
_KEEP_SECONDS = 1.0
_VALID_SECONDS = 10.0


class LagClock:
    """The lag in seconds, as it was observed last. While it is not known, it grows with the time that passes.

    What a reader had at a moment is all of the log up to the moment minus the lag: it cannot have more later without
    reading more.
    """

    def __init__(self) -> None:
        self._observed_at = self._complete_until = 0.0
        self._seconds: float | None = None

    def observe(self, seconds: float | None) -> None:
        """Note the lag; None if the source does not say it."""
        self._seconds = seconds
        if seconds is not None:
            self._observed_at = time.time()
            self._complete_until = self._observed_at - seconds

    @property
    def seconds(self) -> float | None:
        """The lag now; None if it was never known."""
        if not self._observed_at:
            return None
        now = time.time()
        is_valid = self._seconds is not None and now - self._observed_at < _VALID_SECONDS
        return self._seconds if is_valid else max(0.0, now - self._complete_until)


class Lag(NamedTuple):
    """How far a reader lags: what the server has written after it, and how old that is; None if it is not known."""

    bytes: int | None
    seconds: float | None


class LagMeter:
    """Measures how far a reader lags behind the server that an activity is about. It may be used by any thread."""

    def __init__(self, config: ConnectionConfig, activity: Activity) -> None:
        self._config = replace(config, connect_timeout=min(config.connect_timeout, _CONNECT_SECONDS))
        self._activity = activity
        self._clock = LagClock()
        self._lock = threading.Lock()
        self._asked: tuple[float, tuple[ServerLog, ...] | None] = (0.0, None)

    def measure(self, position: BinlogPosition | None, event_time: int) -> Lag:
        """Return the lag of a reader at a position, whose last event has this time, in seconds since 1970."""
        with self._lock:
            logs = None if position is None or not position.file else self._logs()
            lag_bytes = None
            if logs is not None and position is not None:
                lag_bytes = bytes_after(logs, position.file, position.offset)
            self._clock.observe(_age(lag_bytes, event_time))
            return Lag(lag_bytes, self._clock.seconds)

    def _logs(self) -> tuple[ServerLog, ...] | None:
        """Return the server's logs as of a moment ago at most; None if it is not connected, or does not answer."""
        if not self._activity.is_connected:
            return None
        asked_at, logs = self._asked
        if time.monotonic() - asked_at > _KEEP_SECONDS:
            logs = self._ask()
            self._asked = (time.monotonic(), logs)
        return logs

    def _ask(self) -> tuple[ServerLog, ...] | None:
        read = [address for address in self._config.addresses if str(address) == self._activity.address]
        try:
            with connect(self._config.only(read[0]) if read else self._config) as connection:
                return server_logs(connection)
        except SourceError:
            return None


def _age(lag_bytes: int | None, event_time: int) -> float | None:
    """Return how old the last event is, unless it is the last that the server has; None if that is not known."""
    if lag_bytes is None or (lag_bytes and not event_time):
        return None
    return max(0.0, time.time() - event_time) if lag_bytes else 0.0
