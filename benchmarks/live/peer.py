"""`python -m benchmarks.live.peer PORT SECONDS`: python-mysql-replication decodes the first log of a server.

Prints the number of rows and the seconds, without the start of the process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from benchmarks.decode.logs import LOG_NAME, Log
from benchmarks.decode.python_replication import open_peer
from benchmarks.live.timing import REPEATS, timed
from binspark.testing.servers import Server

SECONDS = 6.0


@dataclass(frozen=True, slots=True)
class Rate:
    """Rows per second, and rows per second of CPU time."""

    rows: float
    rows_per_cpu_second: float


def peer_rate(server: Server, log: Log) -> Rate | None:
    """Return the best of several repeats; None if it is not installed, or reads no rows."""
    rates = [rate for _ in range(REPEATS) if (rate := _one_rate(server)) is not None]
    if not rates:
        return None
    if max(rate.rows for rate in rates) * SECONDS > log.rows:
        sys.exit(f"{log.workload.name}: the log is too short to measure python-mysql-replication")
    return Rate(max(rate.rows for rate in rates), max(rate.rows_per_cpu_second for rate in rates))


def _one_rate(server: Server) -> Rate | None:
    command = [sys.executable, "-m", "benchmarks.live.peer", str(server.port), str(SECONDS)]
    with tempfile.TemporaryFile() as output:
        try:
            timing = timed(command, output)
        except subprocess.CalledProcessError:
            return None
        output.seek(0)
        rows, seconds = output.read().split()[-2:]
    return Rate(int(rows) / float(seconds), int(rows) / timing.cpu_seconds) if int(rows) else None


def read(port: int, max_seconds: float) -> None:
    """Count rows for some seconds, or up to the end of the log."""
    stream = open_peer(port)
    rows, began = 0, time.perf_counter()
    for event in stream:
        rows += len(getattr(event, "rows", ()))
        if stream.log_file != LOG_NAME or time.perf_counter() - began > max_seconds:
            break
    print(rows, time.perf_counter() - began)
    stream.close()


if __name__ == "__main__":
    read(int(sys.argv[1]), float(sys.argv[2]))
