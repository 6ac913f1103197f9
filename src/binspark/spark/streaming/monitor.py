"""The metrics of a streaming query: served by the process of Spark's driver that follows the source."""

from __future__ import annotations

import time

from binspark.errors import OptionError
from binspark.monitoring.endpoint import MetricsEndpoint
from binspark.monitoring.lag import LagClock
from binspark.monitoring.settings import MetricsSettings
from binspark.monitoring.status import Status, status_of
from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition
from binspark.spark.streaming.reported import Reported

_COMMAND = "stream"
_FREE_SECONDS = 10.0
_TRY_SECONDS = 0.2


class StreamMonitor:
    """Serves the metrics of a stream until it is closed."""

    def __init__(self, settings: MetricsSettings, activity: Activity | None) -> None:
        """Begin to serve; `activity` counts what is read of a server, None for logs."""
        self._activity = activity
        self._clock = LagClock()
        self._position: BinlogPosition | None = None
        self._reported: Reported | None = None
        self._endpoint = _open(self, settings)

    def planned(self, position: BinlogPosition) -> None:
        """Note where the batch ends that was planned last."""
        self._position = position

    def observe(self, reported: Reported | None) -> None:
        """Note what the source has reported."""
        self._reported = reported
        self._clock.observe(None if reported is None else reported.lag_seconds)

    def status(self) -> Status:
        """Return how far the stream is."""
        lag_bytes = None if self._reported is None else self._reported.lag_bytes
        return status_of(_COMMAND, self._activity, self._position, lag_bytes=lag_bytes, lag_seconds=self._clock.seconds)

    def close(self) -> None:
        """Serve no more."""
        self._endpoint.close()


def _open(monitor: StreamMonitor, settings: MetricsSettings) -> MetricsEndpoint:
    """Listen. After a query was started again, the process of its last run may still have the port for a moment."""
    end = time.monotonic() + _FREE_SECONDS
    while True:
        try:
            return MetricsEndpoint(monitor.status, settings)
        except OptionError as error:
            if time.monotonic() > end or "prometheus" in error.problem:
                raise error.spelled("metricsPort") from None
            time.sleep(_TRY_SECONDS)
