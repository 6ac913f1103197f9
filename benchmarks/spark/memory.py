"""The most memory that a Python worker of Spark took."""

from __future__ import annotations

import os
import re
from pathlib import Path


def worker_peak_bytes() -> int:
    """Return the most memory of any process below this one that runs Python; 0 where /proc does not tell."""
    peaks = [_peak(process) for process in _below(os.getpid()) if _is_worker(process)]
    return max(peaks, default=0)


def _below(parent: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            process = int(path.parent.name)
            found += [process, *_below(process)]
    return found


def _is_worker(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
    return b"pyspark.daemon" in command or b"pyspark.worker" in command


def _peak(process: int) -> int:
    try:
        match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(match[1]) << 10 if match else 0
