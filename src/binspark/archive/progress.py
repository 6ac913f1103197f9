"""How fast a copy is, and how far it lags behind the server."""

from __future__ import annotations

import time
from dataclasses import dataclass

from binspark.errors import SourceError
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.info import bytes_after, server_logs


@dataclass(frozen=True, slots=True)
class Report:
    """The progress of a copy.

    file, offset  how far it has come
    bytes         what was copied since it was started
    rate          bytes a second, since the last report or in all
    lag_bytes     what the server has and the copy has not; None if the server does not say
    lag_seconds   how old the last event is, 0 if it is the server's last; None if nothing is known
    """

    file: str
    offset: int
    bytes: int
    rate: float
    lag_bytes: int | None
    lag_seconds: float | None


class ProgressMeter:
    """Counts what is copied, and reports it regularly."""

    def __init__(self, config: ConnectionConfig, every_seconds: float) -> None:
        self._config = config
        self._every_seconds = every_seconds
        self._bytes = self._reported_bytes = 0
        self._began = self._reported = time.monotonic()
        self._copied_to = ("", 0)
        self._event_time = 0

    def copied(self, file: str, end: int, count: int, event_time: int) -> None:
        """Count bytes that were copied."""
        self._bytes += count
        self._copied_to = (file, end)
        self._event_time = event_time or self._event_time

    @property
    def is_due(self) -> bool:
        """Whether it is time for a report."""
        return self._every_seconds > 0 and time.monotonic() - self._reported >= self._every_seconds

    def report(self) -> Report:
        """Return the progress since the last report. This queries the server for its logs."""
        now = time.monotonic()
        rate = (self._bytes - self._reported_bytes) / max(now - self._reported, 1e-6)
        self._reported, self._reported_bytes = now, self._bytes
        lag_bytes = self._lag_bytes()
        return Report(*self._copied_to, self._bytes, rate, lag_bytes, self._lag_seconds(lag_bytes))

    def summary(self) -> Report:
        """Return the progress since the beginning. This does not query the server."""
        rate = self._bytes / max(time.monotonic() - self._began, 1e-6)
        return Report(*self._copied_to, self._bytes, rate, None, None)

    def _lag_bytes(self) -> int | None:
        try:
            with connect(self._config) as connection:
                return bytes_after(server_logs(connection), *self._copied_to)
        except SourceError:
            return None

    def _lag_seconds(self, lag_bytes: int | None) -> float | None:
        if lag_bytes == 0:
            return 0.0
        return max(0.0, time.time() - self._event_time) if self._event_time else None
