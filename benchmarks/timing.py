"""How long a function takes."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(work: Callable[[], object], repeats: int, max_seconds: float = float("inf")) -> float:
    """Return the shortest time of several calls; no further call begins after `max_seconds`."""
    best, start = float("inf"), time.perf_counter()
    for _ in range(repeats):
        before = time.perf_counter()
        work()
        after = time.perf_counter()
        best = min(best, after - before)
        if after - start > max_seconds:
            break
    return best
