"""The peak memory of Spark's Python workers."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.memory import peak_bytes


def worker_peak_bytes() -> int:
    """Return the largest peak of all Python workers that descend from this process; 0 where /proc does not have it."""
    peaks = [peak_bytes(process) or 0 for process in _descendants(os.getpid()) if _is_worker(process)]
    return max(peaks, default=0)


def _descendants(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            process = int(path.parent.name)
            found += [process, *_descendants(process)]
    return found


def _is_worker(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
    return b"pyspark.daemon" in command or b"pyspark.worker" in command
