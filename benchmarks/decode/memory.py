"""`python -m benchmarks.decode.memory LOG…`: decode logs; print the number of rows and the peak memory.

It has its own process, because the peak is measured since the start of a process. On Linux that is `VmHWM`:
`getrusage` would also count the memory of the parent at the time of the fork.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import binspark
from benchmarks.decode.logs import bench_folder, get_log
from benchmarks.memory import peak_bytes
from benchmarks.workloads import BULK, FAST_SERVER, Workload, one_transaction
from binspark.testing.servers import MySQL, start

GOAL_MEGABYTES = 400
_FREE_BYTES = 20 << 30


def measure_both() -> None:
    """Write 4 GB of logs and then one transaction of 2 GB; print the peak memory of reading each; delete them."""
    bench_folder().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(bench_folder()).free
    if free < _FREE_BYTES:
        print(f"memory: skipped, {free >> 30} GB of disk are free, {_FREE_BYTES >> 30} GB are needed")
        return
    small = get_log(BULK, 20).path
    _read_in_child([small])  # compiles kernels that are not in the cache, which takes memory in this process only
    _report("a small log", [small])
    _write_and_report("a log of 4 GB, in files of 1 GB", BULK, BULK.turns(4000))
    _write_and_report("one transaction of 2 GB", one_transaction(2000), 1)


def _write_and_report(what: str, workload: Workload, turns: int) -> None:
    with tempfile.TemporaryDirectory(dir=bench_folder()) as folder:
        with start(MySQL, FAST_SERVER) as server:
            logs = [Path(shutil.copy(log, folder)) for log in workload.play(server, turns)]
        _report(what, logs)


def _report(what: str, logs: list[Path]) -> None:
    size = sum(log.stat().st_size for log in logs)
    rows, peak = _read_in_child(logs)
    print(f"{what}: {size / 1e9:.2f} GB, {rows:,} rows, peak memory {peak / 1e6:.0f} MB (goal {GOAL_MEGABYTES} MB)")


def _read_in_child(logs: list[Path]) -> tuple[int, int]:
    command = [sys.executable, "-m", "benchmarks.decode.memory", *map(str, logs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows, peak = map(int, done.stdout.split())
    return rows, peak


def main() -> None:
    rows = sum(item.batch.num_rows for item in binspark.batches(sys.argv[1:]))
    print(rows, peak_bytes() or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)


if __name__ == "__main__":
    main()
