"""What a reader did with a log, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


class PeerUnavailable(Exception):
    """A reader that cannot be measured here; the message says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Rows and bytes of a log, and the seconds that reading them took."""

    seconds: float
    log_bytes: int
    rows: int

    @property
    def megabytes_a_second(self) -> float:
        return self.log_bytes / self.seconds / 1e6

    @property
    def million_rows_a_second(self) -> float:
        return self.rows / self.seconds / 1e6


def best_seconds(work: Callable[[], object], passes: int = 7, patience: float = 20.0) -> float:
    """Return the shortest time of several passes; no further pass begins when patience (in seconds) is at its end."""
    best, began = float("inf"), time.perf_counter()
    for _ in range(passes):
        before = time.perf_counter()
        work()
        now = time.perf_counter()
        best = min(best, now - before)
        if now - began > patience:
            break
    return best
