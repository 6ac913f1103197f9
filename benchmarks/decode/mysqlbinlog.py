"""mysqlbinlog, which prints rows as commented SQL; its output is discarded."""

from __future__ import annotations

import subprocess
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.decode.figure import Figure
from benchmarks.decode.logs import PRINT_ROWS, Log
from benchmarks.timing import best_seconds
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs


def measure(log: Log) -> Figure:
    """Print a log a few times; the best time counts. The rows were counted when the log was written."""
    command = find_programs(MySQL).command("mysqlbinlog", *PRINT_ROWS, str(log.path))

    cpu_seconds: list[float] = []

    def work() -> None:
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = getrusage(RUSAGE_CHILDREN)
        cpu_seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    seconds = best_seconds(work, repeats=3, max_seconds=10)
    return Figure(seconds, log.size, log.rows, min(cpu_seconds))
