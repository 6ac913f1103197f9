"""How much was copied, and how far the copy lags behind the server."""

from __future__ import annotations

import time
from dataclasses import replace

from binspark.monitoring.lag import LagMeter
from binspark.monitoring.status import Status, status_of
from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition
from binspark.server.config import ConnectionConfig

_COMMAND = "archive"


class ProgressMeter:
    """Counts what is copied. Other threads may ask for the status.

    activity   counts what the server sends
    """

    def __init__(self, config: ConnectionConfig) -> None:
        self.activity = Activity()
        self._lag = LagMeter(config, self.activity)
        self._bytes = 0
        self._began = time.monotonic()
        self._copied_to: BinlogPosition | None = None
        self._event_time = 0

    def copied(self, file: str, end: int, count: int, event_time: int) -> None:
        """Count bytes that were copied."""
        self._bytes += count
        self._copied_to = BinlogPosition(file, end)
        self._event_time = event_time or self._event_time

    def status(self) -> Status:
        """Return how far the copy is. This queries the server for its logs, at most once a second."""
        copied_to = self._copied_to
        lag = self._lag.measure(copied_to, self._event_time)
        return replace(self._status(copied_to), lag_bytes=lag.bytes, lag_seconds=lag.seconds)

    def summary(self) -> Status:
        """Return the last status, with the rate since the beginning. This does not query the server."""
        rate = self._bytes / max(time.monotonic() - self._began, 1e-6)
        return replace(self._status(self._copied_to), bytes_per_second=rate, ended=True)

    def _status(self, copied_to: BinlogPosition | None) -> Status:
        return status_of(_COMMAND, self.activity, copied_to, bytes=self._bytes)
