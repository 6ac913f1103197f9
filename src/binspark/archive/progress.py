"""How fast a copy is, and how far behind the server."""

from __future__ import annotations

import time
from dataclasses import dataclass

from binspark.client.connect import connect
from binspark.client.facts import ServerLog, server_logs
from binspark.client.options import ConnectionOptions
from binspark.errors import SourceError
from binspark.files.sources import log_order


@dataclass(frozen=True, slots=True)
class Report:
    """How a copy is getting on.

    file, offset  where it is
    bytes         what was copied since it was started
    rate          bytes a second, since the last report or as a whole
    lag_bytes     what the server has and the copy has not; None if the server does not tell
    lag_seconds   how old the last event is, 0 if there is none behind it; None if nothing is known
    """

    file: str
    offset: int
    bytes: int
    rate: float
    lag_bytes: int | None
    lag_seconds: float | None


class Meter:
    """Counts what is copied, and reports every so many seconds."""

    def __init__(self, connection: ConnectionOptions, every_seconds: float) -> None:
        self._connection = connection
        self._every_seconds = every_seconds
        self._bytes = self._reported_bytes = 0
        self._began = self._reported = time.monotonic()
        self._place = ("", 0)
        self._event_time = 0

    def copied(self, file: str, end: int, count: int, event_time: int) -> None:
        """Count bytes that were copied."""
        self._bytes += count
        self._place = (file, end)
        self._event_time = event_time or self._event_time

    @property
    def is_due(self) -> bool:
        return self._every_seconds > 0 and time.monotonic() - self._reported >= self._every_seconds

    def report(self) -> Report:
        """Return how the copy is getting on, and begin to measure anew."""
        now = time.monotonic()
        rate = (self._bytes - self._reported_bytes) / max(now - self._reported, 1e-6)
        self._reported, self._reported_bytes = now, self._bytes
        lag_bytes = self._lag_bytes()
        return Report(*self._place, self._bytes, rate, lag_bytes, self._lag_seconds(lag_bytes))

    def summary(self) -> Report:
        """Return how the copy went as a whole. Nobody is asked for anything."""
        return Report(*self._place, self._bytes, self._bytes / max(time.monotonic() - self._began, 1e-6), None, None)

    def _lag_bytes(self) -> int | None:
        try:
            with connect(self._connection) as connection:
                return bytes_behind(server_logs(connection), *self._place)
        except SourceError:
            return None

    def _lag_seconds(self, lag_bytes: int | None) -> float | None:
        if lag_bytes == 0:
            return 0.0
        return max(0.0, time.time() - self._event_time) if self._event_time else None


def bytes_behind(logs: tuple[ServerLog, ...], file: str, offset: int) -> int:
    """Return how many bytes of a server's logs are behind a place."""
    later = [log for log in logs if log_order(log.name) >= log_order(file)]
    here = offset if later and later[0].name == file else 0
    return max(0, sum(log.size for log in later) - here)
