"""How long a program takes from its start to its exit, and how much CPU time."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from benchmarks.timing import program_environment

REPEATS = 3


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from start to exit, and seconds of CPU time, user and system."""

    seconds: float
    cpu_seconds: float

    def __sub__(self, other: Timing) -> Timing:
        return Timing(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)


def timed(command: Sequence[str], output: IO[bytes] | int = subprocess.DEVNULL) -> Timing:
    """Measure a program."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=output, stderr=subprocess.DEVNULL, env=program_environment())
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Timing(seconds, cpu_seconds)


def best(work: Callable[[], Timing]) -> Timing:
    """Return the best of several repeats, after one that fills the caches."""
    work()
    timings = [work() for _ in range(REPEATS)]
    return Timing(min(one.seconds for one in timings), min(one.cpu_seconds for one in timings))
