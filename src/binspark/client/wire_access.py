"""The one place that touches what PyMySQL does not offer: commands of one's own, packets as they come, time limits."""

from __future__ import annotations

from typing import Any


def set_read_seconds(session: Any, seconds: float) -> None:
    """Limit how long PyMySQL waits for an answer."""
    session._read_timeout = seconds
