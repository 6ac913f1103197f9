"""The options of watching a program while it runs."""

from __future__ import annotations

from binspark.options import values
from binspark.options.option import Option, Surface

_COMMAND_LINE = frozenset({Surface.COMMAND_LINE})

METRICS_OPTIONS = (
    Option(
        name="metrics_port", parse=values.integer_in(0, 65535), metavar="NUMBER", default="no metrics",
        help="Serve metrics for Prometheus at this port, under /metrics, and a health check under /healthz; 0 for any "
        "port that is free. Needs binspark[metrics].",
    ),
    Option(
        name="metrics_host", parse=values.text, metavar="ADDRESS", default="127.0.0.1",
        help="The address to serve metrics at. Any but a loopback address can be read by other machines, without a "
        "password.",
    ),
)  # fmt: skip

STATUS_OPTIONS = (
    Option(
        name="max_lag", parse=values.time_span, metavar="TIME", surfaces=_COMMAND_LINE, default="no limit",
        help="The lag that is still healthy: 30s, 5m, 1h.",
    ),
    Option(
        name="timeout", parse=values.seconds, metavar="SECONDS", surfaces=_COMMAND_LINE, default="5",
        help="How long to wait for the answer.",
    ),
)  # fmt: skip
