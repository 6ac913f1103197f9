"""Where metrics are served: values only."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.errors import OptionError

DEFAULT_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where metrics are served: a port, 0 for any that is free, and the address to listen on."""

    port: int
    host: str = DEFAULT_HOST


def metrics_settings(port: int | None, host: str | None) -> MetricsSettings | None:
    """Return where metrics are served by the options for it; None if nowhere."""
    if port is None:
        if host is not None:
            raise OptionError("is only valid with a port for metrics", option="metrics_host")
        return None
    return MetricsSettings(port, host or DEFAULT_HOST)
