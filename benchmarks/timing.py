"""How long a function takes, and where programs that are measured run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from benchmarks.decode.logs import bench_folder


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


def program_environment() -> dict[str, str]:
    """Let Python cache compiled modules, as for installed packages, and buffer its output, as for users."""
    own = {"PYTHONPYCACHEPREFIX": str(bench_folder() / "bytecode")}
    unset = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    return {name: value for name, value in os.environ.items() if name not in unset} | own
