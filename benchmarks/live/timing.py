"""How long a program takes from its start to its end, and how much of that the processor was at work for it."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from benchmarks.decode.logs import bench_folder

REPEATS = 3


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from start to end, and seconds of all processors, the user's and the system's."""

    seconds: float
    cpu_seconds: float

    def __sub__(self, other: Timing) -> Timing:
        return Timing(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)


def timed(command: Sequence[str], output: IO[bytes] | int = subprocess.DEVNULL) -> Timing:
    """Run a program to its end."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=output, stderr=subprocess.DEVNULL, env=_environment())
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Timing(seconds, cpu_seconds)


def best(run: Callable[[], Timing]) -> Timing:
    """Run once without counting, for what is compiled or read the first time; return the best of some more runs."""
    run()
    timings = [run() for _ in range(REPEATS)]
    return Timing(min(one.seconds for one in timings), min(one.cpu_seconds for one in timings))


def _environment() -> dict[str, str]:
    """Let Python keep modules compiled, as it does for what is installed, and print as it does for everybody."""
    own = {"PYTHONPYCACHEPREFIX": str(bench_folder() / "bytecode")}
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    return {name: value for name, value in os.environ.items() if name not in left_out} | own
