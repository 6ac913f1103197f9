"""The status of a follower that Python code iterates over."""

from __future__ import annotations

from contextlib import AbstractContextManager

from binspark.monitoring.lag import LagMeter
from binspark.monitoring.reporter import OnStatus, monitored
from binspark.monitoring.settings import MetricsSettings
from binspark.monitoring.status import Status, status_of
from binspark.replication.follow import Follower
from binspark.server.config import ConnectionConfig

_COMMAND = "follow"
_DEFAULT_SECONDS = 10.0


def watching(
    follower: Follower,
    config: ConnectionConfig,
    metrics: MetricsSettings | None,
    on_status: OnStatus | None = None,
    every_seconds: float | None = None,
) -> AbstractContextManager[None]:
    """Return what serves the metrics of a follower and reports its status, as far as either is wanted."""
    meter = LagMeter(config, follower.activity)

    def status() -> Status:
        position, activity = follower.position, follower.activity
        lag = meter.measure(position, activity.event_time)
        return status_of(_COMMAND, activity, position, lag_bytes=lag.bytes, lag_seconds=lag.seconds)

    seconds = _DEFAULT_SECONDS if every_seconds is None else every_seconds
    return monitored(status, metrics, on_status, seconds, follower.stop)
