"""Whether a program does its work, by its status."""

from __future__ import annotations

from binspark.monitoring.status import Status


def find_problem(status: Status, max_lag_seconds: float | None = None) -> str | None:
    """Return what is wrong with a program; None if it does its work.

    It does not if it has lost its source or, with a limit, if it lags too far behind it, or its lag is not known.
    """
    if status.connected is False:
        return f"not connected: {status.error}" if status.error else "not connected"
    if max_lag_seconds is None:
        return None
    if status.lag_seconds is None:
        return "the lag is not known"
    if status.lag_seconds > max_lag_seconds:
        return f"lag is {status.lag_seconds:.0f} s, expected at most {max_lag_seconds:.0f} s"
    return None
